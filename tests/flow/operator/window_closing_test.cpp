#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/window.hpp>
#include <weir/tests/flow/operator/support/oracle_window.hpp>
#include <weir/tests/flow/operator/support/random_events.hpp>

namespace weir::flow::operators::test {
namespace {

using data::col;
using data::Timestamp;
using namespace std::chrono_literals;

const data::SchemaRef events =
    make_schema({{"id", data::Kind::int64, false}, {"at", data::Kind::timestamp, false}});

struct Flow {
  explicit Flow(Window window)
      : graph(Graph::make(from("events", events).window(std::move(window))).value()) {}

  /// A line for each row that came or went: its weight, its id, and the start of its window.
  std::string take(Result<data::ChangeBatch> result) const {
    graph->commit();
    Rows rows;
    add(rows, result.value());
    std::string text;
    for (const auto& [row, weight] : rows) {
      text += (weight > 0 ? "+" : "") + std::to_string(weight) + " " + data::to_string(row[0]) +
              " from " + std::to_string(row[2].as<Timestamp>().time_since_epoch() / 1s) + "\n";
    }
    return text;
  }
  std::string run(int id, std::chrono::microseconds at, data::Weight weight = 1) const {
    return take(graph->run({{"events", make_batch(events, Rows{{{id, Timestamp(at)}, weight}})}}));
  }

  std::unique_ptr<Graph> graph;
};

TEST(WindowClosing, OnlyFormsThatCloseNeedEachVersion) {
  EXPECT_FALSE(Flow(tumbling(col("at"), 10s)).graph->needs_each_version());
  EXPECT_FALSE(Flow(session(col("at"), 10s)).graph->needs_each_version());
  EXPECT_FALSE(Flow(rolling_rows(col("at"), 10)).graph->needs_each_version());
  EXPECT_TRUE(Flow(tumbling(col("at"), 10s, {.lateness = 0s})).graph->needs_each_version());
  EXPECT_TRUE(
      Flow(tumbling(col("at"), 10s, {.emit = WindowEmit::on_close})).graph->needs_each_version());
  EXPECT_TRUE(Flow(tumbling(col("at"), 10s, {.tick_period = 1s})).graph->needs_each_version());
}

TEST(WindowClosing, ARowIsLateOnceItsWindowsHaveEndedBeforeTheWatermark) {
  const Flow flow(tumbling(col("at"), 10s, {.lateness = 5s}));
  EXPECT_EQ(flow.run(1, 3s), "+1 1 from 0\n");
  EXPECT_EQ(flow.run(2, 14999999us), "+1 2 from 10\n");
  EXPECT_EQ(flow.run(3, 4s), "+1 3 from 0\n");
  EXPECT_EQ(flow.graph->counts().late_rows, 0u);
  EXPECT_EQ(flow.run(4, 15s), "+1 4 from 10\n");  // now it is at 10
  EXPECT_EQ(flow.run(5, 9s), "");
  EXPECT_EQ(flow.graph->counts().late_rows, 1u);
}

TEST(WindowClosing, AWindowThatHasClosedKeepsItsRows) {
  const Flow flow(tumbling(col("at"), 10s, {.lateness = 0s}));
  EXPECT_EQ(flow.run(1, 3s), "+1 1 from 0\n");
  EXPECT_EQ(flow.run(2, 10s), "+1 2 from 10\n");
  EXPECT_EQ(flow.run(1, 3s, -1), "");
  EXPECT_EQ(flow.graph->counts().late_rows, 1u);
  EXPECT_EQ(flow.run(2, 10s, -1), "-1 2 from 10\n");
}

TEST(WindowClosing, ARowIsInThoseOfItsWindowsThatAreOpen) {
  const Flow flow(hopping(col("at"), {.size = 10s, .hop = 5s, .lateness = 0s}));
  EXPECT_EQ(flow.run(1, 12s), "+1 1 from 5\n+1 1 from 10\n");
  EXPECT_EQ(flow.run(2, 8s), "+1 2 from 5\n");
  EXPECT_EQ(flow.run(2, 8s, -1), "-1 2 from 5\n");
  EXPECT_EQ(flow.graph->counts().late_rows, 0u);
}

TEST(WindowClosing, RowsThatGoDoNotMoveTheWatermark) {
  const Flow flow(tumbling(col("at"), 10s, {.lateness = 0s}));
  EXPECT_EQ(flow.run(1, 50s, -1), "-1 1 from 50\n");
  EXPECT_EQ(flow.run(2, 3s), "+1 2 from 0\n");
}

TEST(WindowClosing, RowsThatCancelEachOtherDoNotMoveTheWatermarkAndAreNotLate) {
  const Flow flow(tumbling(col("at"), 10s, {.lateness = 0s}));
  const auto run = [&flow](std::chrono::microseconds at) {
    const std::vector<std::pair<Row, data::Weight>> both{{{1, Timestamp(at)}, 1},
                                                         {{1, Timestamp(at)}, -1}};
    return flow.take(flow.graph->run({{"events", make_batch(events, both)}}));
  };
  EXPECT_EQ(run(50s), "");
  EXPECT_EQ(flow.run(2, 3s), "+1 2 from 0\n");
  EXPECT_EQ(flow.run(3, 20s), "+1 3 from 20\n");
  EXPECT_EQ(run(3s), "");
  EXPECT_EQ(flow.graph->counts().late_rows, 0u);
}

TEST(WindowClosing, OnCloseGivesTheRowsOfAWindowTogether) {
  const Flow flow(tumbling(col("at"), 10s, {.lateness = 5s, .emit = WindowEmit::on_close}));
  EXPECT_EQ(flow.run(1, 3s), "");
  EXPECT_EQ(flow.run(2, 4s), "");
  EXPECT_EQ(flow.run(3, 5s), "");
  EXPECT_EQ(flow.run(2, 4s, -1), "");
  EXPECT_EQ(flow.run(4, 14s), "");
  EXPECT_EQ(flow.run(5, 15s), "+1 1 from 0\n+1 3 from 0\n");
  EXPECT_EQ(flow.run(1, 3s, -1), "");
  EXPECT_EQ(flow.run(6, 40s), "+1 4 from 10\n+1 5 from 10\n");
}

TEST(WindowClosing, TheWatermarkMayComeFromOutside) {
  const Flow flow(tumbling(col("at"), 10s, {.emit = WindowEmit::on_close}));
  EXPECT_EQ(flow.run(1, 3s), "");
  EXPECT_EQ(flow.run(2, 300s), "");
  EXPECT_EQ(flow.take(flow.graph->watermark(Timestamp(9s))), "");
  EXPECT_EQ(flow.take(flow.graph->watermark(Timestamp(10s))), "+1 1 from 0\n");
  EXPECT_EQ(flow.take(flow.graph->watermark(Timestamp(5s))), "");  // it never goes back
  EXPECT_EQ(flow.run(3, 7s), "");
  EXPECT_EQ(flow.graph->counts().late_rows, 1u);
}

TEST(WindowClosing, TicksCloseOnlyWithAPeriod) {
  const HoppingOptions options{
      .size = 10s, .hop = 10s, .lateness = 5s, .emit = WindowEmit::on_close};
  HoppingOptions ticking = options;
  ticking.tick_period = 2s;
  const Flow still(hopping(col("at"), options));
  const Flow flow(hopping(col("at"), ticking));
  EXPECT_EQ(still.graph->tick_period(), std::nullopt);
  EXPECT_EQ(flow.graph->tick_period(), 2s);
  EXPECT_EQ(still.run(1, 3s) + flow.run(1, 3s), "");
  EXPECT_EQ(flow.take(flow.graph->tick(Timestamp(14s))), "");
  EXPECT_EQ(flow.take(flow.graph->tick(Timestamp(15s))), "+1 1 from 0\n");
  EXPECT_EQ(still.take(still.graph->tick(Timestamp(15s))), "");
}

TEST(WindowClosing, NamesARowThatWentWithoutHavingCome) {
  const Flow flow(tumbling(col("at"), 10s, {.emit = WindowEmit::on_close}));
  const auto result =
      flow.graph->run({{"events", make_batch(events, Rows{{{1, Timestamp(0s)}, -1}})}});
  EXPECT_EQ(result.error(), Errc::unknown_row);
}

/// What windows that close give, from all that ever happened.
class Closed {
 public:
  explicit Closed(Window window) : window_(std::move(window)) {}

  void apply(const data::ChangeBatch& batch) {
    std::optional<Timestamp> greatest;
    Rows changes;
    add(changes, batch);
    for (const auto& [row, weight] : changes) {
      const Rows panes = evaluate(window_, Rows{{row, 1}}, RandomEvents::schema());
      for (const auto& [pane, unused] : panes)
        if (!is_closed(pane)) add(accepted_, pane, weight);
      if (!panes.empty() && weight > 0)
        greatest = std::max(greatest.value_or(data::timestamp_min), row[1].as<Timestamp>());
    }
    if (greatest) advance(*greatest - *window_.lateness);
  }
  void advance(Timestamp to) { watermark_ = std::max(watermark_, to); }

  Rows rows() const {
    if (window_.emit == WindowEmit::at_once) return accepted_;
    Rows rows = accepted_;
    std::erase_if(rows, [this](const auto& row) { return !is_closed(row.first); });
    return rows;
  }

 private:
  bool is_closed(const Row& pane) const { return pane.back().as<Timestamp>() <= watermark_; }

  Window window_;
  Rows accepted_;
  Timestamp watermark_ = data::timestamp_min;
};

TEST(WindowClosing, GivesWhatItsHistoryMakesOfIt) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    data::test::RandomData random(seed);
    // Without gaps: there a row that is in no window moves the watermark, too.
    const std::chrono::seconds hop(random.below(6) + 1);
    const Window window = hopping(col("at"), {.size = hop * (random.below(3) + 1),
                                              .hop = hop,
                                              .lateness = std::chrono::seconds(random.below(30)),
                                              .emit = static_cast<WindowEmit>(random.below(2))});
    auto graph = Graph::make(from("events", RandomEvents::schema()).window(window),
                             {.row_errors = RowErrorPolicy::drop})
                     .value();
    RandomEvents table(random.one_in(4));
    Closed expected(window);
    Rows found;
    for (int cycle = 0; cycle < 10; ++cycle) {
      const data::ChangeBatch batch = table.change(8, random);
      expected.apply(batch);
      add(found, graph->run({{"events", batch}}).value());
      if (random.one_in(3)) {
        const Timestamp time(std::chrono::seconds(random.below(40)) - 20s);
        expected.advance(time);
        add(found, graph->watermark(time).value());
      }
      graph->commit();
      ASSERT_EQ(to_string(found), to_string(expected.rows()))
          << "seed " << seed << " cycle " << cycle;
    }
  }
}

}  // namespace
}  // namespace weir::flow::operators::test
