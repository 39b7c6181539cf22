#include <weir/flow/workflow/worker.hpp>

#include <atomic>
#include <chrono>

#include <gtest/gtest.h>

#include <weir/runtime/sleep.hpp>
#include <weir/tests/flow/workflow/support/worker_fixture.hpp>

// What a worker takes, keeps and gives back, on whichever store.
namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::closed_door;
using testing::Door;
using testing::patient_options;
using testing::WorkerTest;

/// Handlers that wait until the test lets them go on.
class DoorTest : public WorkerTest {
 protected:
  void start_waiting(WorkerOptions options) {
    start(std::move(options), [this](Worker& worker) {
      worker.on("wait", [this](std::string) { return wait(door, &begun, &ended); });
    });
  }
  void wait_for_begun(int count) {
    wait_until("handlers", [&] { return begun == count; });
  }

  const Door door = closed_door();
  std::atomic<int> begun = 0;
  std::atomic<int> ended = 0;

 private:
  static Task<> wait(Door door, std::atomic<int>* begun, std::atomic<int>* ended) {
    ++*begun;
    co_await testing::wait_at(std::move(door));
    ++*ended;
  }
};

TEST_F(DoorTest, NeverRunsMoreThanItMay) {
  WorkerOptions options = patient_options();
  options.executions_max = 3;
  start_waiting(options);
  std::vector<ExecutionId> all;
  for (int i = 0; i < 12; ++i) all.push_back(begin_execution("wait"));
  wait_for_begun(3);
  for (int i = 0; i < 5; ++i) give_way();
  EXPECT_EQ(report().running, 3U);
  EXPECT_EQ(begun, 3);
  EXPECT_EQ(run(engine().report()).value().active, 3U) << "what it does not run, others may";
  door->publish(1);
  for (const ExecutionId& id : all) EXPECT_EQ(let_work(id).state, PublicState::completed);
}

TEST_F(DoorTest, RenewsTheLeaseOfWhatTakesLonger) {
  start_waiting({.lease = 300ms});
  const ExecutionId id = begin_execution("wait");
  wait_for_begun(1);
  for (int i = 0; i < 5; ++i) {
    const Time before = describe(id).execution.lease.value().expires_at;
    leap(200ms);
    wait_until("a longer lease", [&] {
      const auto& lease = describe(id).execution.lease;
      return !lease || lease->expires_at > before;
    });
    ASSERT_EQ(describe(id).execution.state.ownership, Ownership::leased);
  }
  door->publish(1);
  EXPECT_EQ(let_work(id).state, PublicState::completed);
  EXPECT_EQ(run(engine().attempts(id)).value().size(), 1U);
}

TEST_F(DoorTest, WhatIsTakenAwayIsNotCompleted) {
  start_waiting({.lease = 300ms});
  const ExecutionId id = begin_execution("wait");
  wait_for_begun(1);
  ASSERT_EQ(run(engine().cancel(id, "changed my mind")), true);
  wait_until("the loss", [&] { return report().lost == 1; });
  door->publish(1);
  EXPECT_EQ(report().running, 0U);
  EXPECT_EQ(ended, 0) << "the handler went on";
}

TEST_F(DoorTest, StoppingWaitsForHandlersAndClaimsNothingMore) {
  start_waiting({.executions_max = 1});
  const ExecutionId first = begin_execution("wait");
  wait_for_begun(1);
  const ExecutionId second = begin_execution("wait");
  stop_worker_and_open(door);
  EXPECT_EQ(describe(first).state, PublicState::completed);
  EXPECT_EQ(describe(second).state, PublicState::waiting);
}

TEST_F(DoorTest, StoppingGivesBackWhatTakesTooLong) {
  start_waiting({.drain_max = 20ms});
  const ExecutionId id = begin_execution("wait");
  wait_for_begun(1);
  stop_worker();
  EXPECT_EQ(ended, 0);
  wait_for_state(id, PublicState::waiting);
  EXPECT_EQ(run(engine().lane("default")).value().active, 0U);
}

TEST_F(WorkerTest, LeavesWhatItDoesNotKnowToOthers) {
  start({.unknown_kind_delay = 5s}, [](Worker& worker) { worker.on("known", [](std::string) {}); });
  const ExecutionId id = begin_execution("unknown");
  EXPECT_EQ(let_work(id).state, PublicState::delayed);
  wait_until("the report", [&] { return report().unknown == 1; });
  leap(5s);
  wait_until("the report", [&] { return report().unknown == 2; });
}

TEST_F(DoorTest, ACrashLosesNothingThatWasClaimed) {
  start_waiting(patient_options());
  const ExecutionId id = begin_execution("wait");
  wait_for_begun(1);
  crash_all();
  leap(4s);
  wait_for_begun(2);
  EXPECT_EQ(ended, 0);
  door->publish(1);
  EXPECT_EQ(let_work(id).state, PublicState::completed);
  EXPECT_EQ(run(engine().attempts(id)).value().size(), 2U);
}

}  // namespace
}  // namespace weir::flow::workflow
