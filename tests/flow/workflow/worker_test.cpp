#include <weir/flow/workflow/worker.hpp>

#include <chrono>
#include <stdexcept>

#include <gtest/gtest.h>

#include <weir/runtime/sleep.hpp>
#include <weir/tests/flow/workflow/support/worker_fixture.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::WorkerTest;

TEST_F(WorkerTest, NeverRunsMoreThanItMay) {
  int running = 0;
  int most = 0;
  start({.executions_max = 3}, [&](Worker& worker) {
    struct Count {
      static Task<> slowly(int* running, int* most) {
        *most = std::max(*most, ++*running);
        static_cast<void>(co_await sleep_for(10ms));
        --*running;
      }
    };
    worker.on("slow", [&](std::string) { return Count::slowly(&running, &most); });
  });
  std::vector<ExecutionId> all;
  for (int i = 0; i < 20; ++i) all.push_back(begin_execution("slow"));
  for (const ExecutionId& id : all) EXPECT_EQ(finish(id).state, PublicState::completed);
  EXPECT_EQ(most, 3);
}

Task<> rest(Duration duration) { static_cast<void>(co_await sleep_for(duration)); }

TEST_F(WorkerTest, RenewsTheLeaseOfWhatTakesLonger) {
  start({.lease = 3s},
        [](Worker& worker) { worker.on("long", [](std::string) { return rest(20s); }); });
  const ExecutionId id = begin_execution("long");
  pass(10s);
  EXPECT_EQ(describe(id).execution.state.ownership, Ownership::leased);
  EXPECT_EQ(finish(id).state, PublicState::completed);
  EXPECT_EQ(run(engine().attempts(id)).value().size(), 1U);
}

TEST_F(WorkerTest, WhatIsTakenAwayIsNotCompleted) {
  int ended = 0;
  start({.lease = 3s}, [&](Worker& worker) {
    struct Work {
      static Task<> then_count(int* ended) {
        co_await rest(10s);
        ++*ended;
      }
    };
    worker.on("long", [&ended](std::string) { return Work::then_count(&ended); });
  });
  const ExecutionId id = begin_execution("long");
  pass(1s);
  ASSERT_EQ(run(engine().cancel(id, "changed my mind")), true);
  pass(20s);
  EXPECT_EQ(ended, 0) << "the handler went on";
  EXPECT_EQ(report().lost, 1U);
  EXPECT_EQ(report().running, 0U);
}

TEST_F(WorkerTest, StoppingWaitsForHandlersAndClaimsNothingMore) {
  start({.executions_max = 1},
        [](Worker& worker) { worker.on("long", [](std::string) { return rest(5s); }); });
  const ExecutionId first = begin_execution("long");
  const ExecutionId second = begin_execution("long");
  pass(1s);
  stop_worker();
  EXPECT_EQ(describe(first).state, PublicState::completed);
  EXPECT_EQ(describe(second).state, PublicState::waiting);
}

TEST_F(WorkerTest, StoppingGivesBackWhatTakesTooLong) {
  start({.drain_max = 2s},
        [](Worker& worker) { worker.on("endless", [](std::string) { return rest(10h); }); });
  const ExecutionId id = begin_execution("endless");
  pass(1s);
  const Time from = time();
  stop_worker();
  EXPECT_LE(time() - from, 3s);
  pass(1s);
  EXPECT_EQ(describe(id).state, PublicState::waiting);
  EXPECT_EQ(run(engine().lane("default")).value().active, 0U);
}

TEST_F(WorkerTest, LeavesWhatItDoesNotKnowToOthers) {
  start({.unknown_kind_delay = 5s}, [](Worker& worker) { worker.on("known", [](std::string) {}); });
  const ExecutionId id = begin_execution("unknown");
  pass(1s);
  EXPECT_EQ(describe(id).state, PublicState::delayed);
  EXPECT_EQ(report().unknown, 1U);
  pass(5s);
  EXPECT_EQ(report().unknown, 2U);
}

TEST_F(WorkerTest, ACrashLosesNothingThatWasClaimed) {
  start({.lease = 3s},
        [](Worker& worker) { worker.on("long", [](std::string) { return rest(5s); }); });
  const ExecutionId id = begin_execution("long");
  pass(1s);
  crash_all();
  EXPECT_EQ(finish(id).state, PublicState::completed);
  EXPECT_EQ(run(engine().attempts(id)).value().size(), 2U);
}

}  // namespace
}  // namespace weir::flow::workflow
