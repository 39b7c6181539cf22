#include <stdexcept>

#include <gtest/gtest.h>

#include <weir/tests/flow/workflow/support/durable_fixture.hpp>

// What durable coroutines are made of, on whichever store.
namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::buy;
using testing::DurableTest;
using testing::Lines;
using testing::Order;
using testing::Receipt;

TEST_F(DurableTest, StepsAreTypedAndTheirResultsAreTheCoroutines) {
  start([&](Worker& worker) {
    worker.on("buy", [this](WorkflowContext& ctx, Order o) { return buy(ctx, &effects, o); });
  });
  const ExecutionId id = begin_execution("buy", to_payload(Order{"tea", 300}));
  finish(id);
  const auto receipt = result<Receipt>(id);
  EXPECT_EQ(receipt.text, "shipped");
  EXPECT_EQ(receipt.cents, 300);
  EXPECT_EQ(effects, (Lines{"charge tea", "ship tea"}));
  EXPECT_EQ(names(id), (Lines{"step charge", "sleep", "step ship"}));
}

TEST_F(DurableTest, AStaleWorkerCannotWriteToTheJournal) {
  const ExecutionId id = create();
  const Claimed slow = claim({.worker = "slow", .lease = 3s}).at(0);
  ASSERT_TRUE(run(engine().append_journal(slow.handle, 0, {{.name = "a", .number = 1}})));
  pass(4s);
  EXPECT_EQ(run(engine().append_journal(slow.handle, 1, {{.name = "late"}})).error(),
            Errc::lease_expired);
  const Claimed quick = claim({.worker = "quick"}).at(0);
  EXPECT_EQ(run(engine().append_journal(slow.handle, 1, {{.name = "stale"}})).error(),
            Errc::stale_lease);
  EXPECT_EQ(run(engine().restart_journal(slow.handle, "x")).error(), Errc::stale_lease);
  EXPECT_EQ(run(engine().append_journal(quick.handle, 0, {{.name = "again"}})).error(),
            Errc::stale_revision);
  ASSERT_TRUE(run(engine().append_journal(quick.handle, 1, {{.name = "b", .number = 2}})));
  reopen();
  EXPECT_EQ(names(id), (Lines{"step a", "step b"}));
  EXPECT_EQ(run(engine().journal(ExecutionId{})).error(), Errc::not_found);
}

Task<> undone(WorkflowContext ctx, Lines* effects, bool fails) {
  auto act = [effects](std::string what) { effects->push_back(what); };
  co_await ctx.step("flight", act, std::string("book flight"));
  ctx.compensate("no flight", act, std::string("cancel flight"));
  co_await ctx.step("hotel", act, std::string("book hotel"));
  ctx.compensate("no hotel", [effects]() -> Result<> {
    effects->push_back("cancel hotel");
    return Error(Errc::step_failed, "hotel does not answer");
  });
  co_await ctx.sleep(5s);
  if (fails) throw std::runtime_error("no car left");
}

TEST_F(DurableTest, AFailureUndoesStepsInReverseOrderEachOnce) {
  start([&](Worker& worker) {
    worker.on("w", [this](WorkflowContext ctx, bool f) { return undone(ctx, &effects, f); });
  });
  const ExecutionId fine = begin_execution("w", to_payload(false));
  EXPECT_EQ(finish(fine).state, PublicState::completed);
  EXPECT_EQ(effects, (Lines{"book flight", "book hotel"}));
  effects.clear();
  const ExecutionId id = begin_execution("w", to_payload(true));
  const ExecutionInfo info = finish(id);
  EXPECT_EQ(info.state, PublicState::failed);
  EXPECT_EQ(effects, (Lines{"book flight", "book hotel", "cancel hotel", "cancel flight"}));
  EXPECT_NE(info.execution.end_reason.find("no car left"), std::string::npos);
  EXPECT_NE(info.execution.end_reason.find("hotel does not answer"), std::string::npos);
  EXPECT_EQ(names(id), (Lines{"step flight", "step hotel", "sleep", "compensation no hotel failed",
                              "compensation no flight"}));
}

TEST_F(DurableTest, ASleepUntilTheEndOfTimeIsRefusedAndALongOneIsSlept) {
  start([&](Worker& worker) {
    worker.on("sleep", [](WorkflowContext ctx, Time until) { return ctx.sleep_until(until); });
  });
  const Time far = std::chrono::sys_days(std::chrono::year(9999) / 12 / 31);
  const ExecutionId late = begin_execution("sleep", to_payload(far));
  for (const Time bad : {Time::min(), Time::max()}) {
    const ExecutionInfo info = finish(begin_execution("sleep", to_payload(bad)));
    EXPECT_EQ(info.state, PublicState::failed);
    EXPECT_NE(info.execution.end_reason.find("sleep of "), std::string::npos);
  }
  pass(1s);
  EXPECT_EQ(state_of(late), PublicState::delayed);
  EXPECT_EQ(describe(late).execution.eligible_at, far);
}

}  // namespace
}  // namespace weir::flow::workflow
