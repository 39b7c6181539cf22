#include <weir/storage/postgres/rows.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <weir/tests/storage/postgres/support/postgres_fixture.hpp>

namespace weir::storage::postgres::test {
namespace {

using Random = std::mt19937_64;

class TypesTest : public PostgresTest {};

void draw(Random& random, bool& value) { value = random() % 2 == 0; }
void draw(Random& random, std::int64_t& value) {
  // All sizes, so that the small ones come too.
  value = static_cast<std::int64_t>(random() >> (random() % 64));
  if (random() % 2 == 0) value = -value;
}
void draw(Random& random, double& value) {
  const auto bits = random();
  std::memcpy(&value, &bits, sizeof(value));
  if (std::isnan(value)) value = 0.5;  // equals nothing
}
void draw(Random& random, std::string& value) {
  static const std::vector<std::string> letters{"a", "'", "\"", "\\", "\n",
                                                "{", ",", "ß",  "日", "🦀"};
  for (auto length = random() % 20; length > 0; --length)
    value += letters[random() % letters.size()];
}
void draw(Random& random, Bytes& value) {
  for (auto length = random() % 40; length > 0; --length)
    value.value += static_cast<char>(random());
}
void draw(Random& random, Timestamp& value) {
  constexpr std::int64_t span = 4'000'000'000'000'000;  // up to the year 2096, and down to 1843
  value =
      Timestamp(std::chrono::microseconds(static_cast<std::int64_t>(random() % (2 * span)) - span));
}
template <class T>
void draw(Random& random, std::optional<T>& value) {
  if (random() % 4 != 0) draw(random, value.emplace());
}
template <class T>
void draw(Random& random, std::vector<T>& values) {
  for (auto length = random() % 6; length > 0; --length) {
    T value{};
    draw(random, value);
    values.push_back(value);
  }
}

/// Sends many values in one flight and reads them back. `type`: as which the server returns them.
template <class T>
Task<> round_trip(Pool pool, std::string type, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> sent;
  Batch batch;
  for (int count = 0; count < 100; ++count) {
    T value{};
    draw(random, value);
    sent.push_back(value);
    batch.emplace_back("select $1::" + type, value);
  }
  auto results = co_await pool.execute(std::move(batch));
  EXPECT_TRUE(results) << results.error().message();
  if (!results) co_return;
  for (std::size_t at = 0; at < sent.size(); ++at) {
    const auto received = (*results)[at][0].template get<T>(0);
    EXPECT_TRUE(received) << received.error().message();
    if (received) EXPECT_EQ(*received, sent[at]) << type << " " << at;
  }
}

/// A value, one that may be null, an array, an array with nulls.
template <class T>
Task<> round_trips(Pool pool, std::string type, std::uint64_t seed) {
  co_await round_trip<T>(pool, type, seed);
  co_await round_trip<std::optional<T>>(pool, type, seed);
  co_await round_trip<std::vector<T>>(pool, type + "[]", seed);
  co_await round_trip<std::vector<std::optional<T>>>(pool, type + "[]", seed);
}

TEST_F(TypesTest, EveryValueComesBackAsItWas) {
  const std::uint64_t seed = weir::testing::test_seed();
  WEIR_TRACE_SEED(seed);
  const Pool pool = open();
  run(round_trips<bool>(pool, "bool", seed));
  run(round_trips<std::int64_t>(pool, "int8", seed));
  run(round_trips<double>(pool, "float8", seed));
  run(round_trips<std::string>(pool, "text", seed));
  run(round_trips<Bytes>(pool, "bytea", seed));
  run(round_trips<Timestamp>(pool, "timestamptz", seed));
}

TEST_F(TypesTest, ColumnsOfATableAreReadAsTheyWereWritten) {
  server().execute(
      "create table test.things (id int4 primary key, small int2, name varchar(20), data bytea,"
      " is_done bool not null, at timestamptz, facts jsonb, key uuid, note text)");
  const Pool pool = open();
  const Timestamp at(std::chrono::seconds(1'700'000'000));
  const auto written = run(pool.execute(
      Statement("insert into things values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::uuid, $9)", 1,
                -3, "näme", Bytes{std::string("\0\xff", 2)}, true, at, "{\"a\": 1}",
                "0123abcd-0123-4567-89ab-0123456789ab", nullptr)));
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_EQ(written->affected(), 1U);
  const auto rows = run(pool.execute("select * from things"));
  ASSERT_TRUE(rows) << rows.error().message();
  ASSERT_EQ(rows->size(), 1U);
  const auto row = (*rows)[0]
                       .as<std::int32_t, std::int16_t, std::string, Bytes, bool, Timestamp,
                           std::string, std::string, std::optional<std::string>>();
  ASSERT_TRUE(row) << row.error().message();
  EXPECT_EQ(*row, std::tuple(1, std::int16_t{-3}, std::string("näme"),
                             Bytes{std::string("\0\xff", 2)}, true, at, std::string("{\"a\": 1}"),
                             std::string("0123abcd-0123-4567-89ab-0123456789ab"),
                             std::optional<std::string>()));
  EXPECT_EQ(*(*rows)[0].get<std::string>("name"), "näme");
}

TEST_F(TypesTest, ArraysFeedOneStatementWithManyRows) {
  server().execute("create table test.jobs (id int8 primary key, name text, data bytea)");
  const Pool pool = open();
  std::vector<std::int64_t> ids;
  std::vector<std::optional<std::string>> names;
  std::vector<Bytes> data;
  for (std::int64_t id = 0; id < 1'000; ++id) {
    ids.push_back(id);
    names.push_back(id % 3 == 0 ? std::nullopt : std::optional("name " + std::to_string(id)));
    data.push_back({std::string(static_cast<std::size_t>(id % 7), '\0')});
  }
  const auto done = run(pool.execute(
      Statement("insert into jobs select * from unnest($1::int8[], $2::text[], $3::bytea[])", ids,
                names, data)));
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->affected(), 1'000U);
  EXPECT_EQ(value_of<std::int64_t>(pool, "select count(*) from jobs where name is null"), 334);
  EXPECT_EQ(value_of<std::int64_t>(pool, "select sum(length(data))::int8 from jobs"), 2'997);
  EXPECT_EQ(value_of<std::vector<std::int64_t>>(pool, "select array_agg(id order by id) from jobs"),
            ids);
}

TEST_F(TypesTest, AValueThatCannotBeReadIsCorruptionWithItsPlace) {
  server().execute(
      "create table test.jobs (id int8, state text); insert into test.jobs values"
      " (1, 'ready'), (5000000000, null)");
  const Pool pool = open();
  const Rows rows =
      *run(pool.execute(Statement("select id, state from jobs order by id").about("jobs")));
  const auto null = rows[1].get<std::string>("state");
  EXPECT_EQ(null, Errc::corruption);
  EXPECT_EQ(null.error().detail(), "jobs.state: row 1: null cannot be read as text");
  const auto type = rows[0].get<std::int64_t>("state");
  EXPECT_EQ(type.error().detail(), "jobs.state: row 0: text cannot be read as int64");
  const auto range = rows[1].get<std::int32_t>(0);
  EXPECT_EQ(range, Errc::corruption);
  EXPECT_EQ(range.error().detail(), "jobs.id: row 1: out of range");
  EXPECT_EQ(rows[0].get<std::int64_t>("nothing").error().detail(),
            "jobs: asked for nothing, the columns are: id, state");
  EXPECT_EQ(rows[0].as<std::int64_t>(), Errc::corruption);
  EXPECT_EQ(rows[0].corrupt("state", "'ready' is no state").detail(),
            "jobs.state: row 0: 'ready' is no state");
}

TEST_F(TypesTest, WithoutASubjectTheTableIsNamedByItsNumber) {
  server().execute("create table test.jobs (id int8); insert into test.jobs values (null)");
  const Pool pool = open();
  const Rows rows = *run(pool.execute("select id from jobs"));
  const std::string number = server().query("select 'test.jobs'::regclass::oid");
  EXPECT_EQ(rows[0].get<std::int64_t>(0).error().detail(),
            "table " + number + ".id: row 0: null cannot be read as int64");
}

}  // namespace
}  // namespace weir::storage::postgres::test
