// Windows that close, in views: by the times of rows alone, across restarts, and over rows that
// were there before the view.
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/operator/window.hpp>
#include <weir/tests/flow/operator/support/oracle_window.hpp>
#include <weir/tests/flow/operator/support/random_events.hpp>
#include <weir/tests/flow/view/support/exploring.hpp>
#include <weir/tests/flow/view/support/view_fixture.hpp>

namespace weir::flow::view {
namespace {

using namespace std::chrono_literals;
using data::col;
using data::Kind;
using data::Timestamp;
using data::Value;
using operators::Window;
using operators::WindowEmit;
using operators::WindowGroups;
using operators::test::Rows;
using operators::test::to_string;

const data::SchemaRef events_schema = operators::test::make_schema({{"id", Kind::int64, false},
                                                                    {"user", Kind::int64},
                                                                    {"at", Kind::timestamp},
                                                                    {"n", Kind::int64}},
                                                                   {"id"});

class WindowViewTest : public test::ViewTest {
 protected:
  WindowViewTest() { reopen(options()); }

  static DatabaseOptions options() {
    return {.row_errors = operators::RowErrorPolicy::drop, .backfill_rows = 3};
  }
  Relation make_events() { return run(database().create_table("events", events_schema)).value(); }
  Relation relation(const std::string& name) { return run(database().relation(name)).value(); }
  Rows rows(const Relation& view) {
    const auto fresh = run(database().fresh(view, store().version()));
    EXPECT_TRUE(fresh) << fresh.error().message();
    return run(test::read_rows(database().read(), view)).value();
  }

  Row random_row(std::int64_t id, data::test::RandomData& random) {
    const auto small = [&random](std::uint64_t limit) -> Value {
      if (random.one_in(8)) return {};
      return static_cast<std::int64_t>(random.below(limit));
    };
    const Timestamp at(std::chrono::seconds(random.below(40)) - 20s);
    return {id, small(2), random.one_in(15) ? Value() : Value(at), small(5)};
  }
  /// A few rows in one transaction: what became of the table.
  Rows change(std::map<std::int64_t, Row>& table, data::test::RandomData& random) {
    Rows changes;
    auto transaction = database().begin();
    for (std::uint64_t count = random.below(6) + 1; count > 0; --count) {
      const auto id = static_cast<std::int64_t>(random.below(15));
      const auto was = table.find(id);
      if (was != table.end()) operators::test::add(changes, was->second, -1);
      if (was != table.end() && random.one_in(3)) {
        EXPECT_TRUE(run(transaction.remove(relation("events"), {id})));
        table.erase(was);
        continue;
      }
      table.insert_or_assign(id, random_row(id, random));
      operators::test::add(changes, table.at(id), 1);
      EXPECT_TRUE(run(transaction.upsert(relation("events"), table.at(id))));
    }
    EXPECT_TRUE(run(transaction.commit()));
    return changes;
  }
};

/// All forms, by the column `at`.
std::vector<Window> forms(const WindowGroups& groups) {
  return {
      operators::tumbling(col("at"), 10s, {.lateness = groups.lateness, .emit = groups.emit}),
      operators::hopping(
          col("at"), {.size = 10s, .hop = 5s, .lateness = groups.lateness, .emit = groups.emit}),
      operators::session(col("at"), 10s, groups),
      operators::rolling(col("at"), 10s, groups),
      operators::sliding(col("at"), 10s, groups),
      operators::tumbling_rows(col("at"), 2, groups),
      operators::hopping_rows(col("at"), {.rows = 3, .hop = 2}, groups),
      operators::rolling_rows(col("at"), 2, groups)};
}

TEST_F(WindowViewTest, EveryFormClosesAsRowsComeAndGoesOnAfterRestarts) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    data::test::RandomData random(seed);
    const Window window = operators::test::random_closing_window(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", form " +
                 std::to_string(static_cast<int>(window.form)));
    const auto update = random.one_in(2) ? ViewUpdate::transactional : ViewUpdate::deferred;
    const auto plan = from(make_events()).window(window);
    ASSERT_TRUE(run(
        database().fresh(run(database().create_view("windows", plan, {.update = update})).value(),
                         store().version())));
    operators::test::ClosingHistory expected(window, events_schema);
    std::map<std::int64_t, Row> table;
    for (int commit = 0; commit < 8; ++commit) {
      expected.apply(change(table, random));
      ASSERT_EQ(to_string(rows(relation("windows"))), to_string(expected.rows())) << commit;
      if (random.one_in(3)) reopen(options());
    }
    ASSERT_TRUE(run(database().drop_view("windows")));
    ASSERT_TRUE(run(database().drop_table("events")));
  }
}

TEST_F(WindowViewTest, CountsLateRows) {
  const Relation events = make_events();
  const auto plan = from(events).window(operators::session(col("at"), 10s, {.lateness = 5s}));
  const Relation view = run(database().create_view("sessions", plan)).value();
  EXPECT_TRUE(rows(view).empty());
  insert(events, {{1, 0, Timestamp(0s), 0}});
  insert(events, {{2, 0, Timestamp(20s), 0}});
  insert(events, {{3, 0, Timestamp(5s), 0}, {4, 0, Timestamp(6s), 0}});
  EXPECT_EQ(rows(view).size(), 3u);
  EXPECT_EQ(database().status(view).value().counts.late_rows, 1u);
}

/// Rows that are there already come in order of their keys, which are not those of their times.
TEST_F(WindowViewTest, NoRowIsLateThatWasThereBeforeTheView) {
  const Relation events = make_events();
  std::vector<Row> before;
  Rows changes;
  for (int id = 0; id < 12; ++id) {
    before.push_back({id, id % 2, Timestamp(std::chrono::seconds(100 - 5 * id)), 0});
    operators::test::add(changes, before.back(), 1);
  }
  insert(events, before);
  for (const auto update : {ViewUpdate::deferred, ViewUpdate::transactional}) {
    for (const WindowEmit emit : {WindowEmit::at_once, WindowEmit::on_close}) {
      for (const Window& window : forms({.per = {"user"}, .lateness = 20s, .emit = emit})) {
        SCOPED_TRACE("form " + std::to_string(static_cast<int>(window.form)));
        const auto all =
            run(database().create_view("all", from(events), {.update = update})).value();
        const auto plan = from(all).window(window);
        const auto view = run(database().create_view("windows", plan, {.update = update})).value();
        operators::test::ClosingHistory expected(window, events_schema);
        expected.apply(changes);
        // Without another change: it is closed as soon as all rows have come.
        EXPECT_EQ(to_string(rows(view)), to_string(expected.rows()));
        ASSERT_TRUE(run(database().drop_view("windows")));
        ASSERT_TRUE(run(database().drop_view("all")));
      }
    }
  }
}

TEST_F(WindowViewTest, RowsAreLateOnceTheViewHasThoseThatWereThere) {
  const Relation events = make_events();
  insert(events, {{1, 0, Timestamp(100s), 0}, {2, 0, Timestamp(0s), 0}});
  const auto plan = from(events).window(operators::tumbling(col("at"), 10s, {.lateness = 20s}));
  const Relation view = run(database().create_view("windows", plan)).value();
  EXPECT_EQ(rows(view).size(), 2u);
  reopen(options());
  insert(relation("events"), {{3, 0, Timestamp(0s), 0}});
  EXPECT_EQ(rows(relation("windows")).size(), 2u);
  EXPECT_EQ(database().status(relation("windows")).value().counts.late_rows, 1u);
}

}  // namespace
}  // namespace weir::flow::view
