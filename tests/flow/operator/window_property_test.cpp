#include <gtest/gtest.h>

#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/harness.hpp>
#include <weir/tests/flow/operator/support/oracle_window.hpp>
#include <weir/tests/flow/operator/support/random_events.hpp>

namespace weir::flow::operators::test {
namespace {

std::string describe(const Window& window) {
  std::string text = "form " + std::to_string(static_cast<int>(window.form)) + " by " +
                     to_string(window.order) + " size " + data::to_string(window.size) + " hop " +
                     data::to_string(window.hop) + " offset " + data::to_string(window.offset) +
                     " rows " + std::to_string(window.rows) + " every " +
                     std::to_string(window.hop_rows);
  for (const std::string& column : window.per) text += " per " + column;
  return text;
}

void run_case(std::uint64_t seed) {
  data::test::RandomData random(seed);
  const Window window = random_window(random);
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(window));
  const Plan plan = from("events", RandomEvents::schema()).window(window);
  auto graph =
      Graph::make(Plan::decode(plan.encode()).value(), {.row_errors = RowErrorPolicy::drop})
          .value();
  RandomEvents events;
  Rows found;
  for (int cycle = 0; cycle < 8; ++cycle) {
    auto result = graph->run({{"events", events.change(10, random)}});
    ASSERT_TRUE(result) << result.error().message();
    graph->commit();
    add(found, *result);
    const Rows expected = evaluate(window, events.rows(), RandomEvents::schema());
    ASSERT_EQ(to_string(found), to_string(expected)) << "cycle " << cycle;
  }
}

TEST(WindowProperty, EveryFormEqualsItsQuery) {
  for (std::uint64_t seed = 0; seed < 600 && !testing::Test::HasFatalFailure(); ++seed)
    run_case(seed);
}

TEST(WindowProperty, EveryFormPassesTheHarness) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    data::test::RandomData random(seed);
    const Window window = random_window(random);
    OperatorHarness harness(from("events", RandomEvents::schema()).window(window),
                            {.row_errors = RowErrorPolicy::drop});
    RandomEvents events;
    for (int cycle = 0; cycle < 4; ++cycle) harness.add("events", events.change(12, random));
    const auto checked = harness.check();
    ASSERT_TRUE(checked) << "seed " << seed << ": " << describe(window) << "\n"
                         << checked.error().message();
  }
}

TEST(WindowProperty, EveryFormThatClosesPassesTheHarness) {
  using namespace std::chrono_literals;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    data::test::RandomData random(seed);
    Window window = random_closing_window(random);
    window.tick_period = 1s;
    const Plan plan = from("events", RandomEvents::schema()).window(window);
    OperatorHarness harness(plan, {.row_errors = RowErrorPolicy::drop, .is_retractable = false});
    RandomEvents events(random.one_in(4));
    for (int cycle = 0; cycle < 5; ++cycle) {
      harness.add("events", events.change(12, random));
      const data::Timestamp time(std::chrono::seconds(random.below(40)) - 20s);
      if (random.one_in(3)) harness.add_watermark(time);
      if (random.one_in(3)) harness.add_tick(time);
    }
    const auto checked = harness.check();
    ASSERT_TRUE(checked) << "seed " << seed << ": " << describe(window) << "\n"
                         << checked.error().message();
  }
}

}  // namespace
}  // namespace weir::flow::operators::test
