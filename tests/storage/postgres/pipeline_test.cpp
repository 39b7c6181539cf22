#include <weir/storage/postgres/pool.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <weir/runtime/task_scope.hpp>
#include <weir/tests/storage/postgres/support/postgres_fixture.hpp>

namespace weir::storage::postgres::test {
namespace {

class PipelineTest : public PostgresTest {
 protected:
  /// All calls on one connection.
  static Options alone() {
    Options made = options();
    made.connections = 1;
    return made;
  }
};

/// What became of a call.
struct Answer {
  Result<Rows> result = Error(weir::Errc::failed);
};

Task<> ask(Pool pool, Statement statement, Answer* answer) {
  answer->result = co_await pool.execute(std::move(statement));
}

/// All statements in flight together.
Task<std::vector<Answer>> ask_all(Pool pool, std::vector<Statement> statements) {
  std::vector<Answer> answers(statements.size());
  TaskScope scope;
  for (std::size_t at = 0; at < statements.size(); ++at) {
    scope.spawn(ask(pool, std::move(statements[at]), &answers[at]));
  }
  co_await scope.join();
  co_return answers;
}

TEST_F(PipelineTest, AThousandCallsOnOneConnectionGetTheirOwnAnswers) {
  const Pool pool = open(alone());
  std::vector<Statement> statements;
  for (std::int64_t number = 0; number < 1'000; ++number) {
    // Answers of many sizes.
    statements.emplace_back("select $1::int8, repeat('x', $2::int4)", number, number % 100);
  }
  const auto answers = run(ask_all(pool, std::move(statements)));
  for (std::size_t number = 0; number < answers.size(); ++number) {
    ASSERT_TRUE(answers[number].result) << answers[number].result.error().message();
    const auto row = (*answers[number].result)[0].as<std::int64_t, std::string>();
    ASSERT_TRUE(row);
    EXPECT_EQ(*row, std::tuple(static_cast<std::int64_t>(number), std::string(number % 100, 'x')));
  }
  EXPECT_EQ(pool.health().connected, 1U);
  EXPECT_EQ(pool.health().in_flight, 0U);
}

TEST_F(PipelineTest, AnErrorTouchesOnlyItsOwnCall) {
  server().execute("create table test.numbers (number int8 primary key)");
  const Pool pool = open(alone());
  std::vector<Statement> statements;
  for (std::int64_t number = 0; number < 300; ++number) {
    switch (number % 3) {
      case 0: statements.emplace_back("insert into numbers values ($1)", number); break;
      case 1: statements.emplace_back("select 1 / ($1 - $1)", number); break;
      default: statements.emplace_back("selct " + std::to_string(number));
    }
  }
  const auto answers = run(ask_all(pool, std::move(statements)));
  for (std::size_t number = 0; number < answers.size(); ++number) {
    const auto& result = answers[number].result;
    if (number % 3 == 0) {
      EXPECT_TRUE(result) << result.error().message();
    } else {
      EXPECT_EQ(result.error(), Errc::rejected);
      EXPECT_EQ(diagnose(result.error()).sqlstate, number % 3 == 1 ? "22012" : "42601");
    }
  }
  EXPECT_EQ(value_of<std::int64_t>(pool, "select count(*) from numbers"), 100);
}

TEST_F(PipelineTest, ABatchIsDoneWholeOrNotAtAll) {
  server().execute("create table test.numbers (number int8 primary key)");
  const Pool pool = open(alone());
  Batch good;
  good.emplace_back("insert into numbers values (1), (2)");
  good.emplace_back("select sum(number)::int8 from numbers");
  const auto results = run(pool.execute(good));
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_EQ((*results)[0].affected(), 2U);
  EXPECT_EQ((*results)[1][0].get<std::int64_t>(0), 3);

  Batch bad;
  bad.emplace_back("insert into numbers values (3)");
  bad.push_back(Statement("insert into numbers values ($1)", 2).about("numbers"));
  bad.emplace_back("insert into numbers values (4)");
  const auto refused = run(pool.execute(bad));
  EXPECT_EQ(refused.error(), Errc::conflict);
  const Diagnosis diagnosis = diagnose(refused.error());
  EXPECT_EQ(diagnosis.sqlstate, "23505");
  EXPECT_EQ(diagnosis.table, "numbers");
  EXPECT_EQ(diagnosis.constraint, "numbers_pkey");
  EXPECT_NE(refused.error().detail().find("numbers: duplicate key"), std::string::npos);
  EXPECT_NE(refused.error().detail().find("Key (number)=(2) already exists."), std::string::npos);
  EXPECT_EQ(value_of<std::int64_t>(pool, "select sum(number)::int8 from numbers"), 3);
}

// The server checks it at the sync point, after it has answered all statements.
TEST_F(PipelineTest, AFailureToCommitIsTheFailureOfItsCall) {
  server().execute(
      "create table test.parents (id int8 primary key);"
      "create table test.children (parent int8 references test.parents deferrable initially"
      " deferred)");
  const Pool pool = open(alone());
  std::vector<Statement> statements;
  for (int count = 0; count < 20; ++count) {
    statements.emplace_back("insert into children values ($1)", count);
    statements.emplace_back("select $1::int8", count);
  }
  const auto answers = run(ask_all(pool, std::move(statements)));
  for (std::size_t at = 0; at < answers.size(); at += 2) {
    EXPECT_EQ(answers[at].result.error(), Errc::constraint);
    EXPECT_EQ(diagnose(answers[at].result.error()).sqlstate, "23503");
    ASSERT_TRUE(answers[at + 1].result) << answers[at + 1].result.error().message();
    EXPECT_EQ((*answers[at + 1].result)[0].get<std::size_t>(0), at / 2);
  }
}

TEST_F(PipelineTest, AStatementThatCouldNotBePreparedCanBeLater) {
  const Pool pool = open(alone());
  const std::vector<Statement> twice(2, Statement("select count(*) from later"));
  for (const Answer& answer : run(ask_all(pool, twice))) {
    EXPECT_EQ(answer.result.error(), Errc::rejected);
    EXPECT_EQ(diagnose(answer.result.error()).sqlstate, "42P01");
  }
  server().execute("create table test.later (id int8)");
  EXPECT_EQ(value_of<std::int64_t>(pool, "select count(*) from later"), 0);
}

TEST_F(PipelineTest, AStatementIsPreparedAgainWhenItsTableHasChanged) {
  server().execute("create table test.shape (id int8); insert into test.shape values (1)");
  const Pool pool = open(alone());
  EXPECT_EQ(run(pool.execute("select * from shape"))->columns(), 1U);
  server().execute("alter table test.shape add name text");
  EXPECT_EQ(run(pool.execute("select * from shape")).error(), Errc::rejected);
  EXPECT_EQ(run(pool.execute("select * from shape"))->columns(), 2U);
}

TEST_F(PipelineTest, StatementsArePreparedOnceAndNotWithoutEnd) {
  Options few = alone();
  few.prepared_max = 10;
  const Pool pool = open(few);
  for (int round = 0; round < 2; ++round) {
    for (int number = 0; number < 30; ++number) {
      const auto text = "select " + std::to_string(number);
      EXPECT_EQ(value_of<std::int64_t>(pool, Statement(text)), number);
    }
  }
  EXPECT_EQ(value_of<std::int64_t>(pool, "select count(*) from pg_prepared_statements"), 10);
  // The same text for another type is another statement.
  EXPECT_EQ(value_of<std::string>(pool, Statement("select pg_typeof($1)::text", 1)), "bigint");
  EXPECT_EQ(value_of<std::string>(pool, Statement("select pg_typeof($1)::text", true)), "boolean");
}

TEST_F(PipelineTest, UnpreparedStatementsOfABatchSeeWhatThoseBeforeThemMade) {
  const Pool pool = open(alone());
  Batch batch;
  batch.push_back(Statement("create table made (id int8)").unprepared());
  batch.push_back(Statement("insert into made values ($1)", 7).unprepared());
  ASSERT_TRUE(run(pool.execute(batch)));
  EXPECT_EQ(value_of<std::int64_t>(pool, "select id from made"), 7);
}

TEST_F(PipelineTest, ALargeStatementAndALargeAnswerPassThroughTheSocketBitByBit) {
  const Pool pool = open(alone());
  const std::string large(16U << 20, 'x');
  std::vector<Statement> statements;
  for (int count = 0; count < 4; ++count) statements.emplace_back("select $1::text", large);
  for (const Answer& answer : run(ask_all(pool, statements))) {
    ASSERT_TRUE(answer.result) << answer.result.error().message();
    EXPECT_EQ((*answer.result)[0].get<std::string>(0), large);
  }
}

TEST_F(PipelineTest, EachCallHasItsOwnIsolation) {
  const Pool pool = open(alone());
  const auto level = [&](std::optional<Isolation> isolation) {
    const auto rows = run(pool.execute(Statement("select current_setting('transaction_isolation')"),
                                       {.isolation = isolation}));
    return *(*rows)[0].get<std::string>(0);
  };
  EXPECT_EQ(level({}), "read committed");
  EXPECT_EQ(level(Isolation::serializable), "serializable");
  EXPECT_EQ(level(Isolation::repeatable_read), "repeatable read");
  EXPECT_EQ(level({}), "read committed");
}

TEST_F(PipelineTest, TheServerEndsAStatementThatTakesLongerThanItsCall) {
  const Pool pool = open(alone());
  const auto slow = run(
      pool.execute(Statement("select pg_sleep(3600)"), {.timeout = std::chrono::milliseconds(50)}));
  EXPECT_EQ(slow.error(), Errc::timed_out);
  // The connection is the same, and its limit is the usual one again.
  EXPECT_EQ(value_of<std::string>(pool, "select current_setting('statement_timeout')"), "30s");
  EXPECT_EQ(pool.health().reconnects, 0U);
}

TEST_F(PipelineTest, NoticesAreHanded) {
  weir::testing::Collector<std::string> notices;
  Options listening = alone();
  listening.on_notice = [&](const Notice& notice) {
    notices.add(notice.severity + " " + notice.sqlstate + " " + notice.message);
  };
  {
    const Pool pool = open(listening);
    ASSERT_TRUE(run(pool.execute("do $$ begin raise warning 'look out'; end $$")));
    EXPECT_EQ(notices.wait_for(1).front(), "WARNING 01000 look out");
  }
  system.stop();
}

TEST_F(PipelineTest, WhatCannotBeAskedIsRefusedAtOnce) {
  const Pool pool = open(alone());
  for (const char* text :
       {"begin", "  COMMIT", "rollback to x", "start transaction", "copy a from b"}) {
    EXPECT_EQ(run(pool.execute(text)).error(), Errc::invalid_argument) << text;
  }
  EXPECT_EQ(run(pool.execute(Statement(std::string("select 1\0", 9)))).error(),
            Errc::invalid_argument);
  Statement many("select 1");
  for (int count = 0; count < 65'536; ++count) many.add(count);
  EXPECT_EQ(run(pool.execute(many)).error(), Errc::invalid_argument);
  EXPECT_EQ(run(pool.execute(Batch()))->size(), 0U);
}

}  // namespace
}  // namespace weir::storage::postgres::test
