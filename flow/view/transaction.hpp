#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/data/value.hpp>
#include <weir/flow/view/relation.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/transaction.hpp>

namespace weir::flow::view {

namespace internal {
class Catalog;
struct DatabaseCore;
}  // namespace internal

using Row = std::vector<data::Value>;

/// Changes tables, ring buffers and series, all of it or nothing: a `storage::Transaction` that
/// knows rows.
///
///     auto transaction = database.begin();
///     WEIR_CO_TRY_VOID(co_await transaction.insert(orders, {1, "apples", 20}));
///     WEIR_CO_TRY(version, co_await transaction.commit());
///
/// Serializable; a table that is altered or dropped meanwhile is a conflict too. An operation that
/// fails has changed nothing, and the transaction can go on. Confined to one actor.
class Transaction {
 public:
  Transaction(storage::Transaction transaction,
              std::shared_ptr<const internal::DatabaseCore> core) noexcept;

  /// What it reads.
  storage::Version version() const noexcept { return transaction_.version(); }

  /// What it is made of, for who commits something else with it.
  storage::Transaction& base() noexcept { return transaction_; }

  /// `duplicate_key` if there is a row with that primary key.
  Task<Result<>> insert(Relation table, Row row);
  /// All of them, or none. `too_large` if they have more than `DatabaseOptions::batch_bytes_max`;
  /// so is what a transaction writes to one relation together.
  Task<Result<>> insert(Relation table, data::ChangeBatch rows);
  /// `unknown_key` if there is no row with that primary key.
  Task<Result<>> update(Relation table, Row row);
  /// Inserts, or replaces the row with that primary key.
  Task<Result<>> upsert(Relation table, Row row);
  /// To a ring buffer or series, all columns but the position or sequence, which it gives. Of a
  /// ring buffer that is full the oldest rows go in the same commit. Two transactions that append
  /// to one relation conflict.
  Task<Result<std::uint64_t>> append(Relation relation, Row row);
  /// All of them or none, of `Relation::append_schema`. Gives the number of the first; the others
  /// have the next ones.
  Task<Result<std::uint64_t>> append(Relation relation, data::ChangeBatch rows);
  /// By the primary key. `unknown_key` if there is no such row.
  Task<Result<>> remove(Relation table, Row key);
  /// By the primary key; with what this transaction has changed.
  Task<Result<std::optional<Row>>> get(Relation relation, Row key);

  /// As of `storage::Transaction`: `conflict` means to run it again. Transactional views that read
  /// what was written are part of it: if one of them cannot follow, its error is given, and nothing
  /// is committed.
  Task<Result<storage::Version>> commit();

 private:
  enum class Mode : std::uint8_t { insert, update, upsert };
  struct Evicted;

  /// Once for each relation: that it is still what it was when it was opened.
  Task<Result<>> check(Relation relation);
  Task<Result<>> check_table(Relation relation);
  Task<Result<>> write(Relation table, data::ChangeBatch rows, Mode mode);
  Result<> check_rows(const Relation& relation, const data::Schema& schema,
                      const data::ChangeBatch& rows) const;
  Result<> count_bytes(const Relation& relation, std::size_t bytes);
  static Result<> check_appended(const Relation& relation);
  Task<Result<std::uint64_t>> append_rows(Relation relation, data::ChangeBatch rows);
  Task<Result<Evicted>> find_oldest(Relation relation, std::uint64_t oldest, std::uint64_t count);
  Task<Result<>> count_removed(Relation relation);

  storage::Transaction transaction_;
  std::shared_ptr<const internal::DatabaseCore> core_;
  std::shared_ptr<const internal::Catalog> catalog_;
  std::set<const internal::RelationInfo*> checked_;
  /// Of the rows that were written, and of those known to go, by relation.
  std::map<std::uint64_t, std::size_t> bytes_;
  /// Tables that transactional views follow, by their ids.
  std::map<std::uint64_t, std::shared_ptr<const internal::RelationInfo>> followed_;
};

}  // namespace weir::flow::view
