#include <gtest/gtest.h>

#include <list>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/storage/errc.hpp>
#include <weir/tests/flow/data/support/random_data.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>
#include <weir/tests/flow/view/support/database_fixture.hpp>

namespace weir::flow::view {
namespace {

using data::col;
using data::Kind;
using data::Value;
using operators::test::make_batch;
using operators::test::make_schema;
using operators::test::Rows;

const data::SchemaRef lines_schema = make_schema({{"line", Kind::text, false}});
const data::SchemaRef readings_schema =
    make_schema({{"at", Kind::int64}, {"celsius", Kind::int64}});

class AppendTest : public test::DatabaseTest {
 protected:
  Relation ring(std::uint64_t capacity) {
    return run(database().create_ring_buffer("lines", lines_schema, capacity)).value();
  }
  Relation series() {
    return run(database().create_series("readings", readings_schema, "at")).value();
  }
  storage::Version append(const Relation& relation, const std::vector<Row>& rows) {
    auto transaction = database().begin();
    for (const Row& row : rows) run(transaction.append(relation, row)).value();
    return run(transaction.commit()).value();
  }
  std::string rows_in(const Relation& relation, const RowRange& range) {
    Snapshot snapshot = database().read();
    auto scan = snapshot.scan(relation, range);
    if (!scan) return scan.error().message();
    return to_string(run(scan->next()).value());
  }
  template <class T>
  static std::string refusal(const Result<T>& done) {
    return done ? "accepted" : done.error().message();
  }
};

TEST_F(AppendTest, KeepsTheLastRowsOfARingBuffer) {
  const Relation lines = ring(3);
  EXPECT_TRUE(lines.is_appended());
  EXPECT_EQ(*lines.append_schema(), *lines_schema);
  EXPECT_EQ(data::to_string(*lines.schema()),
            "(position uint64 not null, line text not null, primary key position)");
  append(lines, {{"a"}, {"b"}});
  append(lines, {{"c"}, {"d"}});
  EXPECT_EQ(rows_of(lines), "+1 (2, 'b')\n+1 (3, 'c')\n+1 (4, 'd')\n");
  auto transaction = database().begin();
  EXPECT_EQ(run(transaction.append(lines, {"e"})).value(), 5u);
  EXPECT_EQ(run(transaction.get(lines, {std::uint64_t{2}})).value(), std::nullopt);
  ASSERT_TRUE(run(transaction.commit()));
}

TEST_F(AppendTest, TakesMoreRowsThanThereIsRoomFor) {
  const Relation lines = ring(2);
  append(lines, {{"a"}});
  auto transaction = database().begin();
  const auto rows = make_batch(lines_schema, Rows{{{"b"}, 1}, {{"c"}, 1}, {{"d"}, 1}});
  EXPECT_EQ(run(transaction.append(lines, rows)).value(), 2u);
  ASSERT_TRUE(run(transaction.append(lines, {"e"})));
  ASSERT_TRUE(run(transaction.commit()));
  EXPECT_EQ(rows_of(lines), "+1 (4, 'd')\n+1 (5, 'e')\n");
}

TEST_F(AppendTest, KeepsASeriesInOrderOfItsKey) {
  const Relation readings = series();
  EXPECT_EQ(data::to_string(*readings.schema()),
            "(at int64 not null, celsius int64, sequence uint64 not null, "
            "primary key at sequence)");
  append(readings, {{30, 1}, {10, 2}, {30, 3}});
  append(readings, {{20, 4}, {30, Value()}});
  EXPECT_EQ(rows_of(readings),
            "+1 (10, 2, 2)\n+1 (20, 4, 4)\n+1 (30, 1, 1)\n+1 (30, 3, 3)\n+1 (30, null, 5)\n");
  EXPECT_EQ(rows_in(readings, {.from = {10}, .until = {30}}), "+1 (10, 2, 2)\n+1 (20, 4, 4)\n");
  EXPECT_EQ(rows_in(readings, {.from = {30, std::uint64_t{3}}}),
            "+1 (30, 3, 3)\n+1 (30, null, 5)\n");
  EXPECT_EQ(rows_in(readings, {.until = {20}, .is_until_included = true}),
            "+1 (10, 2, 2)\n+1 (20, 4, 4)\n");
  EXPECT_EQ(rows_in(readings, RowRange::of({20})), "+1 (20, 4, 4)\n");
  EXPECT_EQ(rows_in(readings, {.from = {"x"}}),
            "invalid argument: 'readings': 'at' is int64, not 'x'");
  EXPECT_EQ(rows_in(readings, {.until = {1, std::uint64_t{2}, 3}}),
            "invalid argument: 'readings': its primary key has 2 values, not 3");
}

TEST_F(AppendTest, RefusesWhatIsNotAppended) {
  const Relation lines = ring(2);
  const Relation readings = series();
  append(lines, {{"a"}});
  auto transaction = database().begin();
  const Row row{std::uint64_t{1}, "b"};
  EXPECT_EQ(refusal(run(transaction.insert(lines, row))),
            "append only: 'lines' is a ring buffer: append to it");
  EXPECT_EQ(run(transaction.update(lines, row)).error(), Errc::append_only);
  EXPECT_EQ(run(transaction.upsert(lines, row)).error(), Errc::append_only);
  EXPECT_EQ(refusal(run(transaction.insert(readings, {1, 2, std::uint64_t{3}}))),
            "append only: 'readings' is a series: append to it");
  EXPECT_EQ(run(transaction.append(lines, {5})).error(), data::Errc::type_mismatch);
  EXPECT_EQ(run(transaction.append(readings, {Value(), 5})).error(), data::Errc::null_not_allowed);
  const auto twice = make_batch(lines_schema, Rows{{{"b"}, 2}});
  EXPECT_EQ(run(transaction.append(lines, twice)).error(), Errc::invalid_argument);
  const auto table =
      run(database().create_table("t", make_schema({{"id", Kind::int64, false}}, {"id"}))).value();
  EXPECT_EQ(refusal(run(transaction.append(table, {1}))),
            "invalid argument: 't' is a table: insert into it");
  const auto view = run(database().create_view("v", from(lines))).value();
  EXPECT_EQ(run(transaction.append(view, {"b"})).error(), Errc::not_a_table);
  EXPECT_EQ(rows_of(lines), "+1 (1, 'a')\n");
}

TEST_F(AppendTest, RefusesRelationsThatCannotBe) {
  EXPECT_EQ(refusal(run(database().create_ring_buffer("lines", lines_schema, 0))),
            "invalid argument: 'lines': there must be room for a row");
  EXPECT_EQ(refusal(run(database().create_ring_buffer(
                "lines", make_schema({{"id", Kind::int64, false}}, {"id"}), 3))),
            "invalid argument: 'lines': rows that are appended have no primary key of their own");
  EXPECT_EQ(run(database().create_series("s", lines_schema, "line")).error(),
            data::Errc::type_mismatch);
  EXPECT_EQ(run(database().create_series("s", lines_schema, "at")).error(),
            data::Errc::unknown_column);
  EXPECT_EQ(run(database().create_series("", readings_schema, "at")).error(),
            Errc::invalid_argument);
  ring(2);
  EXPECT_EQ(run(database().create_ring_buffer("lines", lines_schema, 3)).error(),
            Errc::already_exists);
  EXPECT_EQ(refusal(run(database().drop_view("lines"))), "not a table: 'lines' is a ring buffer");
}

TEST_F(AppendTest, TwoWhoAppendConflict) {
  for (const Relation& relation : {ring(2), series()}) {
    const Row row = relation.name() == "lines" ? Row{"a"} : Row{1, 2};
    auto one = database().begin();
    auto two = database().begin();
    ASSERT_TRUE(run(one.append(relation, row)));
    ASSERT_TRUE(run(two.append(relation, row)));
    ASSERT_TRUE(run(one.commit()));
    EXPECT_EQ(run(two.commit()).error(), storage::Errc::conflict);
  }
}

TEST_F(AppendTest, RemovesByKeyAndGivesNoNumberTwice) {
  const Relation lines = ring(2);
  append(lines, {{"a"}, {"b"}});
  auto transaction = database().begin();
  ASSERT_TRUE(run(transaction.remove(lines, {std::uint64_t{2}})));
  EXPECT_EQ(run(transaction.remove(lines, {std::uint64_t{2}})).error(), Errc::unknown_key);
  ASSERT_TRUE(run(transaction.commit()));
  append(lines, {{"c"}});  // there is room again
  EXPECT_EQ(rows_of(lines), "+1 (1, 'a')\n+1 (3, 'c')\n");
  const Relation readings = series();
  append(readings, {{1, 1}});
  auto next = database().begin();
  ASSERT_TRUE(run(next.remove(readings, {1, std::uint64_t{1}})));
  ASSERT_TRUE(run(next.append(readings, {1, 1})));
  ASSERT_TRUE(run(next.commit()));
  EXPECT_EQ(rows_of(readings), "+1 (1, 1, 2)\n");
}

TEST_F(AppendTest, GoesOnAfterARestartAndAfterItWasAltered) {
  append(ring(2), {{"a"}, {"b"}});
  reopen();
  Relation lines = run(database().relation("lines")).value();
  append(lines, {{"c"}});
  lines = run(database().add_column("lines", {.name = "level", .type = Kind::int64, .fill = 9}))
              .value();
  lines = run(database().rename_column("lines", "position", "at")).value();
  EXPECT_EQ(data::to_string(*lines.append_schema()), "(line text not null, level int64)");
  append(lines, {{"d", 1}});
  EXPECT_EQ(rows_of(lines), "+1 (3, 'c', 9)\n+1 (4, 'd', 1)\n");
  EXPECT_EQ(refusal(run(database().drop_column("lines", "at"))),
            "invalid argument: 'lines': 'at' is part of the primary key");
}

TEST_F(AppendTest, LeavesNothingBehindWhenItIsDropped) {
  append(ring(2), {{"a"}, {"b"}, {"c"}});
  ASSERT_TRUE(run(database().drop_table("lines")));
  const Relation lines = ring(2);
  append(lines, {{"d"}});
  EXPECT_EQ(rows_of(lines), "+1 (1, 'd')\n");
}

TEST_F(AppendTest, IsFollowedByViewsAndSubscribers) {
  const Relation lines = ring(2);
  append(lines, {{"a"}, {"b"}});
  const Relation count =
      run(database().create_view(
              "count", from(lines).aggregate(
                           {operators::count().as("n"), operators::min(col("line")).as("first")})))
          .value();
  ASSERT_TRUE(run(database().fresh(count, store().version())));
  EXPECT_EQ(rows_of(count), "+1 (2, 'a')\n");
  Subscription subscription = database().subscribe(lines).value();
  const auto version = append(lines, {{"c"}});
  ASSERT_TRUE(run(database().fresh(count, version)));
  EXPECT_EQ(rows_of(count), "+1 (2, 'b')\n");
  EXPECT_EQ(to_string(run(subscription.next()).value().changes), "-1 (1, 'a')\n+1 (3, 'c')\n");
  EXPECT_EQ(run(database().drop_table("lines")).error(), Errc::in_use);
}

TEST_F(AppendTest, IsFollowedByTransactionalViewsInTheSameCommit) {
  const Relation lines = ring(2);
  const Relation count =
      run(database().create_view("count",
                                 from(lines).aggregate({operators::count().as("n"),
                                                        operators::min(col("line")).as("first")}),
                                 {.update = ViewUpdate::transactional}))
          .value();
  ASSERT_TRUE(run(database().fresh(count, store().version())));
  append(lines, {{"a"}, {"b"}, {"c"}});
  EXPECT_EQ(rows_of(count), "+1 (2, 'b')\n");
}

/// Appends and removes at random, beside a list that does the same.
TEST_F(AppendTest, EqualsAListWhateverHappens) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    data::test::RandomData random(seed);
    const std::uint64_t capacity = 1 + random.below(8);
    Relation lines = ring(capacity);
    std::list<std::pair<std::uint64_t, std::string>> expected;
    std::uint64_t given = 0;
    for (int commit = 0; commit < 15; ++commit) {
      auto transaction = database().begin();
      const bool is_given_up = random.one_in(5);
      auto list = expected;
      std::uint64_t number = given;
      for (std::uint64_t changes = random.below(8); changes > 0; --changes) {
        if (!list.empty() && random.one_in(3)) {
          const auto at = std::next(list.begin(), static_cast<int>(random.below(list.size())));
          ASSERT_TRUE(run(transaction.remove(lines, {at->first})));
          list.erase(at);
          continue;
        }
        std::vector<std::pair<operators::test::Row, data::Weight>> rows;
        for (std::uint64_t count = random.below(5); count > 0; --count) {
          ++number;
          list.emplace_back(number, "line " + std::to_string(number));
          rows.push_back({{list.back().second}, 1});
        }
        ASSERT_TRUE(run(transaction.append(lines, make_batch(lines_schema, rows))));
        while (list.size() > capacity) list.pop_front();
      }
      if (is_given_up) continue;
      ASSERT_TRUE(run(transaction.commit()));
      expected = std::move(list);
      given = number;
      std::string text;
      for (const auto& [position, line] : expected)
        text += "+1 (" + std::to_string(position) + ", '" + line + "')\n";
      ASSERT_EQ(rows_of(lines), text) << "commit " << commit;
    }
    ASSERT_TRUE(run(database().drop_table("lines")));
  }
}

}  // namespace
}  // namespace weir::flow::view
