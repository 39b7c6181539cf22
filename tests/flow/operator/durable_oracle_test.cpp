// The random queries again, over state that is not in memory: read back after each cycle and after
// restarts, interrupted wherever it is read, forgotten and run again. Both tables change in one
// cycle.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/memory_state.hpp>
#include <weir/tests/flow/operator/support/oracle.hpp>
#include <weir/tests/flow/operator/support/oracle_window.hpp>
#include <weir/tests/flow/operator/support/random_events.hpp>
#include <weir/tests/flow/operator/support/random_plan.hpp>
#include <weir/tests/flow/operator/support/random_table.hpp>
#include <weir/tests/runtime/support/scaled.hpp>

namespace weir::flow::operators::test {
namespace {

/// Reads a number of times, then would have to wait.
class TiredReader final : public StateReader {
 public:
  explicit TiredReader(StateReader& below) : below_(below) {}

  Result<std::optional<std::string>> get(std::string_view key) override {
    if (reads_ == 0) return Errc::would_block;
    --reads_;
    return below_.get(key);
  }
  Result<std::vector<Entry>> scan(const Range& range) override {
    if (reads_ == 0) return Errc::would_block;
    --reads_;
    return below_.scan(range);
  }
  void allow(std::size_t reads) noexcept { reads_ = reads; }

 private:
  StateReader& below_;
  std::size_t reads_ = 0;
};

/// A plan whose every cycle is interrupted.
class Troubled {
 public:
  Troubled(Plan plan, data::test::RandomData& random) : plan_(std::move(plan)), random_(random) {
    restart();
  }

  const std::vector<Graph::SourceInfo>& sources() const { return graph_->sources(); }

  Result<data::ChangeBatch> run(const std::vector<Graph::SourceChanges>& changes) {
    if (random_.one_in(4)) restart();
    for (std::size_t reads = 0;; reads += 1 + random_.below(2)) {
      reader_.allow(reads);
      auto result = graph_->run(changes);
      if (!result && result.error().code() != Errc::would_block) return result;
      // What was run is forgotten once more, sometimes, though it succeeded.
      if (!result || random_.one_in(5)) {
        graph_->roll_back();
        continue;
      }
      store_.write(graph_->state().writes());
      graph_->commit();
      return result;
    }
  }

 private:
  void restart() {
    GraphOptions options{.row_errors = RowErrorPolicy::drop};
    options.state = {.memory_max = random_.one_in(3) ? std::size_t{5'000} : std::size_t{1},
                     .reader = &reader_,
                     .is_new = store_.entries().empty()};
    graph_ = Graph::make(plan_, options).value();
  }

  Plan plan_;
  data::test::RandomData& random_;
  MemoryState store_;
  TiredReader reader_{store_};
  std::unique_ptr<Graph> graph_;
};

void run_case(std::uint64_t seed) {
  data::test::RandomData random(seed);
  std::vector<RandomTable> tables;
  tables.push_back(RandomTable::make("left", 'l', 4, random));
  tables.push_back(RandomTable::make("right", 'r', 4, random));
  const Plan plan = RandomPlan(tables, random).make(5);
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(plan));
  Troubled troubled(plan, random);
  Rows found;
  for (int cycle = 0; cycle < 5; ++cycle) {
    std::vector<Graph::SourceChanges> changes;
    for (RandomTable& table : tables) {
      const bool is_read = std::ranges::any_of(
          troubled.sources(), [&](const auto& source) { return source.name == table.name(); });
      if (is_read) changes.push_back({table.name(), table.change(10, random)});
    }
    auto result = troubled.run(changes);
    ASSERT_TRUE(result) << result.error().message();
    add(found, *result);
    const Rows expected = evaluate(plan, {{"left", tables[0].rows()}, {"right", tables[1].rows()}});
    ASSERT_EQ(to_string(found), to_string(expected)) << "cycle " << cycle;
  }
}

TEST(DurableOracle, EveryPlanEqualsItsQueryWhateverInterruptsIt) {
  for (std::uint64_t seed = 0; seed < 300 && !::testing::Test::HasFatalFailure(); ++seed)
    run_case(seed);
}

TEST(DurableOracle, EveryWindowEqualsItsQueryWhateverInterruptsIt) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    data::test::RandomData random(seed);
    const Window window = random_window(random);
    SCOPED_TRACE("seed " + std::to_string(seed));
    Troubled troubled(from("events", RandomEvents::schema()).window(window), random);
    RandomEvents events;
    Rows found;
    for (int cycle = 0; cycle < 6; ++cycle) {
      auto result = troubled.run({{"events", events.change(10, random)}});
      ASSERT_TRUE(result) << result.error().message();
      add(found, *result);
      const Rows expected = evaluate(window, events.rows(), RandomEvents::schema());
      ASSERT_EQ(to_string(found), to_string(expected)) << "cycle " << cycle;
    }
  }
}

/// So many rows that operators give them in parts.
TEST(DurableOracle, LargeBatchesAreTakenInParts) {
  const auto schema = make_schema({{"key", data::Kind::int64}, {"n", data::Kind::int64}});
  const auto rows = [](std::int64_t from, std::int64_t until) {
    Rows made;
    for (std::int64_t n = from; n < until; ++n) made[{n % 2, n}] = 1 + n % 3;
    return made;
  };
  const auto changes = [&](const Rows& before, const Rows& after) {
    std::vector<std::pair<Row, data::Weight>> all;
    for (const auto& [row, weight] : before) all.emplace_back(row, -weight);
    for (const auto& [row, weight] : after) all.emplace_back(row, weight);
    return make_batch(schema, all);
  };
  for (int kind = 0; kind < 6; ++kind) {
    for (const bool has_condition : {false, true}) {
      if (WEIR_TEST_IS_SLOW && has_condition == (kind % 2 == 0)) continue;
      SCOPED_TRACE(std::to_string(kind) + (has_condition ? " with a condition" : ""));
      JoinOptions options{.on = {"key"}, .kind = static_cast<JoinKind>(kind), .right_prefix = "r"};
      options.on = {{"key", "key"}};
      if (has_condition) options.condition = data::col("n") % 7 == data::col("rn") % 7;
      const Plan plan = from("left", schema).join(from("right", schema), options);
      auto graph = Graph::make(plan).value();
      Rows left;
      Rows right;
      Rows found;
      const std::pair<Rows, Rows> steps[] = {{rows(0, 300), rows(0, 200)},
                                             {rows(100, 350), rows(0, 1)},
                                             {rows(100, 350), rows(50, 250)},
                                             {{}, rows(50, 250)},
                                             {{}, {}}};
      for (const auto& [next_left, next_right] : steps) {
        add(found,
            graph->run({{"left", changes(left, next_left)}, {"right", changes(right, next_right)}})
                .value());
        graph->commit();
        left = next_left;
        right = next_right;
        const Rows expected = evaluate(plan, {{"left", left}, {"right", right}});
        ASSERT_EQ(found, expected);
      }
    }
  }
}

}  // namespace
}  // namespace weir::flow::operators::test
