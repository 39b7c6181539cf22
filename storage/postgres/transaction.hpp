#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weir/runtime/result.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/postgres/isolation.hpp>
#include <weir/storage/postgres/rows.hpp>
#include <weir/storage/postgres/statement.hpp>

namespace weir::storage::postgres {

namespace internal {
struct PoolCore;
struct TransactionState;
}  // namespace internal

/// A transaction that holds one connection of a pool until it ends. If the last handle is let go
/// before that, it is rolled back.
///
/// After a statement that failed, all others fail until it ends. Its calls may be made side by
/// side: they are carried out in the order in which they were begun.
///
/// A handle: cheap to copy; confined to the actor that began the transaction.
class Transaction {
 public:
  /// Zero as the timeout: `Options::call_timeout`.
  Task<Result<Rows>> execute(Statement statement, Duration timeout = Duration::zero()) const;
  /// Several statements in one round trip.
  Task<Result<std::vector<Rows>>> execute(Batch statements,
                                          Duration timeout = Duration::zero()) const;
  /// A text of several statements without parameters, such as a migration.
  Task<Result<>> run_script(std::string text, Duration timeout = Duration::zero()) const;

  /// `rejected` if a statement had failed before: then it was rolled back.
  Task<Result<>> commit() const;
  Task<Result<>> rollback() const;

  /// Of the first statement that failed; zero if none has.
  Error failure() const;

 private:
  friend class Pool;
  explicit Transaction(std::shared_ptr<internal::TransactionState> state) noexcept
      : state_(std::move(state)) {}

  std::shared_ptr<internal::TransactionState> state_;
};

}  // namespace weir::storage::postgres
