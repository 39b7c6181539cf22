#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/data/schema.hpp>
#include <weir/flow/view/internal/encoded.hpp>
#include <weir/flow/view/internal/relation_entry.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::view::internal {

/// What rows are that are appended to a ring buffer or series: all columns but the one that says
/// in which order they came.
struct AppendFormat {
  /// None of tables and views.
  static Result<std::optional<AppendFormat>> make(const RelationEntry& entry);

  /// The same rows with their numbers, from `first` on.
  data::Columns with_numbers(const data::ChangeBatch& rows, std::uint64_t first) const;

  data::SchemaRef schema;
  std::size_t number_column;  // which one is left out
};

/// The key of a ring buffer's row.
EncodedKey position_key(std::uint64_t position);

/// How far a ring buffer or series has come. Persisted: never change.
struct AppendTotals {
  std::uint64_t given = 0;   // the last number
  std::uint64_t rows = 0;    // of a ring buffer: how many there are
  std::uint64_t oldest = 0;  // of a ring buffer: no row has a smaller number

  static auto weir_fields(auto& self) { return std::tie(self.given, self.rows, self.oldest); }
};

}  // namespace weir::flow::view::internal
