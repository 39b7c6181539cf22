#pragma once

#include <cstdint>
#include <optional>

#include <weir/flow/view/internal/append_format.hpp>
#include <weir/flow/view/internal/encoded.hpp>
#include <weir/flow/view/internal/relation_entry.hpp>
#include <weir/flow/view/internal/row_format.hpp>
#include <weir/storage/space.hpp>

namespace weir::flow::view::internal {

using EncodedRows = storage::RowSpace<EncodedKey, EncodedValue>;
/// Where the state of a view's flow is, by the keys of its entries.
using FlowStateSpace = storage::StateSpace<EncodedKey, EncodedValue>;

/// All that is needed to read and write a table or view.
struct RelationInfo {
  std::uint64_t id;
  RelationEntry entry;
  RowFormat format;
  EncodedRows rows;
  std::optional<FlowStateSpace> state;  // of views
  std::optional<AppendFormat> append;   // of ring buffers and series
};

}  // namespace weir::flow::view::internal
