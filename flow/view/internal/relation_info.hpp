#pragma once

#include <cstdint>

#include <weir/flow/view/internal/encoded.hpp>
#include <weir/flow/view/internal/relation_entry.hpp>
#include <weir/flow/view/internal/row_format.hpp>
#include <weir/storage/space.hpp>

namespace weir::flow::view::internal {

using EncodedRows = storage::RowSpace<EncodedKey, EncodedValue>;

/// All that is needed to read and write a table or view.
struct RelationInfo {
  std::uint64_t id;
  RelationEntry entry;
  RowFormat format;
  EncodedRows rows;
};

}  // namespace weir::flow::view::internal
