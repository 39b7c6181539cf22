// Workers whose database goes away at the wrong moment; and waiters who are woken by time alone.
#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/workflow/worker.hpp>
#include <weir/tests/flow/workflow/postgres/support/store_fixture.hpp>

namespace weir::flow::workflow::postgres::test {
namespace {

using namespace std::chrono_literals;

Task<int> one_step(WorkflowContext ctx) {
  co_return co_await ctx.step("one", [] { return 1; });
}

class WorkerLossTest : public StoreTest {
 protected:
  /// The first time that an execution ends, the connection is lost instead.
  void lose_first_end() {
    execute(
        "create sequence ends; create function lose() returns trigger language plpgsql as $$"
        " begin if new.phase = 'terminal' and nextval('test.ends') = 1 then"
        " perform pg_terminate_backend(pg_backend_pid()); end if; return new; end $$;"
        " create trigger lose before update on workflow_executions"
        " for each row execute function lose()");
  }
  void wait_for_end(const Engine& engine, const ExecutionId& id) {
    weir::testing::eventually("the end", [&] {
      const auto info = run(engine.describe(id));
      return info && (*info)->execution.has_ended();
    });
  }
};

TEST_F(WorkerLossTest, AResultThatCouldNotBeToldIsNoFailure) {
  Options hasty = options_for(server());
  hasty.losses_max = 1;
  hasty.poll = 20ms;
  const Engine engine = run(postgres::open(&system(), hasty)).value();
  for (const char* kind : {"plain", "durable"}) {
    lose_first_end();
    Worker worker(&engine, {.lease = 200ms});
    worker.on("plain", [](std::string) { return 1; });
    worker.on("durable", one_step);
    worker.start();
    const ExecutionId id = run(engine.create_execution({.kind = kind})).value().id;
    wait_for_end(engine, id);
    const ExecutionInfo info = *run(engine.describe(id)).value();
    EXPECT_EQ(info.state, PublicState::completed) << kind << ": " << info.execution.end_reason;
    EXPECT_EQ(query("select last_value from ends"), "2") << "it was not lost";
    ASSERT_TRUE(run(worker.stop()));
    execute("drop function lose cascade; drop sequence ends");
  }
}

TEST_F(WorkerLossTest, AWorkerGoesOnAfterOthersWereAlwaysFaster) {
  const Engine engine = open();
  execute(
      "create sequence tries; create function collide() returns trigger language plpgsql as $$"
      " begin if nextval('test.tries') <= 3 then raise exception using errcode = '40001'; end if;"
      " return null; end $$;"
      " create trigger collide after update on workflow_executions execute function collide()");
  Worker worker(&engine);
  worker.on("plain", [](std::string) { return 1; });
  worker.start();
  const ExecutionId id = run(engine.create_execution({.kind = "plain"})).value().id;
  wait_for_end(engine, id);
  EXPECT_GT(std::stoi(query("select last_value from tries")), 3) << "nobody was faster";
  ASSERT_TRUE(run(worker.stop()));
}

class WaiterTest : public StoreTest {
 protected:
  /// Nobody looks for himself before the test is over.
  Engine open_patient() {
    Options patient = options_for(server());
    patient.poll = 10min;
    return run(postgres::open(&system(), patient)).value();
  }
  /// When each was claimed, by the clock of the database.
  std::vector<Time> claim_all(const Engine& engine, std::size_t count) {
    std::vector<Time> times;
    while (times.size() < count) {
      for (const Claimed& one : run(engine.next({.worker = "w", .lease = 1h})).value()) {
        times.push_back(
            run(engine.describe(one.handle.execution)).value()->execution.lease->acquired_at);
      }
    }
    return times;
  }
};

TEST_F(WaiterTest, WhoWaitsForTheRateOfALaneIsWokenByTime) {
  const Engine engine = open_patient();
  ASSERT_TRUE(run(engine.set_lane_rate("default", Rate{.count = 1, .per = 100ms})));
  for (int i = 0; i < 4; ++i) run(engine.create_execution({.kind = "work"})).value();
  const auto times = claim_all(engine, 4);
  for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GE(times[i] - times[i - 1], 99ms) << i;
}

TEST_F(WaiterTest, WhoWaitsForTheRateOfAKeyIsWokenByTime) {
  const Engine engine = open_patient();
  ASSERT_TRUE(run(engine.set_limit("c:*", std::nullopt, Rate{.count = 1, .per = 100ms})));
  for (int i = 0; i < 3; ++i) {
    run(engine.create_execution({.kind = "work", .limit_keys = {"c:1"}})).value();
  }
  const auto times = claim_all(engine, 3);
  for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GE(times[i] - times[i - 1], 99ms) << i;
}

Task<> end_while_waited_for(const Engine* waits, const Engine* ends) {
  auto made = co_await ends->create_execution({.kind = "work"});
  bool has_ended = false;
  TaskScope scope;
  scope.spawn([](const Engine* engine, ExecutionId id, bool* seen) -> Task<> {
    auto ended = co_await engine->wait_for_end({id});
    EXPECT_TRUE(ended) << ended.error().message();
    *seen = true;
  }(waits, made.value().id, &has_ended));
  // Until it has looked, and found that it has not.
  static_cast<void>(co_await waits->lane("default"));
  EXPECT_FALSE(has_ended);
  EXPECT_TRUE(co_await ends->cancel(made.value().id));
  co_await scope.join();
}

TEST_F(WaiterTest, WhoWaitsForAnEndIsToldOfItByWhicheverEngine) {
  const Engine one = open_patient();
  const Engine other = open_patient();
  run(end_while_waited_for(&one, &one));
  run(end_while_waited_for(&one, &other));
}

Task<> free_while_waited_for(const Engine* waits, const Engine* frees) {
  for (int i = 0; i < 2; ++i) {
    auto made = co_await frees->create_execution({.kind = "work", .limit_keys = {"bank"}});
    EXPECT_TRUE(made) << made.error().message();
  }
  const auto first = co_await frees->claim({.worker = "w"});
  const Handle handle = first.value().at(0).handle;
  ExecutionId taken;
  TaskScope scope;
  scope.spawn(take(waits, &taken));
  // Until it has looked, and found nothing that it may have.
  static_cast<void>(co_await waits->lane("default"));
  EXPECT_EQ(taken, ExecutionId{});
  EXPECT_TRUE(co_await frees->complete(handle));
  co_await scope.join();
  EXPECT_NE(taken, ExecutionId{});
}

TEST_F(WaiterTest, WhoWaitsForAPlaceUnderAKeyIsWokenByWhicheverEngineFreesIt) {
  const Engine one = open_patient();
  const Engine other = open_patient();
  ASSERT_TRUE(run(one.set_limit("bank", 1)));
  run(free_while_waited_for(&one, &other));
}

Task<> sleep_a_little(WorkflowContext ctx) { co_await ctx.sleep(50ms); }

/// A database whose clock is not that of this machine.
class ClockTest : public StoreTest {
 protected:
  Engine open_with_clock(const std::string& ahead) {
    execute(
        "create function test.now() returns timestamptz language sql stable as"
        " $$ select pg_catalog.now() + interval '" +
        ahead +
        "' $$;"
        " create function test.clock_timestamp() returns timestamptz language sql volatile as"
        " $$ select pg_catalog.clock_timestamp() + interval '" +
        ahead + "' $$");
    Options options = options_for(server(), "test,pg_catalog");
    return run(postgres::open(&system(), options)).value();
  }
};

TEST_F(ClockTest, TimeIsThatOfTheDatabase) {
  for (const char* ahead : {"-1 hour", "1 hour"}) {
    drop_schema(server());
    const Engine engine = open_with_clock(ahead);
    const Time there = run(now_of(&engine));
    EXPECT_LT(std::chrono::abs(engine.time() - there), 10min) << ahead;
    Worker worker(&engine, {.memory_wait_max = Duration::zero()});
    worker.on("sleep", &sleep_a_little);
    worker.start();
    const ExecutionId id = run(engine.create_execution({.kind = "sleep"})).value().id;
    weir::testing::eventually("the end of a sleep", [&] {
      return run(engine.describe(id)).value()->execution.has_ended();
    });
    const Execution execution = run(engine.describe(id)).value()->execution;
    EXPECT_GE(*execution.ended_at - there, 50ms) << ahead;
    ASSERT_TRUE(run(worker.stop()));
  }
}

}  // namespace
}  // namespace weir::flow::workflow::postgres::test
