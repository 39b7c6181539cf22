// Durable coroutines whose engine refuses what they ask for, that fail and are replayed, and that
// draw what they give to children, on whichever store.
#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/workflow/workflow_context.hpp>
#include <weir/tests/flow/workflow/support/durable_fixture.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::DurableTest;
using testing::Lines;
using testing::patient_options;

Task<std::string> sell(WorkflowContext ctx, Lines* effects, std::size_t bytes) {
  const auto note = [effects](std::string line) { effects->push_back(line); };
  co_await ctx.step("pay", note, std::string("pay"));
  ctx.compensate("refund", note, std::string("refund"));
  co_await ctx.sleep(10s);
  ctx.child<void>("parcel", std::string(), {.lane = "parcels"});
  co_await ctx.step("pack", note, std::string("pack"));
  co_return std::string(bytes, 'x');
}

class DurableRefusedTest : public DurableTest {
 protected:
  void start_selling() {
    start(patient_options(), [this](Worker& worker) {
      worker.on("sell", [this](WorkflowContext ctx, std::uint64_t bytes) {
        return sell(ctx, &effects, bytes);
      });
    });
  }
  /// One that has paid, and sleeps.
  ExecutionId begin_to_sell(std::uint64_t bytes = 0) {
    const ExecutionId id = begin_execution("sell", to_payload(bytes));
    EXPECT_EQ(let_work(id).state, PublicState::delayed);
    return id;
  }
  std::size_t parcels() {
    return run(engine().list_executions({.lane = "parcels"})).value().items.size();
  }
  void expect_undone(const ExecutionId& id) {
    const auto undo = run(engine().undo_of(id)).value();
    ASSERT_TRUE(undo) << "nobody undoes what it did";
    EXPECT_EQ(let_work(*undo).state, PublicState::completed)
        << describe(*undo).execution.end_reason;
    EXPECT_EQ(effects.back(), "refund");
    EXPECT_EQ(std::ranges::count(effects, "refund"), 1);
  }
};

TEST_F(DurableRefusedTest, WhatHasBegunIsFinishedInLanesThatAreDrained) {
  start_selling();
  const ExecutionId id = begin_to_sell();
  for (const char* lane : {"default", "parcels"}) {
    ASSERT_TRUE(run(engine().set_lane_state(lane, LaneState::draining)));
  }
  EXPECT_EQ(sleep_through(id).state, PublicState::completed);
  EXPECT_EQ(parcels(), 1U);
  EXPECT_EQ(run(engine().create_execution({.kind = "sell"})).error(), Errc::wrong_state);
}

TEST_F(DurableRefusedTest, WhoseChildIsRefusedIsUndone) {
  start_selling();
  const ExecutionId id = begin_to_sell();
  ASSERT_TRUE(run(engine().set_lane_state("parcels", LaneState::disabled)));
  const ExecutionInfo info = sleep_through(id);
  EXPECT_EQ(info.state, PublicState::failed);
  EXPECT_NE(info.execution.end_reason.find("'parcels' is disabled"), std::string::npos)
      << info.execution.end_reason;
  expect_undone(id);
  EXPECT_EQ(parcels(), 0U);
}

TEST_F(DurableRefusedTest, WhoseResultCannotBeKeptIsUndone) {
  start_selling();
  const ExecutionId id = begin_to_sell(payload_bytes_max + 1);
  EXPECT_EQ(sleep_through(id).state, PublicState::failed);
  expect_undone(id);
  EXPECT_EQ(effects, (Lines{"pay", "pack", "refund"}));
  EXPECT_EQ(run(engine().list_executions({.lane = "parcels"})).value().items.at(0).state,
            PublicState::cancelled);
}

TEST_F(DurableRefusedTest, WhoseJournalIsFullIsUndone) {
  // What is full is the same on each store.
  if (engine().store() == nullptr) GTEST_SKIP() << "this would take long";
  start_selling();
  const ExecutionId id = begin_to_sell();
  stop_worker();
  leap(11s);
  const Handle handle = claim_one().handle;
  const std::vector<JournalEntry> versions(
      journal_entries_max - 2, {.kind = JournalKind::version, .name = "v", .payload = "\1"});
  ASSERT_TRUE(run(engine().append_journal(handle, 2, versions)));
  ASSERT_TRUE(run(engine().delay(handle, time())));
  start_selling();
  const ExecutionInfo info = sleep_through(id);
  EXPECT_EQ(info.state, PublicState::failed);
  EXPECT_NE(info.execution.end_reason.find("continue_as_new"), std::string::npos)
      << info.execution.end_reason;
  expect_undone(id);
}

Task<> sell_in_fair_weather(WorkflowContext ctx, Lines* effects, const bool* rains) {
  const auto note = [effects](std::string line) { effects->push_back(line); };
  const auto look = [rains]() -> Result<> {
    if (*rains) return Error(Errc::step_failed, "rain");
    return {};
  };
  co_await ctx.step("pay", note, std::string("pay"));
  ctx.compensate("refund", note, std::string("refund"));
  co_await ctx.step("look", look);
  co_await ctx.step("sell", note, std::string("sell"));
}

TEST_F(DurableRefusedTest, OneThatHasUndoneItselfIsReplayedFromItsFirstLine) {
  bool rains = true;
  start(patient_options(), [&](Worker& worker) {
    worker.on("sell", [&](WorkflowContext c) { return sell_in_fair_weather(c, &effects, &rains); });
  });
  const ExecutionId id = begin_execution("sell");
  EXPECT_EQ(let_work(id).state, PublicState::failed);
  EXPECT_EQ(effects, (Lines{"pay", "refund"}));
  rains = false;
  ASSERT_TRUE(run(engine().replay(id)));
  EXPECT_EQ(let_work(id).state, PublicState::completed) << describe(id).execution.end_reason;
  EXPECT_EQ(effects, (Lines{"pay", "refund", "pay", "sell"}));
}

Task<std::string> draw_for_children(WorkflowContext ctx) {
  std::vector<Child<std::string>> children;
  std::string drawn;
  for (int i = 0; i < 2; ++i) {
    const std::string one = to_string(ctx.uuid());
    drawn += one;
    children.push_back(ctx.child<std::string>("echo", one));
  }
  std::string given;
  for (const auto& child : children) given += co_await ctx.result(child);
  co_return drawn == given ? "the same" : drawn + " is not " + given;
}

TEST_F(DurableRefusedTest, I21ChildrenAreGivenWhatIsInTheJournalWhereverItCrashes) {
  bool is_through = false;
  for (std::uint64_t commit = 1; !is_through; ++commit) {
    ASSERT_LT(commit, 100U);
    SCOPED_TRACE("commit " + std::to_string(commit));
    start({.lease = 3s}, [](Worker& worker) {
      worker.on("draws", draw_for_children);
      worker.on("echo", [](std::string what) { return what; });
    });
    const NewExecution request{.kind = "draws",
                               .idempotency_key = "draws " + std::to_string(commit)};
    const auto play = [&] {
      const auto made = run(engine().create_execution(request));
      if (!made) return false;
      wait_until("the end", [&] {
        const auto info = run(engine().describe(made->id));
        return info && *info && (*info)->execution.has_ended();
      });
      return !has_failed();
    };
    fail_commit(commit);
    is_through = play();
    crash_after_failure();
    leap(4s);  // what was claimed can be again
    ASSERT_TRUE(play());
    EXPECT_EQ(result<std::string>(run(engine().create_execution(request)).value().id), "the same");
    stop_worker();
  }
}

}  // namespace
}  // namespace weir::flow::workflow
