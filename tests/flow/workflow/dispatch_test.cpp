#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/workflow/engine.hpp>
#include <weir/tests/flow/workflow/support/engine_fixture.hpp>

// An engine that looks after some namespaces leaves what is to be cancelled in others alone.
namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;

class DispatchTest : public testing::EngineTest {
 protected:
  /// Two of whom one is enough.
  CreatedGraph race(const std::string& space) {
    NewGraph graph{.workflow = {.space = space},
                   .executions = std::vector<NewExecution>(3, {.kind = "w", .lane = space})};
    graph.edges = {{0, 2}, {1, 2}};
    graph.policies = {{2, EdgePolicy::any_of(OnSatisfied::cancel_remaining)}};
    return run(engine().create_graph(graph)).value();
  }
  /// The first of them is done; gives the other one.
  ExecutionId decide(const CreatedGraph& graph, const std::string& space) {
    const Claimed first = claim({.worker = "w", .lane = space}).at(0);
    EXPECT_TRUE(run(engine().complete(first.handle)));
    return first.handle.execution == graph.executions[0] ? graph.executions[1]
                                                         : graph.executions[0];
  }
};

TEST_F(DispatchTest, SiblingsOfOtherNamespacesAreLeftToOthers) {
  reopen({.dispatch_spaces = {"mine", "ours"}});
  const ExecutionId mine = decide(race("mine"), "mine");
  const ExecutionId theirs = decide(race("theirs"), "theirs");
  pass(5s);
  EXPECT_EQ(state_of(mine), PublicState::cancelled);
  EXPECT_EQ(state_of(theirs), PublicState::waiting);
  EXPECT_EQ(run(engine().report()).value().siblings_cancelled, 1U);
  EXPECT_TRUE(run(engine().set_aside()).value().empty());
  // It is not forgotten.
  reopen({.dispatch_spaces = {"theirs"}});
  pass(5s);
  EXPECT_EQ(state_of(theirs), PublicState::cancelled);
}

TEST_F(DispatchTest, TheRestOfAFailedWorkflowLikewise) {
  reopen({.dispatch_spaces = {"mine"}});
  const auto fail_first = [&](const std::string& space) {
    NewGraph graph{.workflow = {.space = space, .on_failure = FailurePolicy::fail_fast},
                   .executions = std::vector<NewExecution>(3, {.kind = "w", .lane = space})};
    const auto made = run(engine().create_graph(graph)).value();
    const Claimed first = claim({.worker = "w", .lane = space}).at(0);
    EXPECT_TRUE(run(engine().fail(first.handle, {.reason = "no", .is_final = true})));
    return made.workflow;
  };
  const WorkflowId mine = fail_first("mine");
  const WorkflowId theirs = fail_first("theirs");
  pass(5s);
  EXPECT_EQ(describe(mine).counts[PublicState::cancelled], 2U);
  EXPECT_EQ(describe(theirs).counts[PublicState::waiting], 2U);
  // Nobody begins what is to be cancelled, whoever does that.
  EXPECT_TRUE(claim({.worker = "w", .lane = "theirs"}).empty());
  reopen();
  pass(5s);
  EXPECT_EQ(describe(theirs).counts[PublicState::cancelled], 2U);
}

// One that is made after many others, each with more to cancel than is done in one go, need not
// wait until all of those are through.
TEST_F(DispatchTest, GroupsTakeTurns) {
  reopen({.dispatch_spaces = {"nobody"}});
  std::vector<std::vector<ExecutionId>> rests;
  const auto add = [&](std::size_t groups, std::size_t upstreams) {
    NewGraph graph;
    for (std::size_t group = 0; group < groups; ++group) {
      const std::size_t first = graph.executions.size();
      for (std::size_t i = 0; i <= upstreams; ++i) {
        graph.executions.push_back({.kind = "w", .lane = i == 0 ? "go" : "rest"});
        if (i < upstreams) graph.edges.push_back({first + i, first + upstreams});
      }
      graph.policies.push_back(
          {first + upstreams, EdgePolicy::any_of(OnSatisfied::cancel_remaining)});
    }
    const auto made = run(engine().create_graph(graph)).value().executions;
    for (std::size_t group = 0; group < groups; ++group) {
      const auto begin = made.begin() + static_cast<std::ptrdiff_t>(group * (upstreams + 1));
      rests.emplace_back(begin + 1, begin + static_cast<std::ptrdiff_t>(upstreams));
    }
    leap(10ms);  // those that come later are behind them
  };
  add(70, 7);
  add(1, 2);
  for (const Claimed& one : claim({.worker = "w", .lane = "go", .executions_max = 100})) {
    ASSERT_TRUE(run(engine().complete(one.handle)));
  }
  reopen({.cancels_max = 2});
  pass(2s);
  std::map<ExecutionId, std::uint64_t> ended;
  for (std::uint64_t from = 1;;) {
    const auto notices = run(engine().notices(from)).value();
    if (notices.empty()) break;
    from = notices.back().first + 1;
    for (const auto& [number, notice] : notices) {
      if (notice.kind == NoticeKind::completion) ended[notice.execution] = number;
    }
  }
  std::uint64_t last = 0;
  for (const auto& rest : rests) {
    for (const ExecutionId& id : rest) {
      ASSERT_TRUE(ended.contains(id));
      last = std::max(last, ended[id]);
    }
  }
  EXPECT_LT(ended[rests.back().at(0)] + 70, last) << "it waited for all of them";
}

}  // namespace
}  // namespace weir::flow::workflow
