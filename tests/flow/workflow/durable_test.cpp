// What durable coroutines promise, on whichever store.
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
using testing::closed_door;
using testing::Door;
using testing::DurableTest;
using testing::Lines;
using testing::Order;
using testing::patient_options;

TEST_F(DurableTest, I21ACrashBetweenStepsResumesAtTheNextStep) {
  start(patient_options(), [&](Worker& worker) {
    worker.on("buy", [this](WorkflowContext ctx, Order o) { return buy(ctx, &effects, o); });
  });
  const ExecutionId id = begin_execution("buy", to_payload(Order{"tea", 300}));
  let_work(id);
  EXPECT_EQ(effects, (Lines{"charge tea"}));
  crash_all();
  EXPECT_EQ(sleep_through(id).state, PublicState::completed);
  EXPECT_EQ(effects, (Lines{"charge tea", "ship tea"}));
}

TEST_F(DurableTest, ALongSleepTakesNoPlaceAndSurvivesRestarts) {
  start(patient_options(), [&](Worker& worker) {
    worker.on("buy", [this](WorkflowContext ctx, Order o) { return buy(ctx, &effects, o); });
  });
  const Time from = time();
  const ExecutionId id = begin_execution("buy", to_payload(Order{"tea", 300}));
  EXPECT_EQ(let_work(id).state, PublicState::delayed);
  wait_until("its place", [&] { return report().running == 0; });
  EXPECT_EQ(report().put_off, 1U);
  crash_all();
  leap(from + 9s - time());
  EXPECT_EQ(let_work(id).state, PublicState::delayed);
  EXPECT_EQ(sleep_through(id).state, PublicState::completed);
  EXPECT_GE(time() - from, 10s);
  EXPECT_LT(time() - from, 11s);
  EXPECT_EQ(run(engine().attempts(id)).value().size(), 1U) << "sleeping is no failure";
}

Task<int> two_steps(WorkflowContext ctx, std::string first, std::string second) {
  co_await ctx.step(first, [] {});
  co_await ctx.sleep(10s);
  co_await ctx.step(second, [] {});
  co_return 1;
}

TEST_F(DurableTest, AChangedCodePathIsNamed) {
  start(patient_options(), [](Worker& worker) {
    worker.on("w", [](WorkflowContext ctx) { return two_steps(ctx, "charge", "ship"); });
  });
  const ExecutionId id = create({.kind = "w", .retry = {.retries_max = 0}});
  let_work(id);
  deploy([](Worker& worker) {
    worker.on("w", [](WorkflowContext ctx) { return two_steps(ctx, "ship", "charge"); });
  });
  const ExecutionInfo info = sleep_through(id);
  EXPECT_EQ(info.state, PublicState::failed);
  EXPECT_NE(info.execution.end_reason.find("step 1: expected 'charge', found 'ship'"),
            std::string::npos)
      << info.execution.end_reason;
  // The code of before goes on where it was.
  ASSERT_TRUE(run(engine().replay(id)));
  deploy([](Worker& worker) {
    worker.on("w", [](WorkflowContext ctx) { return two_steps(ctx, "charge", "ship"); });
  });
  EXPECT_EQ(sleep_through(id).state, PublicState::completed);
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
    start(patient_options(), [](Worker& worker) {
      worker.on("w", [](WorkflowContext ctx) { return two_steps(ctx, "charge", "ship"); });
    });
    const ExecutionId id = create({.kind = "w", .retry = {.retries_max = 0}});
    let_work(id);
    deploy([ends](Worker& worker) {
      if (ends) {
        worker.on("w", only_one);
      } else {
        worker.on("w", other_type);
      }
    });
    const ExecutionInfo info = sleep_through(id);
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
        const StepOptions options{.retry = RetryPolicy::fixed(10ms, 2)};
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
  EXPECT_EQ(let_work(id).state, PublicState::completed);
  EXPECT_NE(result<std::string>(id).find("3 step 'hopeless'"), std::string::npos);
  EXPECT_NE(result<std::string>(id).find("try 6"), std::string::npos);
  EXPECT_EQ(tries, 6);
  EXPECT_EQ(names(id), (Lines{"step flaky", "step hopeless failed"}));
}

Task<> take_long() { static_cast<void>(co_await sleep_for(10h)); }
Task<> take_a_moment() { co_await yield(); }

TEST_F(DurableTest, AStepThatTakesTooLongHasFailed) {
  start([](Worker& worker) {
    struct Code {
      static StepOptions within(Duration time) {
        return {.retry = {.retries_max = 0}, .timeout = time};
      }
      static Task<> run(WorkflowContext ctx) {
        co_await ctx.step("quick", within(1h), [] { return take_a_moment(); });
        co_await ctx.step("slow", within(20ms), [] { return take_long(); });
      }
    };
    worker.on("w", [](WorkflowContext ctx) { return Code::run(ctx); });
  });
  const ExecutionId id = begin_execution("w");
  const ExecutionInfo info = let_work(id);
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
  start(patient_options(), [&](Worker& worker) {
    worker.on("w", [this](WorkflowContext ctx) { return draws(ctx, &effects); });
  });
  const ExecutionId id = begin_execution("w");
  let_work(id);
  crash_all();
  sleep_through(id);
  ASSERT_EQ(effects.size(), 2U);
  EXPECT_EQ(effects[0], effects[1]);
  EXPECT_EQ(result<std::string>(id), effects[0]);
}

/// Two steps, each of which ends when its door is opened.
struct Doors {
  Door begun = closed_door();  // as many as have begun
  Door a = closed_door();
  Door b = closed_door();
};

Task<std::string> side_by_side(WorkflowContext ctx, Lines* effects, Doors doors) {
  auto act = [effects, begun = doors.begun](std::string what,
                                            Door until) -> Task<Result<std::string>> {
    effects->push_back(what);
    begun->publish(begun->published() + 1);
    return [](std::string done, Door door) -> Task<Result<std::string>> {
      co_await testing::wait_at(door);
      co_return done;
    }(what, std::move(until));
  };
  auto [a, b] = co_await when_all(ctx.step("a", act, std::string("a"), doors.a),
                                  ctx.step("b", act, std::string("b"), doors.b));
  co_await ctx.sleep(5s);
  co_return a + b;
}

class SideBySideTest : public DurableTest {
 protected:
  void start_both(WorkerOptions options) {
    start(std::move(options), [this](Worker& worker) {
      worker.on("w", [this](WorkflowContext ctx) { return side_by_side(ctx, &effects, doors); });
    });
  }
  Doors doors;
};

TEST_F(SideBySideTest, StepsAreFoundAgainWhicheverEndedFirst) {
  start_both(patient_options());
  const ExecutionId id = begin_execution("w");
  doors.b->publish(1);
  wait_until("one of both", [&] { return names(id) == Lines{"step b"}; });
  crash_all();
  doors.a->publish(1);
  leap(4s);
  EXPECT_EQ(sleep_through(id).state, PublicState::completed);
  EXPECT_EQ(result<std::string>(id), "ab");
  EXPECT_EQ(effects, (Lines{"a", "b", "a"}));
}

TEST_F(SideBySideTest, StoppingGivesBackAtTheNextStep) {
  WorkerOptions lasting = patient_options();
  lasting.executions_max = 1;
  lasting.drain_max = 1h;
  start_both(lasting);
  const ExecutionId id = begin_execution("w");
  wait_until("both", [&] { return doors.begun->published() == 2; });
  doors.b->publish(1);
  wait_until("one of both", [&] { return names(id) == Lines{"step b"}; });
  stop_worker_and_open(doors.a);
  EXPECT_EQ(names(id), (Lines{"step b", "step a"})) << "what was begun is finished";
  wait_for_state(id, PublicState::waiting);
  start_both(patient_options());
  EXPECT_EQ(sleep_through(id).state, PublicState::completed);
  EXPECT_EQ(effects, (Lines{"a", "b"}));
}

}  // namespace
}  // namespace weir::flow::workflow
