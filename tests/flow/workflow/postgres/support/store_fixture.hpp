#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/postgres/internal/schema.hpp>
#include <weir/flow/workflow/postgres/open.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/when_all.hpp>
#include <weir/tests/flow/workflow/postgres/support/postgres_backend.hpp>

namespace weir::flow::workflow::postgres::test {

using Engines = std::vector<const Engine*>;

/// Describes each of two many times over, side by side.
inline Task<> describe_one(const Engine* engine, ExecutionId id, Error* error) {
  auto described = co_await engine->describe(id);
  *error = described.error();
}
inline Task<> describe_all(const Engine* engine, std::vector<ExecutionId> ids,
                           std::vector<Error>* errors) {
  TaskScope scope;
  for (std::size_t i = 0; i < errors->size(); ++i) {
    scope.spawn(describe_one(engine, ids[i % ids.size()], &(*errors)[i]));
  }
  co_await scope.join();
}

/// Claims until there are so many in all.
inline Task<> claim_on(const Engine* engine, std::size_t count, std::vector<ExecutionId>* claimed) {
  while (claimed->size() < count) {
    auto more = co_await engine->claim({.worker = "w", .executions_max = 3});
    EXPECT_TRUE(more) << more.error().message();
    if (!more) co_return;
    for (const Claimed& one : *more) claimed->push_back(one.handle.execution);
  }
}
inline Task<> claim_all(Engines engines, std::size_t count, std::vector<ExecutionId>* claimed) {
  TaskScope scope;
  for (int i = 0; i < 4; ++i) {
    for (const Engine* engine : engines) scope.spawn(claim_on(engine, count, claimed));
  }
  co_await scope.join();
}

inline Task<> create_on(const Engine* engine, std::string key, std::vector<Created>* created) {
  auto made = co_await engine->create_execution({.kind = "work", .idempotency_key = key});
  EXPECT_TRUE(made) << made.error().message();
  if (made) created->push_back(*made);
}
inline Task<> create_twice(Engines engines, std::string key, std::vector<Created>* created) {
  TaskScope scope;
  for (const Engine* engine : engines) scope.spawn(create_on(engine, key, created));
  co_await scope.join();
}

inline Task<> take(const Engine* engine, ExecutionId* taken) {
  auto claimed = co_await engine->next({.worker = "w"});
  EXPECT_TRUE(claimed) << claimed.error().message();
  if (claimed) *taken = claimed->at(0).handle.execution;
}
inline Task<> make_and_take(const Engine* makes, const Engine* waits, ExecutionId* made,
                            ExecutionId* taken) {
  TaskScope scope;
  scope.spawn(take(waits, taken));
  // Until it has looked, and found nothing.
  static_cast<void>(co_await waits->lane("default"));
  auto created = co_await makes->create_execution({.kind = "work"});
  EXPECT_TRUE(created) << created.error().message();
  if (created) *made = created->id;
  co_await scope.join();
}

/// By the clock of the database.
inline Task<Time> now_of(const Engine* engine) {
  auto made = co_await engine->create_execution({.kind = "clock", .lane = "clock"});
  auto info = co_await engine->describe(made.value().id);
  co_return info.value()->spec.created_at;
}

/// What a reader was told.
struct Told {
  int gaps = 0;
  std::map<ExecutionId, int> completions;
};
inline Task<> work_on(const Engine* engine, int count) {
  for (int i = 0; i < count; ++i) {
    auto made = co_await engine->create_execution({.kind = "work"});
    auto claimed = co_await engine->next({.worker = "w"});
    EXPECT_TRUE(made && claimed);
    if (!claimed) co_return;
    auto done = co_await engine->complete(claimed->at(0).handle);
    EXPECT_TRUE(done) << done.error().message();
  }
}
inline Task<> read_on(const Engine* engine, std::size_t count, Told* told) {
  for (std::uint64_t from = 1; told->completions.size() < count;) {
    auto notices = co_await engine->notices(from, 7);
    EXPECT_TRUE(notices) << notices.error().message();
    if (!notices) co_return;
    for (const auto& [number, notice] : *notices) {
      told->gaps += number != from ? 1 : 0;
      from = number + 1;
      if (notice.kind == NoticeKind::completion) ++told->completions[notice.execution];
    }
  }
}
inline Task<> work_and_read(Engines engines, int count, Told* told) {
  TaskScope scope;
  scope.spawn(read_on(engines.front(), static_cast<std::size_t>(count), told));
  const int workers = 4;
  for (int i = 0; i < workers; ++i) {
    scope.spawn(work_on(engines[static_cast<std::size_t>(i) % engines.size()], count / workers));
  }
  co_await scope.join();
}

/// Engines that share a schema, by the clock of the database.
class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_ = shared_server();
    if (server_ == nullptr) GTEST_SKIP() << "the package postgresql is not installed";
    if (!server_->is_running()) server_->revive();
    drop_schema(*server_);
  }

  TestServer& server() { return *server_; }
  ActorSystem& system() { return system_; }
  Engine open() { return run(postgres::open(&system_, options_for(*server_))).value(); }
  template <class T>
  T run(Task<T> task) {
    return system_.run(std::move(task));
  }
  std::string query(const std::string& text) {
    return server_->query("set search_path = test; " + text);
  }
  void execute(const std::string& text) {
    // By itself: some statements cannot be in a transaction.
    server_->execute(text.starts_with("alter system") ? text : "set search_path = test; " + text);
  }

  std::int64_t epoch_of(const ExecutionId& id) {
    return std::stoll(query("select epoch from workflow_partitions where number = " +
                            std::to_string(id.partition.number)));
  }
  /// Cancels an execution as the owner of its partition with this epoch.
  Error cancel_as_owner(const ExecutionId& id, std::int64_t epoch) {
    const auto pool = storage::postgres::Pool::open(system_, options_for(*server_).database);
    auto context = std::make_shared<internal::Context>(*pool, options_for(*server_));
    context->has_others = false;  // it has no channel to tell them by
    context->owner = std::stoll(query("select owner from workflow_owners"));
    auto batches =
        system_.spawn<internal::BatchActor>(context, [](const internal::Effects&) {}, Time());
    const auto cancel = [id](workflow::internal::Draft& draft) {
      return workflow::internal::cancel(draft, id, "stop", "owner");
    };
    auto command =
        std::make_shared<workflow::internal::CommandOf<std::decay_t<decltype(cancel)>>>(cancel);
    auto job = std::make_shared<internal::CommandJob>(7, command,
                                                      internal::Owned{id.partition.number, epoch});
    return run(submit(batches, job)).error();
  }

 private:
  static Task<Result<bool>> submit(internal::BatchRef batches, internal::JobRef job) {
    co_return co_await batches.ask<internal::Submit>(std::move(job)).within(forever);
  }

  TestServer* server_ = nullptr;
  ActorSystem system_{weir::testing::quiet()};
};

}  // namespace weir::flow::workflow::postgres::test
