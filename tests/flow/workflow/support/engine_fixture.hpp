#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/errc.hpp>
#include <weir/tests/flow/workflow/support/embedded_backend.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir::flow::workflow::testing {

/// An engine on a store that is empty at first.
class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    backend_ = make_backend(telemetry());
    if (!backend_) GTEST_SKIP() << "what the store needs is not installed";
    backend_->open({});
  }

  /// What records what is done; none unless a test says so.
  virtual telemetry::Telemetry* telemetry() { return nullptr; }

  Engine& engine() { return backend_->engine(); }
  ActorSystem& system() { return backend_->system(); }
  Time time() { return backend_->time(); }
  void pass(Duration time) { backend_->pass(time); }
  void pass_some() { backend_->pass_some(); }
  void leap(Duration time) { backend_->leap(time); }
  void give_way() { backend_->give_way(); }
  void reopen(EngineOptions options = {}) { backend_->reopen(options); }
  void crash(std::size_t survivors = 0) { backend_->crash(survivors); }
  bool lets_some_survive() { return backend_->lets_some_survive(); }
  void vanish() { backend_->vanish(); }
  void fail_commit(std::uint64_t nth) { backend_->fail_commit(nth); }
  bool has_failed() { return backend_->has_failed(); }

  /// Lets others go on until it is so, or nothing more can be committed.
  template <class Predicate>
  void wait_until(const char* what, Predicate predicate) {
    weir::testing::eventually(what, [&] {
      if (has_failed() || predicate()) return true;
      give_way();
      return false;
    });
  }

  std::map<std::string, std::size_t> rows() { return backend_->rows(); }
  /// Changes a record as nothing in Weir does it.
  template <class R>
  void tamper(const internal::KeyOf<R>& key, std::function<void(R&)> change) {
    const auto edit = [key, change](internal::Draft& draft) -> Result<bool> {
      R* record = draft.edit<R>(key);
      if (record != nullptr) change(*record);
      return record != nullptr;
    };
    auto command = std::make_shared<internal::CommandOf<decltype(edit)>>(edit);
    ASSERT_TRUE(run(backend_->core()->run(command)));
    ASSERT_TRUE(command->take().value());
  }

  template <class T>
  T run(Task<T> task) {
    std::optional<T> value;
    backend_->run(keep(std::move(task), &value));
    return *std::move(value);
  }

  // Only for tests of the embedded store.
  EmbeddedBackend& embedded() { return dynamic_cast<EmbeddedBackend&>(*backend_); }
  Simulation& simulation() { return embedded().simulation(); }
  storage::Store& store() { return embedded().store(); }
  storage::engine::SimulatedDisk& disk() { return embedded().disk(); }

  ExecutionId create(NewExecution request) {
    return run(engine().create_execution(std::move(request))).value().id;
  }
  ExecutionId create() { return create({.kind = "work"}); }
  std::vector<Claimed> claim(ClaimRequest request) {
    return run(engine().claim(std::move(request))).value();
  }
  /// The one that can be claimed.
  Claimed claim_one() {
    auto claimed = claim({.worker = "w"});
    EXPECT_EQ(claimed.size(), 1U);
    return claimed.empty() ? Claimed{} : std::move(claimed.front());
  }
  ExecutionInfo describe(const ExecutionId& id) {
    auto info = run(engine().describe(id)).value();
    EXPECT_TRUE(info) << to_string(id);
    return info.value_or(ExecutionInfo{});
  }
  PublicState state_of(const ExecutionId& id) { return describe(id).state; }
  Workflow describe(const WorkflowId& id) {
    return run(engine().describe(id)).value().value().workflow;
  }

  /// How often each execution was told to have ended; the numbers of notices have no gaps.
  std::map<ExecutionId, int> completions() {
    std::map<ExecutionId, int> told;
    for (std::uint64_t from = 1;;) {
      const auto notices = run(engine().notices(from)).value();
      if (notices.empty()) return told;
      for (const auto& [number, notice] : notices) {
        EXPECT_EQ(number, from++);
        if (notice.kind == NoticeKind::completion) ++told[notice.execution];
      }
    }
  }

 private:
  template <class T>
  static Task<> keep(Task<T> task, std::optional<T>* value) {
    value->emplace(co_await std::move(task));
  }

  std::unique_ptr<Backend> backend_;
};

}  // namespace weir::flow::workflow::testing
