#include <weir/storage/postgres/transaction.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>
#include <weir/tests/storage/postgres/support/postgres_fixture.hpp>

namespace weir::storage::postgres::test {
namespace {

class TransactionTest : public PostgresTest {
 protected:
  void SetUp() override {
    PostgresTest::SetUp();
    if (IsSkipped()) return;
    server().execute(
        "create table test.accounts (id int8 primary key, cents int8 not null);"
        "insert into test.accounts values (1, 100), (2, 100)");
  }
};

Task<Result<std::int64_t>> cents_of(Transaction transaction, std::int64_t account) {
  WEIR_CO_TRY(rows, co_await transaction.execute(
                        Statement("select cents from accounts where id = $1", account)));
  co_return rows[0].get<std::int64_t>(0);
}

Task<Result<std::int64_t>> add(Transaction transaction, std::int64_t account, std::int64_t cents) {
  WEIR_CO_TRY(before, co_await cents_of(transaction, account));
  WEIR_CO_TRY_VOID(co_await transaction.execute(
      Statement("update accounts set cents = $2 where id = $1", account, before + cents)));
  co_return before + cents;
}

TEST_F(TransactionTest, CommitsWhatItsBodyDidAndGivesItsValue) {
  const Pool pool = open();
  const auto cents = run(pool.transaction(Isolation::serializable, &add, 1, 50));
  ASSERT_TRUE(cents) << cents.error().message();
  EXPECT_EQ(*cents, 150);
  EXPECT_EQ(server().query("select cents from test.accounts where id = 1"), "150");
}

TEST_F(TransactionTest, HasTheConnectionForItself) {
  Options one = options();
  one.connections = 1;
  const Pool pool = open(one);
  struct Sharing {
    static Task<> other(Pool pool, bool* is_done) {
      auto done = co_await pool.execute(Statement("insert into accounts values (3, 0)"));
      EXPECT_TRUE(done) << done.error().message();
      *is_done = true;
    }
    static Task<> run(Pool pool) {
      auto transaction = co_await pool.begin(Isolation::read_committed);
      EXPECT_TRUE(transaction);
      bool is_done = false;
      TaskScope scope;
      scope.spawn(other(pool, &is_done));
      for (int count = 0; count < 5; ++count) {
        auto rows = co_await transaction->execute(Statement("select 1 from accounts where id = 3"));
        EXPECT_TRUE(rows && rows->is_empty());
      }
      EXPECT_FALSE(is_done);
      EXPECT_TRUE(co_await transaction->rollback());
      co_await scope.join();
      EXPECT_TRUE(is_done);
    }
  };
  run(Sharing::run(pool));
  // It was no part of what was rolled back.
  EXPECT_EQ(server().query("select count(*) from test.accounts"), "3");
}

TEST_F(TransactionTest, AnErrorOfTheBodyRollsItBack) {
  const Pool pool = open();
  struct Refusing {
    static Task<Result<>> body(Transaction transaction) {
      WEIR_CO_TRY_VOID(co_await add(transaction, 1, 50));
      co_return Error(weir::Errc::not_found, "on purpose");
    }
  };
  const auto done = run(pool.transaction(Isolation::read_committed, &Refusing::body));
  EXPECT_EQ(done.error(), weir::Errc::not_found);
  EXPECT_EQ(server().query("select cents from test.accounts where id = 1"), "100");
}

TEST_F(TransactionTest, AnExceptionOfTheBodyRollsItBackAndFreesTheConnection) {
  Options one = options();
  one.connections = 1;
  const Pool pool = open(one);
  struct Throwing {
    static Task<Result<>> body(Transaction transaction) {
      WEIR_CO_TRY_VOID(co_await add(transaction, 1, 50));
      throw std::runtime_error("on purpose");
    }
  };
  EXPECT_THROW(static_cast<void>(run(pool.transaction(Isolation::read_committed, &Throwing::body))),
               std::runtime_error);
  EXPECT_EQ(value_of<std::int64_t>(pool, "select cents from accounts where id = 1"), 100);
}

TEST_F(TransactionTest, AFailureThatTheBodyHidesIsFoundAtTheCommit) {
  const Pool pool = open();
  struct Hiding {
    static Task<Result<>> body(Transaction transaction) {
      WEIR_CO_TRY_VOID(co_await add(transaction, 1, 50));
      auto refused = co_await transaction.execute(Statement("insert into accounts values (1, 0)"));
      EXPECT_EQ(refused.error(), Errc::conflict);
      auto after = co_await transaction.execute(Statement("select 1"));
      EXPECT_EQ(after.error(), Errc::rejected);
      co_return Result<>();
    }
  };
  const auto done = run(pool.transaction(Isolation::read_committed, &Hiding::body));
  EXPECT_EQ(done.error(), Errc::conflict);
  EXPECT_EQ(diagnose(done.error()).constraint, "accounts_pkey");
  EXPECT_EQ(server().query("select cents from test.accounts where id = 1"), "100");
}

/// Both read everything before either writes, so that one of them has to give way.
struct Skew {
  weir::testing::Counter* attempts;
  int meeting;  // how many attempts meet before any of them writes

  static Task<Result<>> body(Transaction transaction, Skew skew, std::int64_t account) {
    WEIR_CO_TRY(rows,
                co_await transaction.execute(Statement("select sum(cents)::int8 from accounts")));
    WEIR_CO_TRY(sum, rows[0].get<std::int64_t>(0));
    skew.attempts->add();
    while (skew.attempts->value() < skew.meeting) co_await yield();
    WEIR_CO_TRY_VOID(co_await transaction.execute(
        Statement("update accounts set cents = cents - $2 where id = $1", account, sum / 2)));
    co_return Result<>();
  }
};

TEST_F(TransactionTest, ContentionIsTriedAgainUntilBothHaveTheirWay) {
  const Pool pool = open();
  weir::testing::Counter attempts;
  struct Both {
    static Task<> one(Pool pool, Skew skew, std::int64_t account, Error* error) {
      auto done = co_await pool.transaction(Isolation::serializable, &Skew::body, skew, account);
      *error = done.error();
    }
    static Task<std::vector<Error>> run(Pool pool, Skew skew) {
      std::vector<Error> errors(2);
      TaskScope scope;
      scope.spawn(one(pool, skew, 1, &errors[0]));
      scope.spawn(one(pool, skew, 2, &errors[1]));
      co_await scope.join();
      co_return errors;
    }
  };
  for (const Error& error : run(Both::run(pool, Skew{&attempts, 2}))) {
    EXPECT_FALSE(error.code()) << error.message();
  }
  EXPECT_GE(attempts.value(), 3);
  // One after the other: 200 / 2, then 100 / 2. Side by side it would be 0.
  EXPECT_EQ(server().query("select sum(cents) from test.accounts"), "50");
}

TEST_F(TransactionTest, ContentionWithoutEndIsTypedAndKeepsItsCause) {
  Options quick = options();
  quick.retry.backoff = std::chrono::microseconds(1);
  const Pool pool = open(quick);
  struct Losing {
    // Somebody else writes between reading and writing, each time.
    static Task<Result<>> body(Transaction transaction, TestServer* server, int* attempts) {
      ++*attempts;
      WEIR_CO_TRY_VOID(co_await cents_of(transaction, 1));
      server->execute("update test.accounts set cents = cents + 1 where id = 1");
      WEIR_CO_TRY_VOID(co_await transaction.execute(
          Statement("update accounts set cents = 0 where id = 1").about("accounts")));
      co_return Result<>();
    }
  };
  int attempts = 0;
  const auto done =
      run(pool.transaction(Isolation::repeatable_read, &Losing::body, &server(), &attempts));
  EXPECT_EQ(done.error(), Errc::retry_exhausted) << done.error().message();
  EXPECT_EQ(attempts, 3);
  EXPECT_EQ(diagnose(done.error()).sqlstate, "40001");
  EXPECT_NE(done.error().detail().find("3 attempts: accounts: could not serialize access"),
            std::string::npos)
      << done.error().detail();
  EXPECT_EQ(server().query("select cents from test.accounts where id = 1"), "103");
}

TEST_F(TransactionTest, ADeadlockIsContention) {
  Options patient = options();
  patient.retry.attempts_max = 1;
  patient.connection =
      server().connection() + " options='-csearch_path=test -cdeadlock_timeout=10ms'";
  const Pool pool = open(patient);
  struct Crossing {
    static Task<Result<>> body(Transaction transaction, std::int64_t first,
                               weir::testing::Counter* locked) {
      const std::int64_t second = 3 - first;
      WEIR_CO_TRY_VOID(co_await transaction.execute(
          Statement("select 1 from accounts where id = $1 for update", first)));
      locked->add();
      while (locked->value() < 2) co_await yield();
      WEIR_CO_TRY_VOID(co_await transaction.execute(
          Statement("select 1 from accounts where id = $1 for update", second)));
      co_return Result<>();
    }
    static Task<> one(Pool pool, std::int64_t first, weir::testing::Counter* locked, Error* error) {
      auto done = co_await pool.transaction(Isolation::read_committed, &body, first, locked);
      *error = done.error();
    }
    static Task<std::vector<Error>> run(Pool pool, weir::testing::Counter* locked) {
      std::vector<Error> errors(2);
      TaskScope scope;
      scope.spawn(one(pool, 1, locked, &errors[0]));
      scope.spawn(one(pool, 2, locked, &errors[1]));
      co_await scope.join();
      co_return errors;
    }
  };
  weir::testing::Counter locked;
  const auto errors = run(Crossing::run(pool, &locked));
  const Error& loser = errors[0].code() ? errors[0] : errors[1];
  const Error& winner = errors[0].code() ? errors[1] : errors[0];
  EXPECT_FALSE(winner.code()) << winner.message();
  EXPECT_EQ(loser, Errc::retry_exhausted) << loser.message();
  EXPECT_EQ(diagnose(loser).sqlstate, "40P01");
}

TEST_F(TransactionTest, ABatchMayBeTriedAgainToo) {
  Options quick = options();
  quick.retry.backoff = std::chrono::microseconds(1);
  const Pool pool = open(quick);
  // Fails as often as there are rows in `failures`: nextval is not rolled back.
  server().execute(
      "create sequence test.tries;"
      "create function test.fail_until(wanted int8) returns void language plpgsql as $$ begin"
      " if nextval('test.tries') < wanted then"
      "  raise exception 'not yet' using errcode = '40001'; end if; end $$");
  Batch batch;
  batch.emplace_back("insert into accounts values (9, 0)");
  batch.emplace_back("select fail_until($1)", 3);
  EXPECT_EQ(run(pool.execute(batch)).error(), Errc::contention);
  EXPECT_TRUE(run(pool.execute(batch, {.attempts_max = 2})));
  batch[1] = Statement("select fail_until($1)", 1'000);
  batch[0] = Statement("insert into accounts values (10, 0)");
  const auto exhausted = run(pool.execute(batch, {.attempts_max = 3}));
  EXPECT_EQ(exhausted.error(), Errc::retry_exhausted);
  EXPECT_EQ(server().query("select last_value from test.tries"), "6");
  EXPECT_EQ(server().query("select count(*) from test.accounts where id = 10"), "0");
}

TEST_F(TransactionTest, EndsOnce) {
  const Pool pool = open();
  struct Ending {
    static Task<> run(Pool pool) {
      auto transaction = co_await pool.begin(Isolation::read_committed);
      EXPECT_TRUE(co_await transaction->commit());
      EXPECT_EQ((co_await transaction->commit()).error(), Errc::invalid_argument);
      auto late = co_await transaction->execute(Statement("select 1"));
      EXPECT_EQ(late.error(), Errc::invalid_argument);
    }
  };
  run(Ending::run(pool));
}

TEST_F(TransactionTest, ATransactionThatIsLetGoFreesItsConnection) {
  Options one = options();
  one.connections = 1;
  const Pool pool = open(one);
  struct Forgetting {
    static Task<> run(Pool pool) {
      for (int count = 0; count < 20; ++count) {
        auto transaction = co_await pool.begin(Isolation::read_committed);
        EXPECT_TRUE(transaction) << transaction.error().message();
        auto done = co_await transaction->execute(Statement("update accounts set cents = 0"));
        EXPECT_TRUE(done);
      }
    }
  };
  run(Forgetting::run(pool));
  EXPECT_EQ(value_of<std::int64_t>(pool, "select sum(cents)::int8 from accounts"), 200);
}

TEST_F(TransactionTest, ScriptsAndStatementsTakeTurns) {
  const Pool pool = open();
  struct Mixing {
    static Task<Result<>> body(Transaction transaction) {
      WEIR_CO_TRY_VOID(co_await add(transaction, 1, 1));
      WEIR_CO_TRY_VOID(co_await transaction.run_script(
          "create table made (id int8); insert into made values (1); insert into made values (2)"));
      WEIR_CO_TRY(rows, co_await transaction.execute(Statement("select count(*) from made")));
      EXPECT_EQ(*rows[0].get<std::int64_t>(0), 2);
      co_return Result<>();
    }
    static Task<Result<>> failing(Transaction transaction) {
      co_return co_await transaction.run_script("insert into made values (3); insert into nowhere");
    }
  };
  const auto done = run(pool.transaction(Isolation::read_committed, &Mixing::body));
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(run(pool.transaction(Isolation::read_committed, &Mixing::failing)).error(),
            Errc::rejected);
  EXPECT_EQ(value_of<std::int64_t>(pool, "select count(*) from made"), 2);
}

TEST_F(TransactionTest, EachCallHasItsOwnTime) {
  const Pool pool = open();
  struct Timing {
    static Task<std::string> limit(Transaction* transaction, Duration timeout) {
      auto rows = co_await transaction->execute(
          Statement("select current_setting('statement_timeout')"), timeout);
      co_return *(*rows)[0].get<std::string>(0);
    }
    static Task<> run(Pool pool) {
      auto transaction = co_await pool.begin(Isolation::read_committed);
      EXPECT_EQ(co_await limit(&*transaction, Duration::zero()), "30s");
      EXPECT_EQ(co_await limit(&*transaction, std::chrono::seconds(7)), "7s");
      EXPECT_EQ(co_await limit(&*transaction, Duration::zero()), "30s");
      EXPECT_TRUE(co_await transaction->commit());
    }
  };
  run(Timing::run(pool));
}

}  // namespace
}  // namespace weir::storage::postgres::test
