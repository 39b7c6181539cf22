// What an engine tells of itself: metrics, and a span for each commit.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include <weir/flow/workflow/engine.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/telemetry/prometheus.hpp>
#include <weir/telemetry/telemetry.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

namespace weir::flow::workflow {
namespace {

using weir::testing::RecordedSpans;

struct Work {
  using Reply = bool;
};

/// Makes two executions, does one of them, and lets the other wait.
class Client final : public Actor<Work> {
 public:
  explicit Client(const Engine* engine) : engine_(engine) {}
  Task<Result<bool>> on(Work) {
    for (int i = 0; i < 2; ++i) {
      auto made = co_await engine_->create_execution({.kind = "work"});
      if (!made) co_return made.error();
    }
    auto claimed = co_await engine_->claim({.worker = "w", .executions_max = 2});
    if (!claimed || claimed->size() != 2) co_return false;
    auto completed = co_await engine_->complete(claimed->at(0).handle);
    auto waits = co_await engine_->suspend(claimed->at(1).handle,
                                           {.condition = WaitCondition::all_of({"go"})});
    co_return completed.has_value() && waits.has_value();
  }

 private:
  const Engine* engine_;
};

Task<Result<bool>> ask(RefOf<Client> client) { co_return co_await client.ask<Work>(); }

TEST(WorkflowTelemetry, AnEngineIsMeasuredAndItsCommitsAreSpans) {
  RecordedSpans recorded;
  ActorSystem system(ActorSystemOptions{.threads = 2, .telemetry = recorded.telemetry()});
  auto store = storage::Store::open(system, {}).value();
  auto engine = system.run(Engine::open(&store)).value();
  EXPECT_EQ(system.run(ask(system.spawn<Client>(&engine))), true);
  const std::string page = telemetry::prometheus_page(recorded.telemetry()->meter().collect({}),
                                                      telemetry::PrometheusFormat::text);
  const auto has = [&](const std::string& line) { return page.find(line) != std::string::npos; };
  EXPECT_TRUE(has("weir_workflow_claims_total 2\n")) << page;
  EXPECT_TRUE(has("weir_workflow_executions{weir_state=\"suspended\"} 1\n"));
  EXPECT_TRUE(has("weir_workflow_executions{weir_state=\"waiting\"} 0\n"));
  EXPECT_TRUE(has("weir_workflow_leases_expired_total 0\n"));
  EXPECT_TRUE(has("weir_workflow_executions_removed_total 0\n"));
  EXPECT_TRUE(has("weir_workflow_audit_workflows_total 0\n"));
  EXPECT_TRUE(has("weir_workflow_commit_records_count"));
  ASSERT_TRUE(system.run(engine.close()));
  ASSERT_TRUE(system.run(store.close()));
  const auto commits = recorded.named("workflow.commit");
  ASSERT_FALSE(commits.empty());
  const auto* records = RecordedSpans::attribute(commits.front(), "workflow.records");
  ASSERT_NE(records, nullptr);
  EXPECT_GE(std::get<std::int64_t>(*records), 2);
}

}  // namespace
}  // namespace weir::flow::workflow
