#include <weir/flow/operator/window.hpp>

#include <gtest/gtest.h>

#include <weir/flow/operator/graph.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {
namespace {

using data::col;
using data::Kind;
using data::Timestamp;
using data::Value;
using namespace std::chrono_literals;

const data::SchemaRef events = make_schema(
    {{"id", Kind::int64, false}, {"user", Kind::text}, {"at", Kind::timestamp}}, {"id"});

Row event(int id, std::chrono::microseconds at, const char* user = "ann") {
  return {id, user, Timestamp(at)};
}

struct Flow {
  explicit Flow(Window window, RowErrorPolicy policy = RowErrorPolicy::fail)
      : graph(Graph::make(from("events", events).window(std::move(window)), {.row_errors = policy})
                  .value()) {}

  /// A line for each row that came or went: its weight, its id, and its window in seconds.
  std::string run(const std::vector<std::pair<Row, data::Weight>>& changes) {
    auto result = graph->run({{"events", make_batch(events, changes)}});
    if (!result) return result.error().message();
    graph->commit();
    Rows rows;
    add(rows, *result);
    std::string text;
    for (const auto& [row, weight] : rows) {
      text += (weight > 0 ? "+" : "") + std::to_string(weight) + " " + data::to_string(row[0]) +
              " [" + bound(row[3]) + ", " + bound(row[4]) + "]\n";
    }
    return text;
  }

  std::unique_ptr<Graph> graph;

 private:
  static std::string bound(const Value& value) {
    if (value.type() != Kind::timestamp) return data::to_string(value);
    return std::to_string(value.as<Timestamp>().time_since_epoch() / 1s);
  }
};

std::string refusal(Window window) {
  auto graph = Graph::make(from("events", events).window(std::move(window)));
  return graph ? "none" : graph.error().message();
}

std::string key_of(Window window) {
  const auto graph = Graph::make(from("events", events).window(std::move(window))).value();
  std::string names;
  for (const std::size_t index : graph->schema()->primary_key())
    names += (names.empty() ? "" : ", ") + (*graph->schema())[index].name;
  return names;
}

TEST(Window, TumblingHasItsStartAndNotItsEnd) {
  Flow flow(tumbling(col("at"), 10s));
  EXPECT_EQ(flow.run({{event(1, 0s), 1}, {event(2, 9999999us), 1}, {event(3, 10s), 1}}),
            "+1 1 [0, 10]\n+1 2 [0, 10]\n+1 3 [10, 20]\n");
  EXPECT_EQ(flow.run({{event(2, 9999999us), -1}}), "-1 2 [0, 10]\n");
}

TEST(Window, TimesBefore1970AreRoundedDown) {
  Flow flow(tumbling(col("at"), 10s));
  EXPECT_EQ(flow.run({{event(1, -1us), 1}, {event(2, -10s), 1}, {event(3, -10000001us), 1}}),
            "+1 1 [-10, 0]\n+1 2 [-10, 0]\n+1 3 [-20, -10]\n");
}

TEST(Window, AnOffsetMovesAllWindows) {
  Flow flow(tumbling(col("at"), 10s, {.offset = 3s}));
  EXPECT_EQ(flow.run({{event(1, 2s), 1}, {event(2, 3s), 1}}), "+1 1 [-7, 3]\n+1 2 [3, 13]\n");
  Flow back(tumbling(col("at"), 10s, {.offset = -13s}));
  EXPECT_EQ(back.run({{event(1, 6s), 1}, {event(2, 7s), 1}}), "+1 1 [-3, 7]\n+1 2 [7, 17]\n");
}

TEST(Window, HoppingGivesARowForEachOfItsWindows) {
  Flow flow(hopping(col("at"), {.size = 10s, .hop = 5s}));
  EXPECT_EQ(flow.run({{event(1, 7s), 2}}), "+2 1 [0, 10]\n+2 1 [5, 15]\n");
  Flow uneven(hopping(col("at"), {.size = 10s, .hop = 4s}));
  EXPECT_EQ(uneven.run({{event(1, 9s), 1}}), "+1 1 [0, 10]\n+1 1 [4, 14]\n+1 1 [8, 18]\n");
  EXPECT_EQ(uneven.run({{event(2, 10s), 1}}), "+1 2 [4, 14]\n+1 2 [8, 18]\n");
}

TEST(Window, ALongHopLeavesRowsOut) {
  Flow flow(hopping(col("at"), {.size = 2s, .hop = 5s}), RowErrorPolicy::drop);
  EXPECT_EQ(flow.run({{event(1, 1s), 1}, {event(2, 2s), 1}, {event(3, 5s), 1}}),
            "+1 1 [0, 2]\n+1 3 [5, 7]\n");
  EXPECT_EQ(flow.graph->counts(), Counts());
}

TEST(Window, DatesAreTheirMidnight) {
  Flow flow(tumbling(data::cast(col("at"), Kind::date), 24h));
  EXPECT_EQ(flow.run({{event(1, -1s), 1}, {event(2, 30h), 1}}),
            "+1 1 [-86400, 0]\n+1 2 [86400, 172800]\n");
}

TEST(Window, ARowWithoutATimeCannotBeComputed) {
  const std::vector<std::pair<Row, data::Weight>> rows{{{1, "ann", Value()}, 1}, {event(2, 0s), 1}};
  const auto forms = {tumbling(col("at"), 10s),    session(col("at"), 10s),
                      tumbling_rows(col("at"), 2), hopping_rows(col("at"), {.rows = 2, .hop = 1}),
                      rolling(col("at"), 10s),     sliding(col("at"), 10s),
                      rolling_rows(col("at"), 2)};
  for (const Window& window : forms) {
    EXPECT_EQ(Flow(window).run(rows),
              "row error: window: at: null not allowed in row (1, 'ann', null)");
    for (const RowErrorPolicy policy : {RowErrorPolicy::null, RowErrorPolicy::drop}) {
      Flow flow(window, policy);
      EXPECT_EQ(flow.run(rows).substr(0, 6), "+1 2 [");
      EXPECT_EQ(flow.graph->counts().row_errors, 1u);
    }
  }
}

TEST(Window, AWindowBeyondWhatATimestampHoldsCannotBeComputed) {
  const Row first = event(1, data::timestamp_min.time_since_epoch());
  const Row last = event(2, data::timestamp_max.time_since_epoch());
  Flow hop(hopping(col("at"), {.size = 10s, .hop = 5s}));
  EXPECT_EQ(hop.run({{first, 1}}),
            "row error: window: at: overflow in row (1, 'ann', 0001-01-01T00:00:00Z)");
  EXPECT_EQ(hop.run({{last, 1}}).substr(0, 29), "row error: window: at: overfl");
  // The first window of all begins with the first day.
  Flow tumble(tumbling(col("at"), 10s), RowErrorPolicy::drop);
  EXPECT_EQ(tumble.run({{first, 1}, {last, 1}}), "+1 1 [-62135596800, -62135596790]\n");
  EXPECT_EQ(tumble.graph->counts().row_errors, 1u);
  EXPECT_EQ(Flow(session(col("at"), 10s)).run({{last, 1}}).substr(0, 9), "row error");
  EXPECT_EQ(Flow(rolling(col("at"), 10s)).run({{first, 1}}).substr(0, 9), "row error");
}

TEST(Window, ASessionEndsAGapBehindItsLastRow) {
  Flow flow(session(col("at"), 10s));
  EXPECT_EQ(flow.run({{event(1, 0s), 1}, {event(2, 9s), 1}, {event(3, 19s), 1}}),
            "+1 1 [0, 19]\n+1 2 [0, 19]\n+1 3 [19, 29]\n");
}

TEST(Window, SessionsMergeAndSplit) {
  Flow flow(session(col("at"), 10s));
  EXPECT_EQ(flow.run({{event(1, 0s), 1}, {event(3, 15s), 1}}), "+1 1 [0, 10]\n+1 3 [15, 25]\n");
  EXPECT_EQ(flow.run({{event(2, 7s), 1}}),
            "-1 1 [0, 10]\n+1 1 [0, 25]\n+1 2 [0, 25]\n+1 3 [0, 25]\n-1 3 [15, 25]\n");
  EXPECT_EQ(flow.run({{event(4, 8s), 1}}), "+1 4 [0, 25]\n");  // the others stay as they are
  EXPECT_EQ(flow.run({{event(2, 7s), -1}, {event(4, 8s), -1}}),
            "+1 1 [0, 10]\n-1 1 [0, 25]\n-1 2 [0, 25]\n-1 3 [0, 25]\n+1 3 [15, 25]\n"
            "-1 4 [0, 25]\n");
}

TEST(Window, EachGroupHasWindowsOfItsOwn) {
  const std::vector<std::pair<Row, data::Weight>> rows{
      {event(1, 0s, "ann"), 1}, {event(2, 1s, "bob"), 1}, {event(3, 2s, "ann"), 1}};
  EXPECT_EQ(Flow(session(col("at"), 10s, {.per = {"user"}})).run(rows),
            "+1 1 [0, 12]\n+1 2 [1, 11]\n+1 3 [0, 12]\n");
  EXPECT_EQ(Flow(tumbling_rows(col("id"), 2, {.per = {"user"}})).run(rows),
            "+1 1 [1, 3]\n+1 2 [2, 2]\n+1 3 [1, 3]\n");
}

TEST(Window, TumblingRowsAreCutAgainFromWhereARowCame) {
  Flow flow(tumbling_rows(col("at"), 2));
  EXPECT_EQ(flow.run({{event(1, 1s), 1}, {event(2, 2s), 1}, {event(4, 4s), 1}, {event(5, 5s), 1}}),
            "+1 1 [1, 2]\n+1 2 [1, 2]\n+1 4 [4, 5]\n+1 5 [4, 5]\n");
  EXPECT_EQ(flow.run({{event(3, 3s), 1}}),
            "+1 3 [3, 4]\n+1 4 [3, 4]\n-1 4 [4, 5]\n-1 5 [4, 5]\n+1 5 [5, 5]\n");
}

TEST(Window, EqualRowsMayBeInSeveralWindowsByRows) {
  Flow flow(tumbling_rows(col("id"), 2));
  EXPECT_EQ(flow.run({{event(1, 1s), 3}, {event(2, 1s), 2}}),
            "+2 1 [1, 1]\n+1 1 [1, 2]\n+1 2 [1, 2]\n+1 2 [2, 2]\n");
}

TEST(Window, HoppingRowsOverlapOrLeaveRowsOut) {
  Flow flow(hopping_rows(col("at"), {.rows = 3, .hop = 2}));
  EXPECT_EQ(flow.run({{event(1, 1s), 1}, {event(2, 2s), 1}, {event(4, 4s), 1}}),
            "+1 1 [1, 4]\n+1 2 [1, 4]\n+1 4 [1, 4]\n+1 4 [4, 4]\n");
  EXPECT_EQ(flow.run({{event(3, 3s), 1}}),
            "+1 1 [1, 3]\n-1 1 [1, 4]\n+1 2 [1, 3]\n-1 2 [1, 4]\n+1 3 [1, 3]\n+1 3 [3, 4]\n"
            "-1 4 [1, 4]\n+1 4 [3, 4]\n-1 4 [4, 4]\n");
  Flow gaps(hopping_rows(col("at"), {.rows = 1, .hop = 2}));
  EXPECT_EQ(gaps.run({{event(1, 1s), 1}, {event(2, 2s), 1}, {event(3, 3s), 1}}),
            "+1 1 [1, 1]\n+1 3 [3, 3]\n");
}

TEST(Window, SlidingHasAWindowWheneverRowsComeOrLeave) {
  Flow flow(sliding(col("at"), 10s));
  EXPECT_EQ(flow.run({{event(1, 0s), 1}, {event(2, 6s), 1}}),
            "+1 1 [-10, 0]\n+1 1 [-4, 6]\n+1 2 [-4, 6]\n+1 2 [0, 10]\n");
  // One that comes just as the first leaves.
  EXPECT_EQ(flow.run({{event(3, 10s), 1}}), "+1 3 [0, 10]\n+1 3 [6, 16]\n");
  EXPECT_EQ(flow.run({{event(1, 0s), -1}}), "-1 1 [-10, 0]\n-1 1 [-4, 6]\n");
}

TEST(Window, RollingHasBothItsStartAndItsEnd) {
  Flow flow(rolling(col("at"), 10s));
  EXPECT_EQ(flow.run({{event(1, 0s), 1}, {event(2, 10s), 1}, {event(3, 20s), 1}}),
            "+1 1 [-10, 0]\n+1 1 [0, 10]\n+1 2 [0, 10]\n+1 2 [10, 20]\n+1 3 [10, 20]\n");
  // One window for all rows of a time, while there is one.
  EXPECT_EQ(flow.run({{event(4, 10s), 1}}), "+1 4 [0, 10]\n+1 4 [10, 20]\n");
  EXPECT_EQ(flow.run({{event(2, 10s), -1}}), "-1 2 [0, 10]\n-1 2 [10, 20]\n");
  EXPECT_EQ(flow.run({{event(4, 10s), -1}}), "-1 1 [0, 10]\n-1 4 [0, 10]\n-1 4 [10, 20]\n");
}

TEST(Window, RollingRowsHaveThoseBeforeThem) {
  Flow flow(rolling_rows(col("id"), 1));
  EXPECT_EQ(flow.run({{event(1, 0s), 1}, {event(3, 0s), 1}}),
            "+1 1 [1, 1]\n+1 1 [1, 3]\n+1 3 [1, 3]\n");
  EXPECT_EQ(flow.run({{event(2, 0s), 1}}),
            "+1 1 [1, 2]\n-1 1 [1, 3]\n+1 2 [1, 2]\n+1 2 [2, 3]\n-1 3 [1, 3]\n+1 3 [2, 3]\n");
}

TEST(Window, NamesARowThatWentWithoutHavingCome) {
  for (const Window& window :
       {session(col("at"), 10s), tumbling_rows(col("at"), 2),
        hopping_rows(col("at"), {.rows = 2, .hop = 1}), rolling(col("at"), 10s),
        sliding(col("at"), 10s), rolling_rows(col("at"), 2)}) {
    EXPECT_EQ(Flow(window).run({{event(1, 0s), -1}}),
              "unknown row: window: row (1, 'ann', 1970-01-01T00:00:00Z) went more often than it "
              "came");
  }
}

TEST(Window, ThePrimaryKeyTellsTheWindowsOfARowApart) {
  EXPECT_EQ(key_of(tumbling(col("at"), 1s)), "id");
  EXPECT_EQ(key_of(hopping(col("at"), {.size = 2s, .hop = 1s})), "id, window_start");
  EXPECT_EQ(key_of(session(col("at"), 1s)), "id");
  EXPECT_EQ(key_of(tumbling_rows(col("at"), 1)), "id");
  EXPECT_EQ(key_of(rolling(col("at"), 1s)), "id, window_end");
  EXPECT_EQ(key_of(sliding(col("at"), 1s)), "id, window_end");
  EXPECT_EQ(key_of(rolling_rows(col("at"), 1)), "");
  EXPECT_EQ(key_of(hopping_rows(col("at"), {.rows = 2, .hop = 1})), "");
  EXPECT_EQ(key_of(hopping_rows(col("at"), {.rows = 2, .hop = 2})), "id");
  EXPECT_EQ(key_of(tumbling(col("at"), 1s, {.lateness = 0s})), "id, window_start");
  EXPECT_EQ(key_of(session(col("at"), 1s, {.lateness = 0s})), "");
  EXPECT_EQ(key_of(rolling(col("at"), 1s, {.lateness = 0s})), "");
}

TEST(Window, RefusesLengthsThatMakeNoWindows) {
  const std::string rest = " must be more than nothing and less than 10'000 years, not ";
  EXPECT_EQ(refusal(tumbling(col("at"), 0s)),
            "invalid argument: window: the size of a window" + rest + "PT0S");
  EXPECT_EQ(refusal(hopping(col("at"), {.size = 1s})),
            "invalid argument: window: the hop of windows" + rest + "PT0S");
  EXPECT_EQ(refusal(session(col("at"), -1s)),
            "invalid argument: window: the gap of sessions" + rest + "-PT1S");
  EXPECT_EQ(refusal(rolling(col("at"), 24h * 366 * 10'000)).substr(0, 36),
            "invalid argument: window: the size o");
  EXPECT_EQ(refusal(tumbling(col("at"), 1s, {.lateness = -1s})),
            "invalid argument: window: a lateness cannot be -PT1S");
  EXPECT_EQ(refusal(tumbling(col("at"), 1s, {.tick_period = 0s})),
            "invalid argument: window: the period of ticks" + rest + "PT0S");
}

TEST(Window, RefusesTooManyWindowsForARow) {
  EXPECT_EQ(refusal(hopping(col("at"), {.size = 10'000s, .hop = 1s})), "none");
  EXPECT_EQ(refusal(hopping(col("at"), {.size = 10'001s, .hop = 1s})),
            "invalid argument: window: a row would be in more than 10'000 windows");
  EXPECT_EQ(refusal(rolling_rows(col("at"), 10'001)),
            "invalid argument: window: a row would be in more than 10'000 windows");
  EXPECT_EQ(refusal(tumbling_rows(col("at"), 0)),
            "invalid argument: window: a window must have a row at least");
  EXPECT_EQ(refusal(hopping_rows(col("at"), {.rows = 0, .hop = 1})),
            "invalid argument: window: a window must have a row at least");
  EXPECT_EQ(refusal(hopping_rows(col("at"), {.rows = 1})),
            "invalid argument: window: the hop of windows must be a row at least");
  EXPECT_EQ(refusal(hopping_rows(col("at"), {.rows = 10'000, .hop = 1})), "none");
  EXPECT_EQ(refusal(hopping_rows(col("at"), {.rows = 10'001, .hop = 1})),
            "invalid argument: window: a row would be in more than 10'000 windows");
  EXPECT_EQ(refusal(session(col("at"), 1s, {.lateness = -1s})),
            "invalid argument: window: a lateness cannot be -PT1S");
}

TEST(Window, RefusesColumnsThatDoNotFit) {
  EXPECT_EQ(refusal(tumbling(col("user"), 1s)),
            "type mismatch: window: user is a time, so it must be timestamp or date, not text");
  EXPECT_EQ(refusal(session(col("at"), 1s, {.per = {"place"}})),
            "unknown column: window: 'place'; there are: id, user, at");
  EXPECT_EQ(
      Graph::make(
          from("events", events).window(tumbling(col("at"), 1s)).window(tumbling(col("at"), 5s)))
          .error()
          .message(),
      "duplicate column: window: window_start");
}

TEST(Window, IsTheSameAfterItWasBytes) {
  const Plan plan = from("events", events)
                        .window(hopping(col("at"), {.size = 5s,
                                                    .hop = 2s,
                                                    .offset = -1s,
                                                    .lateness = 3s,
                                                    .emit = WindowEmit::on_close,
                                                    .tick_period = 1s}));
  const std::string bytes = plan.encode();
  const Plan decoded = Plan::decode(bytes).value();
  EXPECT_EQ(decoded.encode(), bytes);
  const auto& window = dynamic_cast<const Window&>(decoded.spec());
  EXPECT_EQ(window.size, 5s);
  EXPECT_EQ(window.hop, 2s);
  EXPECT_EQ(window.offset, -1s);
  EXPECT_EQ(window.lateness, 3s);
  EXPECT_EQ(window.emit, WindowEmit::on_close);
  EXPECT_EQ(window.tick_period, 1s);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(Plan::decode(bytes.substr(0, size))) << size;
}

TEST(Hopping, StopsBeforeItGivesMuchMoreThanItMay) {
  constexpr int many = 6'000;
  constexpr std::size_t windows = 100;
  data::BatchBuilder builder(events);
  for (int id = 0; id < many; ++id) ASSERT_TRUE(builder.add(event(id, id * 1s)));
  auto op = hopping(col("at"), {.size = 100min, .hop = 1min})
                .make(std::vector<data::SchemaRef>{events}, {})
                .value();
  const data::ChangeBatch batch = builder.finish();
  Output out(RowErrorPolicy::fail, false, 1'000);
  EXPECT_EQ(op->apply({0, batch}, out).error(), Errc::too_large);
  std::size_t rows = 0;
  for (const data::ChangeBatch& given : out.take()) rows += given.size();
  EXPECT_LT(rows, many * windows / 2);
  rows = 0;
  Output all;
  ASSERT_TRUE(op->apply({0, batch}, all));
  const auto batches = all.take();
  EXPECT_GT(batches.size(), 1u);
  for (const data::ChangeBatch& given : batches) rows += given.size();
  EXPECT_EQ(rows, many * windows);
}

}  // namespace
}  // namespace weir::flow::operators::test
