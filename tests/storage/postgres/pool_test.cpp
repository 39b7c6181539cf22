#include <weir/storage/postgres/pool.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <weir/runtime/task_scope.hpp>
#include <weir/telemetry/telemetry.hpp>
#include <weir/tests/storage/postgres/support/postgres_fixture.hpp>

namespace weir::storage::postgres::test {
namespace {

using namespace std::chrono_literals;

class PoolTest : public PostgresTest {};

TEST_F(PoolTest, SpreadsCallsOverItsConnections) {
  Options four = options();
  four.connections = 4;
  const Pool pool = open(four);
  // Each waits until all are there, so that each needs a connection of its own.
  server().execute("create table test.here (pid int8)");
  struct Meeting {
    static Task<> come(Pool pool, std::vector<std::int64_t>* pids) {
      Batch batch;
      batch.emplace_back("insert into here values (pg_backend_pid())");
      auto came = co_await pool.execute(std::move(batch));
      EXPECT_TRUE(came) << came.error().message();
      auto rows = co_await pool.execute(Statement("select pg_backend_pid()::int8, pg_sleep(0.05)"));
      EXPECT_TRUE(rows) << rows.error().message();
      if (rows) pids->push_back(*(*rows)[0].get<std::int64_t>(0));
    }
    static Task<std::vector<std::int64_t>> all(Pool pool) {
      std::vector<std::int64_t> pids;
      TaskScope scope;
      for (int count = 0; count < 8; ++count) scope.spawn(come(pool, &pids));
      co_await scope.join();
      co_return pids;
    }
  };
  weir::testing::eventually("four connections", [&] { return pool.health().connected == 4; });
  std::map<std::int64_t, int> calls;
  for (const std::int64_t pid : run(Meeting::all(pool))) ++calls[pid];
  EXPECT_EQ(calls.size(), 4U);
  for (const auto& [pid, count] : calls) EXPECT_EQ(count, 2) << pid;
}

TEST_F(PoolTest, OptionsThatMakeNoSenseAreRefusedByName) {
  const auto refusal = [&](auto change) {
    Options bad = options();
    change(bad);
    const auto pool = Pool::open(system, bad);
    EXPECT_EQ(pool.error(), Errc::invalid_argument);
    return pool.error().detail();
  };
  EXPECT_EQ(refusal([](Options& o) { o.connections = 0; }), "Options::connections is 0");
  EXPECT_EQ(refusal([](Options& o) { o.pipeline_depth_max = 0; }),
            "Options::pipeline_depth_max is 0");
  EXPECT_EQ(refusal([](Options& o) { o.call_timeout = -1ns; }), "Options::call_timeout is -1");
  EXPECT_EQ(refusal([](Options& o) { o.hang_grace = forever; }),
            "Options::hang_grace is " + std::to_string(forever.count()));
  EXPECT_NE(refusal([](Options& o) { o.connection = "hots=x"; }).find("hots"), std::string::npos);
}

TEST_F(PoolTest, ConnectsToAHostByName) {
  Options named = options();
  // Nobody listens there, so that what comes back is the refusal of the address that was found.
  named.connection = "host=localhost port=1 user=postgres connect_timeout=1";
  named.reconnect_budget = 1ms;
  const Pool pool = open(named);
  weir::testing::eventually("a refusal", [&] { return !pool.health().last_error.empty(); });
  const auto result = run(pool.execute("select 1"));
  EXPECT_EQ(result.error(), Errc::unavailable);
  EXPECT_NE(result.error().detail().find("127.0.0.1"), std::string::npos)
      << result.error().message();
}

TEST_F(PoolTest, CallsBeyondTheQueueAreRefused) {
  Options narrow = options();
  narrow.connections = 1;
  narrow.pipeline_depth_max = 1;
  narrow.queue_max = 2;
  const Pool pool = open(narrow);
  struct Crowd {
    static Task<> call(Pool pool, std::vector<Error>* errors) {
      auto done = co_await pool.execute(Statement("select 1"));
      errors->push_back(done.error());
    }
    static Task<std::vector<Error>> come(Pool pool) {
      // The connection is taken as long as the transaction lasts.
      auto transaction = co_await pool.begin(Isolation::read_committed);
      EXPECT_TRUE(transaction);
      std::vector<Error> errors;
      TaskScope scope;
      for (int count = 0; count < 5; ++count) scope.spawn(call(pool, &errors));
      while (errors.size() < 3) co_await yield();
      EXPECT_TRUE(co_await transaction->rollback());
      co_await scope.join();
      co_return errors;
    }
  };
  int refused = 0;
  for (const Error& error : run(Crowd::come(pool))) {
    if (error == Errc::overloaded) ++refused;
  }
  EXPECT_EQ(refused, 3);
}

TEST_F(PoolTest, ACancelledCallerIsLetGoAndItsStatementIsNotSent) {
  server().execute("create table test.marks (id int8)");
  Options one = options();
  one.connections = 1;
  const Pool pool = open(one);
  struct Caller {
    static Task<> call(Pool pool, Error* error) {
      auto done = co_await pool.execute(Statement("insert into marks values (1)"));
      *error = done.error();
    }
    static Task<Error> cancelled(Pool pool) {
      auto transaction = co_await pool.begin(Isolation::read_committed);
      Error error;
      TaskScope scope;
      scope.spawn(call(pool, &error));
      scope.cancel_all();
      co_await scope.join();
      EXPECT_TRUE(co_await transaction->commit());
      co_return error;
    }
  };
  EXPECT_EQ(run(Caller::cancelled(pool)), weir::Errc::cancelled);
  EXPECT_EQ(value_of<std::int64_t>(pool, "select count(*) from marks"), 0);
}

TEST_F(PoolTest, ClosingEndsCallsThatWaitAndRefusesLaterOnes) {
  Options one = options();
  one.connections = 1;
  const Pool pool = open(one);
  struct Closing {
    static Task<> call(Pool pool, const char* text, Error* error) {
      auto done = co_await pool.execute(Statement(text));
      *error = done.error();
    }
    static Task<std::vector<Error>> run(Pool pool) {
      auto first = co_await pool.execute(Statement("select 1"));
      EXPECT_TRUE(first);
      std::vector<Error> errors(2);
      TaskScope scope;
      scope.spawn(call(pool, "select pg_sleep(3600)", &errors[0]));
      while (pool.health().in_flight == 0) co_await yield();
      pool.close();
      co_await scope.join();
      auto later = co_await pool.execute(Statement("select 1"));
      errors[1] = later.error();
      co_return errors;
    }
  };
  for (const Error& error : run(Closing::run(pool))) EXPECT_EQ(error, Errc::closed);
}

TEST_F(PoolTest, MeasuresItself) {
  telemetry::TelemetryOptions measuring;
  measuring.measures_always = true;
  telemetry::Telemetry telemetry(measuring, {});
  ActorSystemOptions with = weir::testing::quiet();
  with.telemetry = &telemetry;
  ActorSystem measured(with);
  Options named = options();
  named.name = "jobs";
  const Pool pool = *Pool::open(measured, named);
  for (int count = 0; count < 3; ++count) ASSERT_TRUE(measured.run(pool.execute("select 1")));
  EXPECT_EQ(measured.run(pool.execute("select 1 / 0")).error(), Errc::rejected);
  // Who has called is answered first.
  while (pool.health().in_flight > 0) std::this_thread::yield();
  std::map<std::string, double> values;
  for (const telemetry::MetricRecord& record : telemetry.collect()) {
    if (record.name.rfind("weir.postgres.", 0) != 0) continue;
    for (const auto& point : record.points) {
      std::string name = record.name;
      for (const auto& attribute : point.attributes) {
        name += " " + std::get<std::string>(attribute.value);
      }
      const auto* histogram = std::get_if<telemetry::HistogramPoint>(&point.value);
      const auto* sum = std::get_if<telemetry::SumPoint>(&point.value);
      values[name] = histogram ? static_cast<double>(histogram->count) : sum ? sum->value : -1;
    }
  }
  EXPECT_EQ(values["weir.postgres.call.duration ok jobs"], 3);
  EXPECT_EQ(values["weir.postgres.call.duration rejected jobs"], 1);
  EXPECT_EQ(values["weir.postgres.in_flight jobs"], 0);
  EXPECT_EQ(values["weir.postgres.queued jobs"], 0);
  EXPECT_EQ(values["weir.postgres.reconnects jobs"], 0);
  EXPECT_GE(values["weir.postgres.connections jobs"], 1);
}

TEST_F(PoolTest, ThereIsNoDatabaseUnderSimulation) {
  Simulation simulation;
  Options quick = options();
  const Pool pool = *Pool::open(simulation.system(), quick);
  const auto result = simulation.system().run(pool.execute("select 1"));
  EXPECT_EQ(result.error(), Errc::unavailable);
  EXPECT_NE(result.error().detail().find("simulation"), std::string::npos)
      << result.error().message();
}

}  // namespace
}  // namespace weir::storage::postgres::test
