#pragma once

#include <string>
#include <utility>

#include <weir/flow/operator/operator_spec.hpp>

namespace weir::flow::operators {

/// Where the changes of a table or view enter.
struct Source final : OperatorSpec {
  Source(std::string source, data::SchemaRef schema)
      : source(std::move(source)), schema(std::move(schema)) {}

  std::string source;
  data::SchemaRef schema;

  std::string_view name() const noexcept override { return "source"; }
  void write(SpecWriter& out) const override;
  bool takes_inputs(std::size_t count) const noexcept override { return count == 0; }
  Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                         const Library& library) const override;
};

}  // namespace weir::flow::operators
