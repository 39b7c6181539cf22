#include <weir/flow/workflow/workflow_context.hpp>

#include <chrono>
#include <stdexcept>

#include <gtest/gtest.h>

#include <weir/runtime/sleep.hpp>
#include <weir/runtime/when_all.hpp>
#include <weir/tests/flow/workflow/support/durable_fixture.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::buy;
using testing::DurableTest;
using testing::Lines;
using testing::Order;

TEST_F(DurableTest, I21ACrashBetweenStepsResumesAtTheNextStep) {
  start({.lease = 3s}, [&](Worker& worker) {
    worker.on("buy", [this](WorkflowContext ctx, Order o) { return buy(ctx, &effects, o); });
  });
  const ExecutionId id = begin_execution("buy", to_payload(Order{"tea", 300}));
  pass(1s);
  EXPECT_EQ(effects, (Lines{"charge tea"}));
  crash_all();
  EXPECT_EQ(finish(id).state, PublicState::completed);
  EXPECT_EQ(effects, (Lines{"charge tea", "ship tea"}));
}

TEST_F(DurableTest, ALongSleepTakesNoPlaceAndSurvivesRestarts) {
  start([&](Worker& worker) {
    worker.on("buy", [this](WorkflowContext ctx, Order o) { return buy(ctx, &effects, o); });
  });
  const Time from = time();
  const ExecutionId id = begin_execution("buy", to_payload(Order{"tea", 300}));
  pass(2s);
  EXPECT_EQ(describe(id).state, PublicState::delayed);
  EXPECT_EQ(report().running, 0U);
  EXPECT_EQ(report().put_off, 1U);
  crash_all();
  pass(from + 9s - time());
  EXPECT_EQ(describe(id).state, PublicState::delayed);
  EXPECT_EQ(finish(id).state, PublicState::completed);
  EXPECT_GE(time() - from, 10s);
  EXPECT_LT(time() - from, 11s);
  EXPECT_EQ(run(engine().attempts(id)).value().size(), 1U) << "sleeping is no failure";
}

TEST_F(DurableTest, AStaleWorkerCannotCommitAStep) {
  create();
  const Claimed slow = claim({.worker = "slow", .lease = 3s}).at(0);
  pass(4s);
  const Claimed quick = claim({.worker = "quick"}).at(0);
  EXPECT_EQ(run(engine().append_journal(slow.handle, 0, {{.name = "stale"}},
                                        std::make_shared<StorageStepCommit>(store().begin())))
                .error(),
            Errc::stale_lease);
  ASSERT_TRUE(run(engine().append_journal(quick.handle, 0, {{.name = "b", .number = 1}},
                                          std::make_shared<StorageStepCommit>(store().begin()))));
}

Task<int> two_steps(WorkflowContext ctx, std::string first, std::string second) {
  co_await ctx.step(first, [] {});
  co_await ctx.sleep(10s);
  co_await ctx.step(second, [] {});
  co_return 1;
}

TEST_F(DurableTest, AChangedCodePathIsNamed) {
  start([](Worker& worker) {
    worker.on("w", [](WorkflowContext ctx) { return two_steps(ctx, "charge", "ship"); });
  });
  const ExecutionId id = create({.kind = "w", .retry = {.retries_max = 0}});
  pass(1s);
  deploy([](Worker& worker) {
    worker.on("w", [](WorkflowContext ctx) { return two_steps(ctx, "ship", "charge"); });
  });
  const ExecutionInfo info = finish(id);
  EXPECT_EQ(info.state, PublicState::failed);
  EXPECT_NE(info.execution.end_reason.find("step 1: expected 'charge', found 'ship'"),
            std::string::npos)
      << info.execution.end_reason;
  // The code of before goes on where it was.
  ASSERT_TRUE(run(engine().replay(id)));
  deploy([](Worker& worker) {
    worker.on("w", [](WorkflowContext ctx) { return two_steps(ctx, "charge", "ship"); });
  });
  EXPECT_EQ(finish(id).state, PublicState::completed);
}

Task<int> only_one(WorkflowContext ctx) {
  co_await ctx.step("charge", [] {});
  co_return 1;
}
Task<int> other_type(WorkflowContext ctx) {
  const auto numbers = co_await ctx.step("charge", [] { return std::vector<int>{1}; });
  co_return numbers.at(0);
}

TEST_F(DurableTest, CodeThatEndsEarlierOrGivesAnotherTypeHasChanged) {
  for (const bool ends : {true, false}) {
    start([](Worker& worker) {
      worker.on("w", [](WorkflowContext ctx) { return two_steps(ctx, "charge", "ship"); });
    });
    const ExecutionId id = create({.kind = "w", .retry = {.retries_max = 0}});
    pass(1s);
    deploy([ends](Worker& worker) {
      if (ends) {
        worker.on("w", only_one);
      } else {
        worker.on("w", other_type);
      }
    });
    const ExecutionInfo info = finish(id);
    EXPECT_EQ(info.state, PublicState::failed);
    const std::string expected =
        ends ? "step 2: expected sleep, found the end" : "step 1, 'charge', gives another type";
    EXPECT_NE(info.execution.end_reason.find(expected), std::string::npos)
        << info.execution.end_reason;
    stop_worker();
  }
}

TEST_F(DurableTest, AStepIsTriedAgainAsItsPolicySaysAndThenFailsForGood) {
  int tries = 0;
  start([&](Worker& worker) {
    struct Code {
      static Task<std::string> run(WorkflowContext ctx, int* tries) {
        const StepOptions options{.retry = RetryPolicy::fixed(500ms, 2)};
        auto fails = [tries](int until) -> Result<int> {
          if (++*tries < until)
            return Error(weir::Errc::timed_out, "try " + std::to_string(*tries));
          return *tries;
        };
        const int at = co_await ctx.step("flaky", options, fails, 3);
        std::string caught;
        try {
          co_await ctx.step("hopeless", options, fails, 100);
        } catch (const ErrorException& failure) {
          EXPECT_EQ(failure.error(), Errc::step_failed);
          caught = failure.error().detail();
        }
        co_return std::to_string(at) + " " + caught;
      }
    };
    worker.on("w", [&tries](WorkflowContext ctx) { return Code::run(ctx, &tries); });
  });
  const ExecutionId id = begin_execution("w");
  EXPECT_EQ(finish(id).state, PublicState::completed);
  EXPECT_NE(result<std::string>(id).find("3 step 'hopeless'"), std::string::npos);
  EXPECT_NE(result<std::string>(id).find("try 6"), std::string::npos);
  EXPECT_EQ(tries, 6);
  EXPECT_EQ(names(id), (Lines{"step flaky", "step hopeless failed"}));
}

Task<> rest(Duration duration) { static_cast<void>(co_await sleep_for(duration)); }

TEST_F(DurableTest, AStepThatTakesTooLongHasFailed) {
  start([](Worker& worker) {
    struct Code {
      static Task<> run(WorkflowContext ctx) {
        const StepOptions options{.retry = {.retries_max = 0}, .timeout = 2s};
        co_await ctx.step("quick", options, [] { return rest(1s); });
        co_await ctx.step("slow", options, [] { return rest(10h); });
      }
    };
    worker.on("w", [](WorkflowContext ctx) { return Code::run(ctx); });
  });
  const ExecutionId id = begin_execution("w");
  const ExecutionInfo info = finish(id);
  EXPECT_EQ(info.state, PublicState::failed);
  EXPECT_NE(info.execution.end_reason.find("step 'slow'"), std::string::npos);
  EXPECT_EQ(run(engine().attempts(id)).value().size(), 1U) << "a failed coroutine is not retried";
}

Task<std::string> draws(WorkflowContext ctx, Lines* seen) {
  const std::string drawn = std::to_string(ctx.now().time_since_epoch().count()) + " " +
                            std::to_string(ctx.random()) + " " + to_string(ctx.uuid());
  seen->push_back(drawn);
  co_await ctx.sleep(10s);
  co_return drawn;
}

TEST_F(DurableTest, TimeAndChanceAreTheSameWhenItIsRunAgain) {
  start([&](Worker& worker) {
    worker.on("w", [this](WorkflowContext ctx) { return draws(ctx, &effects); });
  });
  const ExecutionId id = begin_execution("w");
  pass(2s);
  crash_all();
  finish(id);
  ASSERT_EQ(effects.size(), 2U);
  EXPECT_EQ(effects[0], effects[1]);
  EXPECT_EQ(result<std::string>(id), effects[0]);
}

Task<std::string> side_by_side(WorkflowContext ctx, Lines* effects) {
  auto act = [effects](std::string what, Duration duration) -> Task<Result<std::string>> {
    effects->push_back(what);
    return [](std::string done, Duration rests) -> Task<Result<std::string>> {
      co_await rest(rests);
      co_return done;
    }(what, duration);
  };
  auto [a, b] = co_await when_all(ctx.step("a", act, std::string("a"), Duration(2s)),
                                  ctx.step("b", act, std::string("b"), Duration(1s)));
  co_await ctx.sleep(5s);
  co_return a + b;
}

TEST_F(DurableTest, StepsSideBySideAreFoundAgainWhicheverEndedFirst) {
  start([&](Worker& worker) {
    worker.on("w", [this](WorkflowContext ctx) { return side_by_side(ctx, &effects); });
  });
  const ExecutionId id = begin_execution("w");
  pass(1500ms);
  EXPECT_EQ(names(id), (Lines{"step b"}));
  crash_all();
  EXPECT_EQ(finish(id, 2min).state, PublicState::completed);
  EXPECT_EQ(result<std::string>(id), "ab");
  EXPECT_EQ(effects, (Lines{"a", "b", "a"}));
}

TEST_F(DurableTest, StoppingGivesBackAtTheNextStep) {
  start([&](Worker& worker) {
    worker.on("w", [this](WorkflowContext ctx) -> Task<std::string> {
      return side_by_side(ctx, &effects);
    });
  });
  const ExecutionId id = begin_execution("w");
  pass(500ms);
  stop_worker();
  pass(1s);
  EXPECT_EQ(names(id), (Lines{"step b", "step a"})) << "what was begun is finished";
  EXPECT_EQ(describe(id).state, PublicState::waiting);
  start([&](Worker& worker) {
    worker.on("w", [this](WorkflowContext ctx) { return side_by_side(ctx, &effects); });
  });
  EXPECT_EQ(finish(id).state, PublicState::completed);
  EXPECT_EQ(effects, (Lines{"a", "b"}));
}

}  // namespace
}  // namespace weir::flow::workflow
