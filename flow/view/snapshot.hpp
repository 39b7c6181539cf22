#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/view/relation.hpp>
#include <weir/flow/view/transaction.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/read_transaction.hpp>

namespace weir::flow::view {

/// The rows of a table or view, in order of their primary key, in batches.
///
///     auto scan = snapshot.scan(orders);
///     for (;;) {
///       WEIR_CO_TRY(rows, co_await scan.next());
///       if (rows.is_empty()) break;
///       ...
///     }
class RowScan {
 public:
  /// As many as `rows_max`; none after the last. The weight of a row says how often it is there.
  Task<Result<data::ChangeBatch>> next(std::size_t rows_max = 1024);

 private:
  friend class Snapshot;
  struct Reading;
  RowScan(Relation relation, std::shared_ptr<Reading> reading) noexcept
      : relation_(std::move(relation)), reading_(std::move(reading)) {}

  Relation relation_;
  std::shared_ptr<Reading> reading_;
};

/// Rows by the first columns of their primary key: from some values on, these included, until
/// others. What is empty is no limit.
///
///     RowRange{.from = {begin}, .until = {end}}   // of a series: its times from begin until end
struct RowRange {
  /// Those whose primary key begins with these values.
  static RowRange of(const Row& values) {
    return {.from = values, .until = values, .is_until_included = true};
  }

  Row from = {};
  Row until = {};
  /// Whether rows that begin with `until` are part of it.
  bool is_until_included = false;
};

/// Everything as of one version. Confined to one actor.
class Snapshot {
 public:
  Snapshot(storage::ReadTransaction transaction, std::shared_ptr<const internal::Catalog> catalog);

  storage::Version version() const noexcept { return transaction_->version(); }
  /// The version of the tables that views show here; commits since that touched none of them may
  /// not be counted.
  Task<Result<storage::Version>> view_position() const;
  /// By the primary key. `not_ready` if it is a view that was not live then.
  Task<Result<std::optional<Row>>> get(Relation relation, Row key);
  RowScan scan(const Relation& relation);
  /// Those in a range, in order of their primary key. `invalid_argument` if the values are not of
  /// its types.
  Result<RowScan> scan(const Relation& relation, const RowRange& range);

 private:
  std::shared_ptr<const storage::ReadTransaction> transaction_;
  std::shared_ptr<const internal::Catalog> catalog_;
};

}  // namespace weir::flow::view
