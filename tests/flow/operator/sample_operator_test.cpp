// The operator of `samples/custom_operator`, tested as its author would.
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>

#include <weir/flow/operator/harness.hpp>
#include <weir/flow/operator/operator_registry.hpp>
#include <weir/samples/custom_operator/moved.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {
namespace {

const data::SchemaRef readings = sensors::readings_schema();

data::Timestamp second(std::int64_t number) {
  return data::Timestamp(std::chrono::seconds(number));
}

class SampleOperator : public ::testing::Test {
 protected:
  SampleOperator() { registry_.add("moved", &sensors::Moved::make).value(); }

  OperatorHarness make(double threshold = 0.5) const {
    return OperatorHarness(from("readings", readings).apply("moved", {threshold}),
                           {.library = {.operators = &registry_}});
  }
  static data::ChangeBatch batch(const std::vector<std::pair<Row, data::Weight>>& rows) {
    return make_batch(readings, rows);
  }

  OperatorRegistry registry_;
};

// [harness]
TEST_F(SampleOperator, GivesReadingsThatMovedAndKeepsTheRules) {
  OperatorHarness harness = make(0.5);
  harness.add("readings", batch({{{"a", second(0), 20.0}, 1}, {{"a", second(2), 20.8}, 1}}));
  harness.add("readings", batch({{{"a", second(1), 20.4}, 1}}));  // late
  harness.add("readings",
              batch({{{"a", second(0), 20.0}, -1}, {{"a", second(0), 20.5}, 1}}));  // corrected
  EXPECT_EQ(to_string(harness.result().value()), "+1 ('a', 1970-01-01T00:00:00Z, 20.5)\n");
  const auto checked = harness.check();
  EXPECT_TRUE(checked) << checked.error().message();
}
// [/harness]

TEST_F(SampleOperator, KeepsTheRulesWhateverHappens) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::map<Row, double> there;
    OperatorHarness harness = make(1.0);
    for (int cycle = 0; cycle < 12; ++cycle) {
      std::vector<std::pair<Row, data::Weight>> rows;
      for (std::uint64_t count = 1 + random() % 4; count > 0; --count) {
        const Row key = {random() % 2 == 0 ? "a" : "b",
                         second(static_cast<std::int64_t>(random() % 6))};
        const double celsius = static_cast<double>(random() % 8) / 2;
        if (const auto at = there.find(key); at != there.end()) {
          rows.push_back({{key[0], key[1], at->second}, -1});
          there.erase(at);
          if (random() % 2 == 0) continue;
        }
        rows.push_back({{key[0], key[1], celsius}, 1});
        there.emplace(key, celsius);
      }
      harness.add("readings", batch(rows));
    }
    const auto checked = harness.check();
    ASSERT_TRUE(checked) << checked.error().message();
  }
}

TEST_F(SampleOperator, RefusesWhatItCannotTake) {
  const auto refusal = [&](const Plan& plan) {
    const auto graph = Graph::make(plan, {.library = {.operators = &registry_}});
    return graph ? "accepted" : graph.error().message();
  };
  EXPECT_EQ(refusal(from("readings", readings).apply("moved")),
            "invalid argument: apply moved: takes a threshold");
  EXPECT_EQ(refusal(from("words", make_schema({{"word", data::Kind::text}})).apply("moved", {0.5})),
            "wrong schema: apply moved: takes readings");
}

}  // namespace
}  // namespace weir::flow::operators::test
