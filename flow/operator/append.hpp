#pragma once

#include <weir/flow/operator/operator_spec.hpp>

namespace weir::flow::operators {

/// All rows of two or more inputs with the same types. Columns are named as in the first; there is
/// no primary key.
struct Append final : OperatorSpec {
  std::string_view name() const noexcept override { return "append"; }
  void write(SpecWriter& out) const override;
  bool takes_inputs(std::size_t count) const noexcept override { return count >= 2; }
  Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                         const Library& library) const override;
};

}  // namespace weir::flow::operators
