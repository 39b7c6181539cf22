#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/errc.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/storage/engine/simulated_disk.hpp>

namespace weir::flow::workflow::testing {

/// An engine on a simulated disk, in virtual time, which can be closed or crashed and opened again.
class EngineTest : public ::testing::Test {
 protected:
  EngineTest() {
    store_options_.disk = std::make_shared<storage::engine::SimulatedDisk>();
    store_options_.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
    open();
  }

  Simulation& simulation() { return simulation_; }
  Engine& engine() { return *engine_; }
  storage::Store& store() { return *store_; }
  storage::engine::SimulatedDisk& disk() { return *store_options_.disk; }
  Time time() const { return store_->time(); }
  void pass(Duration time) { simulation_.run_for(time); }

  template <class T>
  T run(Task<T> task) {
    return simulation_.run(std::move(task));
  }

  void open(EngineOptions options = {}) {
    if (!simulation_.node().is_up()) simulation_.node().restart();
    // Time goes on while nothing is open.
    auto opened = storage::Store::open(simulation_.system(), store_options_);
    ASSERT_TRUE(opened) << opened.error().message();
    store_.emplace(*std::move(opened));
    auto engine = run(Engine::open(&*store_, options));
    ASSERT_TRUE(engine) << engine.error().message();
    engine_.emplace(*std::move(engine));
  }
  void reopen(EngineOptions options = {}) {
    store_options_.opened_at = store_->time();
    ASSERT_TRUE(run(engine_->close()));
    engine_.reset();
    store_.reset();
    open(options);
  }
  void crash(std::size_t survivors = 0) {
    store_options_.opened_at = store_->time();
    disk().crash(survivors);
    disk().repair();
    simulation_.node().crash();
    engine_.reset();
    store_.reset();
    open();
  }

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
  Simulation simulation_;
  storage::StoreOptions store_options_;
  std::optional<storage::Store> store_;
  std::optional<Engine> engine_;
};

}  // namespace weir::flow::workflow::testing
