// Crashes at every commit of a removal: what is not due stays, and nothing is there by halves.
#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/errc.hpp>
#include <weir/tests/flow/workflow/support/engine_fixture.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;

class RetentionCrashTest : public testing::EngineTest {
 protected:
  struct Made {
    ExecutionId rich;
    std::vector<ExecutionId> plain;
    CreatedGraph graph;
    ExecutionId live;
  };
  static constexpr std::uint32_t entries = 7;

  static EngineOptions options() {
    return {.retention = {.keep = 5s, .keep_notices = 5s, .period = 1s, .removals_max = 3}};
  }
  Made make() {
    Made made;
    made.rich = create({.kind = "rich", .lane = "rich"});
    for (std::uint32_t i = 0; i < entries; ++i) {
      EXPECT_TRUE(run(engine().approve({made.rich, "x", "", std::to_string(i)})));
    }
    const Handle handle = claim({.worker = "w", .lane = "rich"}).at(0).handle;
    for (std::uint32_t i = 0; i < entries; ++i) {
      EXPECT_TRUE(run(engine().append_journal(handle, i, {{.name = "step"}})));
    }
    EXPECT_TRUE(run(engine().complete(handle, "done")));
    for (int i = 0; i < 4; ++i) made.plain.push_back(create());
    NewGraph graph{.executions = std::vector<NewExecution>(5, {.kind = "w"})};
    for (std::size_t i = 0; i < 4; ++i) graph.edges.push_back({i, 4, "in"});
    made.graph = run(engine().create_graph(graph)).value();
    for (;;) {
      auto claimed = claim({.worker = "w", .executions_max = 100});
      if (claimed.empty()) break;
      for (const Claimed& one : claimed) EXPECT_TRUE(run(engine().complete(one.handle, "done")));
    }
    made.live = create({.kind = "live", .lane = "live"});
    return made;
  }
  /// Gone, or as it was.
  void expect_whole_or_gone(const ExecutionId& id, std::size_t journal, std::uint64_t write) {
    if (!run(engine().describe(id)).value()) return;
    EXPECT_EQ(run(engine().result(id)).value(), "done") << write;
    EXPECT_EQ(run(engine().attempts(id)).value().size(), 1U) << write;
    const auto entries_left = run(engine().journal(id));
    ASSERT_TRUE(entries_left) << write << ": " << entries_left.error().message();
    EXPECT_EQ(entries_left->entries.size(), journal) << write;
    EXPECT_EQ(run(engine().signals(id)).value().size(), journal) << write;
  }
  /// A workflow that is there has all its executions.
  void expect_whole_or_gone(const CreatedGraph& graph, std::uint64_t write) {
    for (const ExecutionId& id : graph.executions) expect_whole_or_gone(id, 0, write);
    if (!run(engine().describe(graph.workflow)).value()) return;
    EXPECT_EQ(run(engine().members(graph.workflow)).value().items.size(), 5U) << write;
    EXPECT_EQ(run(engine().edges_into(graph.workflow, graph.executions[4])).value().size(), 4U)
        << write;
  }
};

TEST_F(RetentionCrashTest, NothingIsLostOrLeftByHalvesWhereverItCrashes) {
  create({.kind = "live", .lane = "live"});
  const auto rows_of_one = rows();
  ASSERT_TRUE(run(engine().cancel(claim({.worker = "w", .lane = "live"}).at(0).handle.execution)));
  bool is_through = false;
  for (std::uint64_t write = 1; !is_through; ++write) {
    ASSERT_LT(write, 200U);
    const Made made = make();
    reopen(options());
    fail_commit(write);
    pass(8s);
    is_through = !has_failed();
    crash();
    expect_whole_or_gone(made.rich, entries, write);
    for (const ExecutionId& id : made.plain) expect_whole_or_gone(id, 0, write);
    expect_whole_or_gone(made.graph, write);
    EXPECT_TRUE(run(engine().describe(made.live)).value()) << write;
    // What was begun is finished.
    reopen(options());
    pass(8s);
    EXPECT_TRUE(run(engine().describe(made.live)).value()) << write;
    EXPECT_EQ(rows(), rows_of_one) << write;
    ASSERT_TRUE(run(engine().cancel(made.live)).value());
    pass(8s);
    EXPECT_TRUE(rows().empty()) << write;
  }
}

}  // namespace
}  // namespace weir::flow::workflow
