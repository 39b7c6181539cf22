#pragma once

#include <string>
#include <utility>

#include <weir/flow/operator/operator_spec.hpp>

namespace weir::flow::operators {

struct SeriesOptions {
  /// What the new column is called.
  std::string sequence = "sequence";
};

/// Rows in order of a column: an integer, a timestamp or a date. A new last column numbers them in
/// the order in which they came, from one, so that rows with the same key are told apart; the two
/// are the primary key. Numbers are never given again.
///
/// Rows of one commit come in order of their primary key, or of all their columns if there is none.
/// A row that becomes another, with the same primary key, keeps its number, also where its key
/// changes. Of rows without a primary key that are equal, the newest goes first. A row whose key is
/// null cannot be computed, so the flow's policy for such rows decides; where that is `null`, the
/// row is left out and counted.
///
/// Its numbers depend on what happened: a view that is built again numbers the rows that there are,
/// in order of the keys of what it reads.
///
/// State: an entry for each row, and one that stays.
struct Series final : OperatorSpec {
  Series(std::string key, SeriesOptions options)
      : key(std::move(key)), options(std::move(options)) {}

  std::string key;
  SeriesOptions options;

  std::string_view name() const noexcept override { return "series"; }
  void write(SpecWriter& out) const override;
  Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                         const Library& library) const override;
};

}  // namespace weir::flow::operators
