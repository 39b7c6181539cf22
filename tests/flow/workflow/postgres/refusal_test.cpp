// What needs a store in this process is refused where there is none, at once and by name.
#include <gtest/gtest.h>

#include <weir/flow/compose/execution_table.hpp>
#include <weir/flow/compose/on_change.hpp>
#include <weir/flow/compose/workflow_table.hpp>
#include <weir/flow/workflow/worker.hpp>
#include <weir/tests/flow/workflow/postgres/support/store_fixture.hpp>

namespace weir::flow::workflow::postgres::test {
namespace {

Task<> write_rows(WorkflowContext ctx, bool* has_run) {
  co_await ctx.step("write", [has_run](storage::Transaction*) { *has_run = true; });
}

TEST_F(StoreTest, AStepWithATransactionFailsForGoodAtOnce) {
  const Engine engine = open();
  bool has_run = false;
  Worker worker(&engine);
  worker.on("write", [&](WorkflowContext ctx) { return write_rows(ctx, &has_run); });
  worker.start();
  const ExecutionId id = run(engine.create_execution({.kind = "write"})).value().id;
  weir::testing::eventually(
      "the end", [&] { return run(engine.describe(id)).value()->execution.has_ended(); });
  const ExecutionInfo info = *run(engine.describe(id)).value();
  EXPECT_EQ(info.state, PublicState::failed);
  EXPECT_EQ(info.execution.attempts, 1U);
  EXPECT_NE(info.execution.end_reason.find("needs an embedded store"), std::string::npos)
      << info.execution.end_reason;
  EXPECT_FALSE(has_run);
  EXPECT_TRUE(run(worker.stop()));
}

TEST_F(StoreTest, WhatFollowsADatabaseIsRefused) {
  const Engine engine = open();
  view::Database* const none = nullptr;
  EXPECT_EQ(run(compose::follow_executions(&engine, none, "t")).error(), weir::Errc::unsupported);
  EXPECT_EQ(run(compose::follow_workflows(&engine, none, "t")).error(), weir::Errc::unsupported);
  const compose::Start start{.name = "s", .kind = "k", .payload = [](const view::Row&) {
                               return std::optional<std::string>();
                             }};
  EXPECT_EQ(run(compose::on_change(&engine, none, "t", start)).error(), weir::Errc::unsupported);
}

}  // namespace
}  // namespace weir::flow::workflow::postgres::test
