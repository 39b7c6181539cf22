#include <weir/storage/postgres/migrate.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <weir/runtime/task_scope.hpp>
#include <weir/tests/storage/postgres/support/postgres_fixture.hpp>

namespace weir::storage::postgres::test {
namespace {

class MigrateTest : public PostgresTest {
 protected:
  static std::vector<Migration> three() {
    return {
        {"make jobs", "create table jobs (id int8 primary key); create index on jobs (id)"},
        {"name jobs", "alter table jobs add name text; insert into jobs values (1, 'first; one')"},
        {"count jobs", "create table counts as select count(*) as jobs from jobs"},
    };
  }
  std::string applied() { return server().query("select count(*) from test.weir_migrations"); }
};

TEST_F(MigrateTest, AppliesWhatHasNotBeenApplied) {
  const Pool pool = open();
  auto migrations = three();
  const auto first = run(migrate(pool, {migrations[0]}));
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(first->from, 0);
  EXPECT_EQ(first->to, 1);
  const auto rest = run(migrate(pool, migrations));
  ASSERT_TRUE(rest) << rest.error().message();
  EXPECT_EQ(rest->from, 1);
  EXPECT_EQ(rest->to, 3);
  EXPECT_EQ(server().query("select jobs from test.counts"), "1");
  EXPECT_EQ(
      server().query("select string_agg(name, ',' order by number) from test.weir_migrations"),
      "make jobs,name jobs,count jobs");
  const auto again = run(migrate(pool, migrations));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->from, 3);
  EXPECT_EQ(again->to, 3);
}

TEST_F(MigrateTest, NoMigrationsAreNothingToDo) {
  const auto done = run(migrate(open(), {}));
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->to, 0);
}

TEST_F(MigrateTest, ManyMayStartTogether) {
  struct Starting {
    static Task<> one(Pool pool, std::vector<Migration> migrations, std::int64_t* to) {
      auto done = co_await migrate(pool, std::move(migrations));
      EXPECT_TRUE(done) << done.error().message();
      if (done) *to = done->to;
    }
    static Task<std::vector<std::int64_t>> all(std::vector<Pool> pools,
                                               std::vector<Migration> migrations) {
      std::vector<std::int64_t> to(pools.size());
      TaskScope scope;
      for (std::size_t at = 0; at < pools.size(); ++at) {
        scope.spawn(one(pools[at], migrations, &to[at]));
      }
      co_await scope.join();
      co_return to;
    }
  };
  std::vector<Pool> pools;
  for (int count = 0; count < 8; ++count) pools.push_back(open());
  EXPECT_EQ(run(Starting::all(pools, three())), std::vector<std::int64_t>(8, 3));
  EXPECT_EQ(applied(), "3");
  EXPECT_EQ(server().query("select count(*) from test.jobs"), "1");
}

TEST_F(MigrateTest, AChangedMigrationIsRefusedByName) {
  const Pool pool = open();
  auto migrations = three();
  ASSERT_TRUE(run(migrate(pool, {migrations[0], migrations[1]})));
  migrations[1].script += " ";
  const auto refused = run(migrate(pool, migrations));
  EXPECT_EQ(refused.error(), Errc::migration_changed);
  EXPECT_NE(refused.error().detail().find("migration 2 (name jobs)"), std::string::npos)
      << refused.error().detail();
  EXPECT_EQ(applied(), "2");
}

TEST_F(MigrateTest, ANewerSchemaIsRefused) {
  const Pool pool = open();
  auto migrations = three();
  ASSERT_TRUE(run(migrate(pool, migrations)));
  migrations.pop_back();
  const auto refused = run(migrate(pool, migrations));
  EXPECT_EQ(refused.error(), Errc::schema_too_new);
  EXPECT_NE(refused.error().detail().find("migration 3 (count jobs)"), std::string::npos)
      << refused.error().detail();
}

TEST_F(MigrateTest, OneThatFailsInTheMiddleLeavesNothing) {
  const Pool pool = open();
  auto migrations = three();
  migrations[1].script = "create table half (id int8); insert into half values (1 / 0)";
  const auto failed = run(migrate(pool, migrations));
  EXPECT_EQ(failed.error(), Errc::rejected);
  EXPECT_NE(failed.error().detail().find("migration 2 (name jobs): "), std::string::npos);
  EXPECT_EQ(diagnose(failed.error()).sqlstate, "22012");
  EXPECT_EQ(applied(), "1");
  EXPECT_EQ(server().query("select to_regclass('test.half') is null"), "t");
  // What was applied before it stays, and the rest can follow.
  EXPECT_EQ(run(migrate(pool, three()))->to, 3);
}

TEST_F(MigrateTest, OneThatEndsTheTransactionIsFound) {
  const auto failed = run(migrate(open(), {{"sneaky", "create table a (id int8); commit; begin"}}));
  EXPECT_EQ(failed.error(), Errc::rejected);
  EXPECT_NE(failed.error().detail().find("migration 1 (sneaky)"), std::string::npos);
}

TEST_F(MigrateTest, AGapInWhatWasAppliedIsCorruption) {
  const Pool pool = open();
  ASSERT_TRUE(run(migrate(pool, three())));
  server().execute("delete from test.weir_migrations where number = 2");
  const auto refused = run(migrate(pool, three()));
  EXPECT_EQ(refused.error(), Errc::corruption);
  EXPECT_EQ(refused.error().detail(), "weir_migrations.number: row 1: 2 expected");
}

TEST_F(MigrateTest, TheTableHasANameThatNeedsNoQuotes) {
  const Pool pool = open();
  for (const char* name : {"", "A", "a b", "1a", "a.", ".a", "a.b.c", "a;drop"}) {
    EXPECT_EQ(run(migrate(pool, three(), {.table = name})).error(), Errc::invalid_argument) << name;
  }
  const auto done = run(migrate(pool, three(), {.table = "test.my_steps2"}));
  EXPECT_TRUE(done) << done.error().message();
  EXPECT_EQ(server().query("select count(*) from test.my_steps2"), "3");
}

}  // namespace
}  // namespace weir::storage::postgres::test
