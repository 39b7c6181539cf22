#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <weir/flow/operator/operator_spec.hpp>

namespace weir::flow::operators {

struct RingBufferOptions {
  /// What the new column is called.
  std::string position = "position";
};

/// The last `capacity` rows that came. Each has a position, from one, in a new first column that is
/// the primary key; positions are never given again. When there are more rows than `capacity`, the
/// oldest go.
///
/// Rows of one commit come in order of their primary key, or of all their columns if there is none.
/// A row that goes from the input goes from the buffer, and one that becomes another, with the same
/// primary key, keeps its position; both mean nothing for a row that was evicted. Of rows without a
/// primary key that are equal, the newest goes first.
///
/// It depends on what happened, not only on the rows that there are: a view that is built again
/// begins with those, in order of the keys of what it reads.
///
/// State: two entries for each row of the buffer, and one that stays.
struct RingBuffer final : OperatorSpec {
  RingBuffer(std::uint64_t capacity, RingBufferOptions options)
      : capacity(capacity), options(std::move(options)) {}

  std::uint64_t capacity;
  RingBufferOptions options;

  std::string_view name() const noexcept override { return "ring_buffer"; }
  void write(SpecWriter& out) const override;
  Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                         const Library& library) const override;
};

}  // namespace weir::flow::operators
