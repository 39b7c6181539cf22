// An execution belongs to the trace of whoever asked for it, wherever and whenever it runs.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/workflow/schedules.hpp>
#include <weir/flow/workflow/workflow_context.hpp>
#include <weir/runtime/span.hpp>
#include <weir/tests/flow/workflow/support/worker_fixture.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using telemetry::AttributeValue;
using telemetry::SpanRecord;
using telemetry::SpanStatus;
using weir::testing::RecordedSpans;

Task<std::string> check_out(WorkflowContext ctx) {
  const auto nothing = [] {};
  co_await ctx.step("charge", nothing);
  const auto offer = ctx.child<std::string>("offer", std::string("anna"));
  const std::string courier = co_await ctx.result(offer);
  co_await ctx.signal<std::string>("packed");
  co_await ctx.sleep(5s);
  co_await ctx.step("ship", nothing);
  co_return courier;
}

Task<> go_away(WorkflowContext ctx) {
  const auto nothing = [] {};
  co_await ctx.step("book", nothing);
  ctx.compensate("unbook", nothing);
  co_await ctx.signal<std::string>("go");
}

Result<std::string> fail_once(const Claimed& claimed) {
  if (claimed.handle.attempt == 0) return Error(Errc::unavailable, "the bank is closed");
  return claimed.spec.payload;
}

Task<Result<Created>> ask_in_span(const Engine* engine, NewExecution request) {
  const Span asking = remote_span("order", {});
  co_return co_await engine->create_execution(std::move(request));
}

Task<Result<CreatedGraph>> ask_for_graph(const Engine* engine, NewGraph graph) {
  const Span asking = remote_span("order", {});
  co_return co_await engine->create_graph(std::move(graph));
}

/// Members that are there before the system, which uses them.
struct Recording {
  RecordedSpans spans;
};

class TraceTest : public Recording, public testing::WorkerTest {
 protected:
  telemetry::Telemetry* telemetry() override { return spans.telemetry(); }

  void start_worker() {
    start({.lease = 3s}, [](Worker& worker) {
      worker.on("checkout", check_out);
      worker.on("travel", go_away);
      worker.on("offer", [](std::string courier) { return courier; });
      worker.on("retried", fail_once);
    });
  }
  ExecutionId order(NewExecution request) {
    return run(ask_in_span(&engine(), std::move(request))).value().id;
  }
  template <class Predicate>
  void wait_until(const char* what, Predicate predicate) {
    weir::testing::eventually(what, [&] {
      if (predicate()) return true;
      give_way();
      return false;
    });
  }
  void wait_until_it_waits(const ExecutionId& id) {
    wait_until("the signal", [&] { return state_of(id) == PublicState::suspended; });
  }
  void approve(const ExecutionId& id, std::string waitpoint) {
    run(engine().approve({.execution = id,
                          .waitpoint = std::move(waitpoint),
                          .payload = to_payload(std::string("yes"))}))
        .value();
  }
  /// Each is of that trace, and below the only one of that name, or one of them.
  void expect_below(const std::string& name, std::size_t count, const std::string& above) {
    const auto parents = spans.named(above);
    const auto found = spans.named(name);
    EXPECT_EQ(found.size(), count) << name;
    for (const SpanRecord& span : found) {
      const bool has_parent = std::ranges::any_of(parents, [&](const SpanRecord& parent) {
        return parent.context.span == span.parent && parent.context.trace == span.context.trace;
      });
      EXPECT_TRUE(has_parent) << name << " is not below " << above;
    }
  }
  static std::string text(const SpanRecord& span, std::string_view name) {
    const AttributeValue* value = RecordedSpans::attribute(span, name);
    const auto* held = value != nullptr ? std::get_if<std::string>(value) : nullptr;
    return held != nullptr ? *held : "none";
  }
};

TEST_F(TraceTest, OneTraceHasAnOrderAndAllThatBecameOfItAcrossARestart) {
  start_worker();
  const ExecutionId id = order({.kind = "checkout"});
  wait_until_it_waits(id);
  // Another process, which knows nothing but what was stored.
  stop_worker();
  reopen();
  start_worker();
  approve(id, "packed");
  ASSERT_EQ(finish(id).state, PublicState::completed);
  stop_worker();
  const SpanRecord asked = spans.one("order");
  EXPECT_EQ(describe(id).spec.trace.trace, asked.context.trace);
  EXPECT_EQ(describe(id).spec.trace.span, asked.context.span);
  // Up to the signal, up to the sleep, and to the end.
  expect_below("workflow.attempt.checkout", 3, "order");
  expect_below("workflow.step.charge", 1, "workflow.attempt.checkout");
  expect_below("workflow.attempt.offer", 1, "workflow.attempt.checkout");
  expect_below("workflow.step.ship", 1, "workflow.attempt.checkout");
}

TEST_F(TraceTest, AnAttemptSaysWhatItIsAndIsLinkedToItsCause) {
  start_worker();
  const ExecutionId id = order({.kind = "offer", .payload = to_payload(std::string("bert"))});
  finish(id);
  stop_worker();
  const SpanRecord attempt = spans.one("workflow.attempt.offer");
  EXPECT_EQ(text(attempt, "workflow.execution"), to_string(id));
  EXPECT_EQ(text(attempt, "workflow.kind"), "offer");
  EXPECT_EQ(text(attempt, "workflow.lane"), "default");
  EXPECT_EQ(text(attempt, "workflow.attempt.kind"), "initial");
  EXPECT_EQ(attempt.status, SpanStatus::unset);
  ASSERT_EQ(attempt.links.size(), 1u);
  EXPECT_EQ(attempt.links[0].context.span, spans.one("order").context.span);
}

TEST_F(TraceTest, AttemptsThatFailSaySoAndTheNextOneIsOfTheSameTrace) {
  start_worker();
  const ExecutionId id = order({.kind = "retried", .retry = {.retries_max = 1, .backoff = 1s}});
  ASSERT_EQ(finish(id).state, PublicState::completed);
  stop_worker();
  expect_below("workflow.attempt.retried", 2, "order");
  auto attempts = spans.named("workflow.attempt.retried");
  std::ranges::sort(attempts, {}, &SpanRecord::begin);
  EXPECT_EQ(attempts.at(0).status, SpanStatus::error);
  EXPECT_NE(attempts.at(0).status_message.find("the bank is closed"), std::string::npos);
  EXPECT_EQ(attempts.at(1).status, SpanStatus::unset);
  EXPECT_EQ(text(attempts.at(1), "workflow.attempt.kind"), "retry");
}

TEST_F(TraceTest, WhatUndoesAnExecutionIsOfItsTrace) {
  start_worker();
  const ExecutionId id = order({.kind = "travel"});
  wait_until_it_waits(id);
  ASSERT_TRUE(run(engine().cancel(id)).value());
  const ExecutionId undo = run(engine().undo_of(id)).value().value();
  finish(undo);
  stop_worker();
  expect_below("workflow.attempt.weir.undo", 1, "order");
  expect_below("workflow.compensation.unbook", 1, "workflow.attempt.weir.undo");
}

TEST_F(TraceTest, ExecutionsOfAGraphAreOfTheTraceOfWhoAskedForIt) {
  start_worker();
  NewExecution work{.kind = "offer", .payload = to_payload(std::string("carl"))};
  const auto made =
      run(ask_for_graph(&engine(), {.executions = {work, work}, .edges = {{0, 1}}})).value();
  finish(made.executions.at(1));
  stop_worker();
  expect_below("workflow.attempt.offer", 2, "order");
}

TEST_F(TraceTest, ATraceBeginsEachTimeThatAScheduleIsDue) {
  start_worker();
  run(start_schedule(&engine(), {.name = "nightly",
                                 .cron = "* * * * *",
                                 .kind = "offer",
                                 .payload = to_payload(std::string("emil"))}))
      .value();
  wait_until("the second time", [&] {
    pass(10s);
    return spans.named("workflow.attempt.offer").size() >= 2;
  });
  stop_worker();
  // On a busy machine some are late, and come together.
  expect_below("workflow.attempt.offer", spans.named("workflow.attempt.offer").size(),
               "workflow.schedule");
  const auto begun = spans.named("workflow.schedule");
  ASSERT_GE(begun.size(), 2u);
  EXPECT_NE(begun[0].context.trace, begun[1].context.trace);
  ASSERT_EQ(begun[0].links.size(), 1u);
  EXPECT_EQ(begun[0].links[0].context.trace, spans.one("workflow.create").context.trace);
}

TEST_F(TraceTest, ATraceBeginsWithWhatIsAskedForOutsideOfHandlers) {
  start_worker();
  finish(begin_execution("offer", to_payload(std::string("dora"))));
  stop_worker();
  expect_below("workflow.attempt.offer", 1, "workflow.create");
}

TEST_F(TraceTest, OfWhatNobodyRecordedNothingIsRecorded) {
  start_worker();
  const ExecutionId id = order({.kind = "checkout", .trace = telemetry::TraceContext()});
  wait_until_it_waits(id);
  approve(id, "packed");
  ASSERT_EQ(finish(id).state, PublicState::completed);
  stop_worker();
  EXPECT_FALSE(describe(id).spec.trace.is_valid());
  for (const SpanRecord& span : spans.all())
    EXPECT_FALSE(span.name.starts_with("workflow.attempt"));
  EXPECT_TRUE(spans.named("workflow.step.charge").empty());
}

TEST_F(TraceTest, WhoAsksAgainInAnotherTraceGetsTheSameExecution) {
  const ExecutionId id = order({.kind = "offer", .idempotency_key = "k"});
  const telemetry::TraceContext first = describe(id).spec.trace;
  EXPECT_TRUE(first.is_valid());
  EXPECT_EQ(order({.kind = "offer", .idempotency_key = "k"}), id);
  EXPECT_EQ(describe(id).spec.trace.span, first.span);
}

}  // namespace
}  // namespace weir::flow::workflow
