#pragma once

#include <utility>

#include <weir/runtime/task.hpp>
#include <weir/storage/transaction.hpp>

namespace weir::flow::workflow {

/// A transaction in which a step writes, and the way to commit it: what the step has done is added
/// to it first. For those who have transactions of their own kind over the one of the store.
class StepCommit {
 public:
  virtual ~StepCommit() = default;
  virtual storage::Transaction& transaction() = 0;
  virtual Task<Result<storage::Version>> commit() = 0;
};

/// The transaction of the store itself.
class StorageStepCommit final : public StepCommit {
 public:
  explicit StorageStepCommit(storage::Transaction transaction) noexcept
      : transaction_(std::move(transaction)) {}

  storage::Transaction& transaction() override { return transaction_; }
  Task<Result<storage::Version>> commit() override { return transaction_.commit(); }

 private:
  storage::Transaction transaction_;
};

}  // namespace weir::flow::workflow
