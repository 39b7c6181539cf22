// Durable coroutines that wait for several things at once, on whichever store.
#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/workflow/workflow_context.hpp>
#include <weir/runtime/when_all.hpp>
#include <weir/tests/flow/workflow/support/durable_fixture.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::closed_door;
using testing::Door;
using testing::DurableTest;
using testing::Lines;
using testing::patient_options;

using DurableWaitTest = DurableTest;

Task<> nap(WorkflowContext ctx, Duration duration) { co_await ctx.sleep(duration); }

Task<> sleep_twice(WorkflowContext ctx) { co_await when_all(nap(ctx, 1h), nap(ctx, 10min)); }

TEST_F(DurableWaitTest, TheLongerOfTwoSleepsIsSleptToItsEnd) {
  start(patient_options(), [](Worker& worker) { worker.on("sleeps", sleep_twice); });
  const Time from = time();
  EXPECT_EQ(sleep_through(begin_execution("sleeps")).state, PublicState::completed);
  EXPECT_GE(time() - from, 1h);
}

Task<> sleep_beside(WorkflowContext ctx, Lines* effects, Door door) {
  const auto note = [effects](std::string line) { effects->push_back(line); };
  const auto wait = [door] { return testing::wait_at(door); };
  co_await when_all(nap(ctx, 1h), ctx.step("quick", note, std::string("quick")),
                    ctx.step("slow", wait));
}

TEST_F(DurableWaitTest, ASleepIsNotCutShortByWhatWasDoneBesideItBeforeACrash) {
  const Door door = closed_door();
  start(patient_options(), [&](Worker& worker) {
    worker.on("sleeps", [&](WorkflowContext ctx) { return sleep_beside(ctx, &effects, door); });
  });
  const Time from = time();
  const ExecutionId id = begin_execution("sleeps");
  wait_until("the quick one", [&] { return names(id) == Lines{"sleep", "step quick"}; });
  crash_all();
  door->publish(1);
  leap(4s);  // what was claimed can be again
  EXPECT_EQ(sleep_through(id).state, PublicState::completed);
  EXPECT_GE(time() - from, 1h);
  EXPECT_EQ(effects, (Lines{"quick"}));
}

Task<> fly_while_asleep(WorkflowContext ctx, Lines* effects) {
  const auto note = [effects](std::string line) { effects->push_back(line); };
  ctx.compensate("unfly", note, std::string("unfly"));
  co_await when_all(nap(ctx, 1h), ctx.step("fly", note, std::string("fly")));
}

TEST_F(DurableWaitTest, WhatIsUndoneDoesNotSleepOn) {
  start(patient_options(), [&](Worker& worker) {
    worker.on("flies", [&](WorkflowContext ctx) { return fly_while_asleep(ctx, &effects); });
  });
  const ExecutionId id = begin_execution("flies");
  EXPECT_EQ(let_work(id).state, PublicState::delayed);
  ASSERT_EQ(run(engine().cancel(id)), true);
  const ExecutionId undo = run(engine().undo_of(id)).value().value();
  EXPECT_EQ(let_work(undo).state, PublicState::completed);
  EXPECT_EQ(effects, (Lines{"fly", "unfly"}));
}

Task<std::string> choose(WorkflowContext ctx) {
  std::vector<Child<std::string>> offers;
  for (int i = 0; i < 2; ++i) {
    offers.push_back(ctx.child<std::string>("offer", i, {.lane = "offers"}));
  }
  auto [slept, chosen] =
      co_await when_all(nap(ctx, 1h), ctx.quorum(1, offers, OnSatisfied::cancel_remaining));
  co_return chosen.at(0);
}

TEST_F(DurableWaitTest, WhoWaitsForChildrenDoesSoAlsoWhileSomethingElseSleeps) {
  start(patient_options(), [](Worker& worker) { worker.on("chooses", choose); });
  const ExecutionId id = begin_execution("chooses");
  const auto offers = [&](PublicState state) {
    const auto all = run(engine().list_executions({.lane = "offers"})).value().items;
    return std::ranges::count(all, state, &ExecutionSummary::state);
  };
  wait_until("the offers", [&] { return offers(PublicState::waiting) == 2; });
  const Handle handle = claim({.worker = "w", .lane = "offers"}).at(0).handle;
  ASSERT_TRUE(run(engine().complete(handle, to_payload(std::string("anna")))));
  wait_until("the other one", [&] { return offers(PublicState::cancelled) == 1; });
  EXPECT_EQ(sleep_through(id).state, PublicState::completed);
  EXPECT_EQ(result<std::string>(id), "anna");
}

}  // namespace
}  // namespace weir::flow::workflow
