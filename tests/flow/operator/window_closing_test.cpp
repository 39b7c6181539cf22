#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/memory_state.hpp>
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
  EXPECT_TRUE(Flow(session(col("at"), 10s, {.lateness = 0s})).graph->needs_each_version());
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

TEST(WindowClosing, ASessionThatHasClosedDoesNotGoOn) {
  const Flow flow(session(col("at"), 10s, {.lateness = 0s}));
  EXPECT_EQ(flow.run(1, 0s), "+1 1 from 0\n");
  EXPECT_EQ(flow.run(2, 10s), "+1 2 from 10\n");  // the first one has ended
  EXPECT_EQ(flow.run(3, 5s), "+1 2 from 5\n-1 2 from 10\n+1 3 from 5\n");
  EXPECT_EQ(flow.graph->counts().late_rows, 0u);
  EXPECT_EQ(flow.run(4, 0s), "");
  EXPECT_EQ(flow.run(1, 0s, -1), "");
  EXPECT_EQ(flow.graph->counts().late_rows, 2u);
}

TEST(WindowClosing, WhatIsLeftOfASessionMayBeOver) {
  const Flow flow(session(col("at"), 10s, {.lateness = 0s, .emit = WindowEmit::on_close}));
  EXPECT_EQ(flow.run(1, 0s), "");
  EXPECT_EQ(flow.run(2, 9s), "");
  EXPECT_EQ(flow.run(3, 15s), "");
  EXPECT_EQ(flow.run(2, 9s, -1), "+1 1 from 0\n");
  EXPECT_EQ(flow.run(4, 25s), "+1 3 from 15\n");
}

TEST(WindowClosing, SessionsOfAllGroupsCloseTogether) {
  const Flow flow(
      session(col("at"), 10s,
              {.per = {"id"}, .lateness = 5s, .emit = WindowEmit::on_close, .tick_period = 1s}));
  EXPECT_EQ(flow.run(1, 0s) + flow.run(2, 1s), "");
  EXPECT_EQ(flow.run(3, 15s), "+1 1 from 0\n");
  EXPECT_EQ(flow.take(flow.graph->tick(Timestamp(16s))), "+1 2 from 1\n");
}

TEST(WindowClosing, WindowsThatHaveTheirEndCloseBehindIt) {
  for (const Window& window :
       {rolling(col("at"), 10s, {.lateness = 0s, .emit = WindowEmit::on_close}),
        sliding(col("at"), 10s, {.lateness = 0s, .emit = WindowEmit::on_close})}) {
    const Flow flow(window);
    EXPECT_EQ(flow.run(1, 10s), "");
    EXPECT_EQ(flow.run(2, 10s), "");  // it is not late yet
    EXPECT_EQ(flow.run(3, 10000001us), "+1 1 from 0\n+1 2 from 0\n");
    EXPECT_EQ(flow.run(4, 10s), "");
    EXPECT_EQ(flow.graph->counts().late_rows, 1u);
  }
}

TEST(WindowClosing, WindowsByRowsCloseWhenTheyAreFull) {
  const Flow flow(tumbling_rows(col("at"), 2, {.lateness = 0s, .emit = WindowEmit::on_close}));
  EXPECT_EQ(flow.run(1, 1s), "");
  EXPECT_EQ(flow.run(2, 5s), "");
  EXPECT_EQ(flow.run(3, 6s), "+1 1 from 1\n+1 2 from 1\n");
  EXPECT_EQ(flow.run(4, 20s), "");
  EXPECT_EQ(flow.run(5, 21s), "+1 3 from 6\n+1 4 from 6\n");
  const Flow hops(hopping_rows(col("at"), {.rows = 2, .hop = 1},
                               {.lateness = 0s, .emit = WindowEmit::on_close}));
  EXPECT_EQ(hops.run(1, 1s) + hops.run(2, 5s), "");
  EXPECT_EQ(hops.run(3, 6s), "+1 1 from 1\n+1 2 from 1\n");
  EXPECT_EQ(hops.run(4, 7s), "+1 2 from 5\n+1 3 from 5\n");
}

TEST(WindowClosing, WindowsByRowsThatCloseAreOrderedByATime) {
  const auto refused =
      Graph::make(from("events", events).window(tumbling_rows(col("id"), 2, {.lateness = 0s})));
  EXPECT_EQ(refused.error().message(),
            "type mismatch: window: id is a time, so it must be timestamp or date, not int64");
}

TEST(WindowClosing, NothingClosesWhileRowsComeThatWereThereBefore) {
  const TumblingOptions options{.lateness = 0s, .emit = WindowEmit::on_close, .tick_period = 1s};
  for (const Window& window :
       {tumbling(col("at"), 10s, options),
        session(col("at"), 5s,
                {.lateness = 0s, .emit = WindowEmit::on_close, .tick_period = 1s})}) {
    const Flow flow(window);
    flow.graph->set_filling(true);
    EXPECT_EQ(flow.run(1, 40s), "");
    EXPECT_EQ(flow.run(2, 0s), "");
    EXPECT_EQ(flow.take(flow.graph->tick(Timestamp(20s))), "");
    EXPECT_EQ(flow.run(3, 20s), "");
    const auto filled = flow.graph->filled();
    // What was held is not needed any more.
    const auto writes = flow.graph->state().writes();
    EXPECT_EQ(std::ranges::count_if(writes,
                                    [](const State::Write& write) {
                                      return write.key.ends_with("held") && !write.value;
                                    }),
              1);
    EXPECT_EQ(flow.take(filled), "+1 2 from 0\n+1 3 from 20\n");
    EXPECT_EQ(flow.run(4, 1s), "");
    EXPECT_EQ(flow.graph->counts().late_rows, 1u);
    EXPECT_EQ(flow.take(flow.graph->filled()), "");
  }
}

/// A row a second for one of two groups in turn, and now and then one that goes again.
std::size_t state_after(const Window& window, int seconds) {
  MemoryState store;
  GraphOptions options;
  options.state.reader = &store;
  auto graph = Graph::make(from("events", events).window(window), options).value();
  const auto run = [&](int id, std::chrono::seconds at, data::Weight weight) {
    const data::ChangeBatch batch = make_batch(events, Rows{{{id, Timestamp(at)}, weight}});
    EXPECT_TRUE(graph->run({{"events", batch}}));
    store.write(graph->state().writes());
    graph->commit();
  };
  for (int second = 0; second < seconds; ++second) {
    // Now and then nothing comes for long enough to end a session.
    const std::chrono::seconds at(second + second / 10 * 20);
    run(second % 2, at, 1);
    run(7, at, 1);
    run(7, at, -1);
  }
  return store.entries().size();
}

TEST(WindowClosing, ForgetsWhatNoOpenWindowNeeds) {
  for (const WindowEmit emit : {WindowEmit::at_once, WindowEmit::on_close}) {
    const WindowGroups groups{.per = {"id"}, .lateness = 5s, .emit = emit};
    for (const Window& window :
         {session(col("at"), 10s, groups), rolling(col("at"), 10s, groups),
          sliding(col("at"), 10s, groups), tumbling_rows(col("at"), 4, groups),
          hopping_rows(col("at"), {.rows = 4, .hop = 2}, groups),
          hopping_rows(col("at"), {.rows = 2, .hop = 5}, groups),
          rolling_rows(col("at"), 3, groups)}) {
      const std::string form = "form " + std::to_string(static_cast<int>(window.form));
      // Where rows were in the first half is not found any more in the second.
      EXPECT_EQ(state_after(window, 200), state_after(window, 400)) << form;
      EXPECT_LT(state_after(window, 200), 200u) << form;
    }
  }
}

TEST(WindowClosing, ForgetsGroupsThatNobodyTouchesAnyMore) {
  MemoryState store;
  GraphOptions options;
  options.state.reader = &store;
  const Window window = session(col("at"), 10s, {.per = {"id"}, .lateness = 0s});
  auto graph = Graph::make(from("events", events).window(window), options).value();
  const auto entries_after = [&](int id, std::chrono::seconds at) {
    const data::ChangeBatch batch = make_batch(events, Rows{{{id, Timestamp(at)}, 1}});
    EXPECT_TRUE(graph->run({{"events", batch}}));
    store.write(graph->state().writes());
    graph->commit();
    return store.entries().size();
  };
  // Two sessions, then those of others.
  entries_after(1, 0s);
  entries_after(1, 9s);
  entries_after(1, 30s);
  entries_after(2, 35s);
  const std::size_t with_both = entries_after(2, 36s);
  entries_after(2, 100s);
  EXPECT_LT(entries_after(2, 200s), with_both);
  EXPECT_EQ(entries_after(2, 300s), entries_after(2, 400s));
  // The watermark, the last row and the one before it, each with its session, and when to look.
  EXPECT_EQ(store.entries().size(), 7u);
}

TEST(WindowClosing, EveryFormGivesWhatItsHistoryMakesOfIt) {
  for (std::uint64_t seed = 0; seed < 1'500; ++seed) {
    data::test::RandomData random(seed);
    const Window window = random_closing_window(random);
    const Plan plan = from("events", RandomEvents::schema()).window(window);
    auto graph =
        Graph::make(Plan::decode(plan.encode()).value(), {.row_errors = RowErrorPolicy::drop})
            .value();
    RandomEvents table(random.one_in(4));
    ClosingHistory expected(window, RandomEvents::schema());
    Rows found;
    for (int cycle = 0; cycle < 10; ++cycle) {
      const data::ChangeBatch batch = table.change(8, random);
      Rows changes;
      add(changes, batch);
      expected.apply(changes);
      add(found, graph->run({{"events", batch}}).value());
      if (random.one_in(3)) {
        const Timestamp time(std::chrono::seconds(random.below(40)) - 20s);
        expected.advance(time);
        add(found, graph->watermark(time).value());
      }
      graph->commit();
      ASSERT_EQ(to_string(found), to_string(expected.rows()))
          << "seed " << seed << " cycle " << cycle << " form " << static_cast<int>(window.form);
      ASSERT_EQ(graph->counts().late_rows, expected.late_rows()) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace weir::flow::operators::test
