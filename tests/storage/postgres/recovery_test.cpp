#include <weir/storage/postgres/pool.hpp>

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <weir/runtime/task_scope.hpp>
#include <weir/tests/storage/postgres/support/postgres_fixture.hpp>

namespace weir::storage::postgres::test {
namespace {

using namespace std::chrono_literals;

/// Servers that die, hang or are not there.
class RecoveryTest : public PostgresTest {
 protected:
  static Options alone() {
    Options made = options();
    made.connections = 1;
    made.reconnect_backoff = 1ms;
    made.reconnect_backoff_max = 10ms;
    return made;
  }
};

Task<> call(Pool pool, Statement statement, CallOptions options, Error* error) {
  auto done = co_await pool.execute(std::move(statement), options);
  *error = done.error();
}

/// Calls that are in flight while `meanwhile` happens.
struct InFlight {
  static Task<std::vector<Error>> run(Pool pool, int calls, CallOptions options,
                                      weir::testing::Event* sent, const char* text) {
    auto first = co_await pool.execute(Statement("select 1"));
    EXPECT_TRUE(first) << first.error().message();
    std::vector<Error> errors(static_cast<std::size_t>(calls));
    TaskScope scope;
    for (Error& error : errors) scope.spawn(call(pool, Statement(text), options, &error));
    while (pool.health().in_flight < static_cast<std::uint64_t>(calls)) co_await yield();
    sent->set();
    co_await scope.join();
    co_return errors;
  }
};

TEST_F(RecoveryTest, AServerThatDiesFailsWhatIsInFlightWithTheCause) {
  const Pool pool = open(alone());
  weir::testing::Event sent;
  std::thread killer([&] { sent.wait(); });
  std::vector<Error> errors;
  std::thread caller(
      [&] { errors = run(InFlight::run(pool, 10, {}, &sent, "select pg_sleep(3600)")); });
  killer.join();
  server().kill();
  caller.join();
  ASSERT_EQ(errors.size(), 10U);
  for (const Error& error : errors) {
    EXPECT_EQ(error, Errc::unavailable) << error.message();
    EXPECT_FALSE(error.detail().empty());
  }
  // What comes later waits for the server to come back.
  std::thread later([&] { EXPECT_TRUE(run(pool.execute("select 1"))); });
  server().revive();
  later.join();
  EXPECT_EQ(pool.health().reconnects, 1U);
}

TEST_F(RecoveryTest, AServerThatIsRestartedUnderneathIsFoundAgain) {
  Options two = alone();
  two.connections = 2;
  const Pool pool = open(two);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(run(pool.execute("select 1")));
    weir::testing::eventually("both connections", [&] { return pool.health().connected == 2; });
    server().restart();
    // A call may still meet the connection that is gone.
    weir::testing::eventually("the server", [&] { return bool(run(pool.execute("select 1"))); });
  }
  EXPECT_GE(pool.health().reconnects, 3U);
}

TEST_F(RecoveryTest, ASessionThatTheServerEndsIsReplaced) {
  const Pool pool = open(alone());
  const auto pid = value_of<std::int64_t>(pool, "select pg_backend_pid()::int8");
  weir::testing::Event sent;
  std::vector<Error> errors;
  std::thread caller(
      [&] { errors = run(InFlight::run(pool, 3, {}, &sent, "select pg_sleep(3600)")); });
  sent.wait();
  server().execute("select pg_terminate_backend(" + std::to_string(pid) + ")");
  caller.join();
  for (const Error& error : errors) {
    EXPECT_EQ(error, Errc::unavailable);
    EXPECT_NE(error.detail().find("terminating connection due to administrator command"),
              std::string::npos)
        << error.message();
  }
  EXPECT_NE(value_of<std::int64_t>(pool, "select pg_backend_pid()::int8"), pid);
}

TEST_F(RecoveryTest, ATransactionThatLosesItsConnectionFails) {
  server().execute("create table test.marks (id int8)");
  const Pool pool = open(alone());
  struct Losing {
    static Task<Result<>> body(Transaction transaction, TestServer* server) {
      auto pid = co_await transaction.execute(Statement("select pg_backend_pid()::text"));
      auto written = co_await transaction.execute(Statement("insert into marks values (1)"));
      EXPECT_TRUE(pid && written);
      server->execute("select pg_terminate_backend(" + *(*pid)[0].get<std::string>(0) + ")");
      auto lost = co_await transaction.execute(Statement("insert into marks values (2)"));
      EXPECT_EQ(lost.error(), Errc::unavailable);
      auto after = co_await transaction.execute(Statement("insert into marks values (3)"));
      EXPECT_EQ(after.error(), Errc::unavailable);
      co_return lost.error();
    }
  };
  const auto done = run(pool.transaction(Isolation::read_committed, &Losing::body, &server()));
  EXPECT_EQ(done.error(), Errc::unavailable) << done.error().message();
  EXPECT_EQ(value_of<std::int64_t>(pool, "select count(*) from marks"), 0);
}

TEST_F(RecoveryTest, NobodyThereIsUnavailableAfterTheBudget) {
  Options nowhere = alone();
  nowhere.connection = "host=/no/such/directory user=postgres";
  nowhere.reconnect_budget = 20ms;
  const Pool pool = open(nowhere);
  const auto result = run(pool.execute("select 1"));
  EXPECT_EQ(result.error(), Errc::unavailable);
  EXPECT_NE(result.error().detail().find("/no/such/directory"), std::string::npos)
      << result.error().message();
  // From then on at once.
  EXPECT_EQ(run(pool.execute("select 1")).error(), Errc::unavailable);
  EXPECT_EQ(run(pool.begin(Isolation::serializable)).error(), Errc::unavailable);
}

TEST_F(RecoveryTest, AServerThatNeverSaysAWordEndsWithATimeout) {
  const SilentServer silent;
  Options mute = alone();
  mute.connection = silent.connection();
  const Pool pool = open(mute);
  const auto result =
      run(pool.execute(Statement("select 1"), {.timeout = std::chrono::milliseconds(30)}));
  EXPECT_EQ(result.error(), Errc::timed_out) << result.error().message();
}

TEST_F(RecoveryTest, AServerThatNeverLetsUsInIsUnavailableAfterTheBudget) {
  const SilentServer silent;
  Options mute = alone();
  mute.connection = silent.connection();
  mute.connect_timeout = 10ms;
  mute.reconnect_budget = 500ms;
  const Pool pool = open(mute);
  const auto result = run(pool.execute("select 1"));
  EXPECT_EQ(result.error(), Errc::unavailable);
  EXPECT_NE(result.error().detail().find("no connection within 10 ms"), std::string::npos)
      << result.error().message();
}

TEST_F(RecoveryTest, AConnectionThatHangsIsGivenUp) {
  Options hasty = alone();
  hasty.hang_grace = 50ms;
  const Pool pool = open(hasty);
  const auto pid = value_of<std::int64_t>(pool, "select pg_backend_pid()::int8");
  // As if the machine were gone: the connection is there, and nobody answers.
  ASSERT_EQ(::kill(static_cast<pid_t>(pid), SIGSTOP), 0);
  const auto late = run(pool.execute(Statement("select 1"), {.timeout = 50ms}));
  EXPECT_EQ(late.error(), Errc::timed_out) << late.error().message();
  weir::testing::eventually("another connection",
                            [&] { return bool(run(pool.execute("select 1"))); });
  EXPECT_NE(value_of<std::int64_t>(pool, "select pg_backend_pid()::int8"), pid);
  EXPECT_EQ(pool.health().reconnects, 1U);
  EXPECT_NE(pool.health().last_error.find("did not answer"), std::string::npos);
  EXPECT_EQ(::kill(static_cast<pid_t>(pid), SIGCONT), 0);
}

TEST_F(RecoveryTest, AServerWithoutRoomIsUnavailable) {
  server().execute("create role guest login connection limit 0");
  Options guest = alone();
  guest.connection = server().connection() + " user=guest";
  guest.reconnect_budget = 1ms;
  const Pool pool = open(guest);
  weir::testing::eventually("a refusal", [&] { return !pool.health().last_error.empty(); });
  const auto result = run(pool.execute("select 1"));
  EXPECT_EQ(result.error(), Errc::unavailable);
  EXPECT_NE(result.error().detail().find("too many connections"), std::string::npos)
      << result.error().message();
  server().execute("drop role guest");
}

}  // namespace
}  // namespace weir::storage::postgres::test
