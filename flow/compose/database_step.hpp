#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weir/flow/view/database.hpp>
#include <weir/flow/workflow/workflow_context.hpp>

namespace weir::flow::compose {

/// A transaction of a database in which a step writes.
class DatabaseStepCommit final : public workflow::StepCommit {
 public:
  explicit DatabaseStepCommit(view::Transaction rows) noexcept : rows_(std::move(rows)) {}

  view::Transaction& rows() noexcept { return rows_; }
  storage::Transaction& transaction() override { return rows_.base(); }
  Task<Result<storage::Version>> commit() override { return rows_.commit(); }

 private:
  view::Transaction rows_;
};

namespace internal {

/// A function of a `view::Transaction&`, with its arguments.
template <class Function, class... Args>
class DatabaseCall {
 public:
  static constexpr bool is_transactional = true;

  DatabaseCall(const view::Database* database, Function function, Args... args)
      : database_(database), function_(std::move(function)), args_(std::move(args)...) {}

  std::shared_ptr<workflow::StepCommit> begin(const workflow::Engine&) const {
    return std::make_shared<DatabaseStepCommit>(database_->begin());
  }
  auto operator()(workflow::StepCommit& commit) {
    view::Transaction& rows = static_cast<DatabaseStepCommit&>(commit).rows();
    if constexpr (std::is_invocable_v<Function&, view::Transaction*, Args...>) {
      return call<view::Transaction*>(&rows);
    } else {
      return call<view::Transaction&>(rows);
    }
  }

 private:
  template <class First>
  auto call(First first) {
    return std::apply(
        [&](const Args&... args) {
          return workflow::internal::settle<Function, First, Args...>(&function_, first,
                                                                      Args(args)...);
        },
        args_);
  }

  const view::Database* database_;
  Function function_;
  std::tuple<Args...> args_;
};

}  // namespace internal

/// `co_await step(ctx, &database, "book", book, order)`: a step whose function takes a
/// `view::Transaction*`, or a reference, and then its arguments. What it writes to tables, what
/// transactional views make of that, and the journal are one commit. The database is in the store
/// of the engine.
template <class Function, class... Args>
auto step(workflow::WorkflowContext ctx, const view::Database* database, std::string name,
          Function function, Args... args) {
  return ctx.step_with(
      std::move(name), workflow::StepOptions{},
      internal::DatabaseCall<Function, Args...>(database, std::move(function), std::move(args)...));
}

}  // namespace weir::flow::compose
