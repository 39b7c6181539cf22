// A workflow with all that edges can do, on whichever store: it ends as it would have, wherever it
// crashes.
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/workflow/engine.hpp>
#include <weir/tests/flow/workflow/support/engine_fixture.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;

class GraphCrashTest : public testing::EngineTest {
 protected:
  struct Ending {
    std::string workflow;
    std::multiset<std::string> executions;  // their kinds and states

    friend bool operator==(const Ending&, const Ending&) = default;
    friend void PrintTo(const Ending& ending, std::ostream* out) {
      *out << ending.workflow << ": " << ::testing::PrintToString(ending.executions);
    }
  };

  /// One of three couriers is enough, the invoice is written at the second attempt, there is no
  /// gift and so no card.
  static NewGraph delivery(const std::string& lane) {
    NewGraph graph;
    graph.workflow.on_failure = FailurePolicy::isolate;
    for (const char* kind :
         {"order", "courier", "courier", "courier", "ship", "invoice", "archive", "gift", "card"}) {
      graph.executions.push_back({.kind = kind,
                                  .lane = lane,
                                  .retry = {.retries_max = 1, .backoff = 100ms},
                                  .limit_keys = {lane}});
    }
    graph.executions[7].retry.retries_max = 0;
    graph.edges = {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 4},
                   {0, 5}, {4, 6}, {5, 6}, {0, 7}, {7, 8}};
    graph.policies = {{4, EdgePolicy::quorum(1, OnSatisfied::cancel_remaining)}};
    return graph;
  }

  /// Lets one worker do it, whatever happens at a commit: none if that is the zeroth.
  Ending deliver(const std::string& lane, std::uint64_t failing_commit, std::size_t survivors) {
    const int before = crashes_;
    if (failing_commit > 0) fail_commit(failing_commit);
    auto made = run(engine().create_graph(delivery(lane)));
    if (!made) {
      crash_now(survivors);
      if (executions_of(lane).empty()) {
        made = run(engine().create_graph(delivery(lane)));
        EXPECT_TRUE(made);
      }
    }
    const WorkflowId workflow = made ? made->workflow : workflow_of(lane);
    for (int rounds = 0; rounds < 20; ++rounds) {
      work(lane);
      if (has_failed()) crash_now(survivors);
      // For leases that nobody knows of, and the second attempt.
      pass(2s);
      if (describe(workflow).has_ended()) break;
    }
    if (failing_commit > 0 && (has_failed() || crashes_ == before)) crash_now(survivors);
    return judge(workflow, lane);
  }
  int crashes() const { return crashes_; }

 private:
  void crash_now(std::size_t survivors) {
    if (has_failed()) ++crashes_;
    crash(survivors);
    pass(1s);  // until whoever was there before owns nothing
  }
  std::vector<ExecutionId> executions_of(const std::string& lane) {
    std::vector<ExecutionId> found;
    const auto page = run(engine().list_executions({.lane = lane}, {}, 100)).value();
    for (const ExecutionSummary& one : page.items) found.push_back(one.id);
    return found;
  }
  /// If whoever made it was not answered: all of it is there.
  WorkflowId workflow_of(const std::string& lane) {
    const auto executions = executions_of(lane);
    EXPECT_EQ(executions.size(), 9U);
    return describe(executions.front()).execution.workflow.value();
  }

  /// One after the other until there is nothing to do, or nothing can be committed.
  void work(const std::string& lane) {
    while (!has_failed()) {
      const auto claimed = run(engine().claim({.worker = "w", .lane = lane, .lease = 1s}));
      if (!claimed || claimed->empty()) return;
      for (const Claimed& claim : *claimed) treat(claim);
      give_way();  // to whoever cancels those who are not needed any more
    }
  }
  void treat(const Claimed& claim) {
    const std::string& kind = claim.spec.kind;
    if (kind == "gift" || (kind == "invoice" && claim.handle.attempt == 1)) {
      static_cast<void>(run(engine().fail(claim.handle, {"not today"})));
      return;
    }
    const std::string result = kind + " by epoch " + std::to_string(claim.handle.epoch);
    if (!run(engine().complete(claim.handle, result))) return;
    EXPECT_TRUE(answered_.emplace(claim.handle.execution, result).second);
  }

  Ending judge(const WorkflowId& id, const std::string& lane) {
    const Workflow workflow = describe(id);
    Ending ending{.workflow = std::string(to_string(workflow.state)), .executions = {}};
    StateCounts counts;
    auto told = completions();
    for (const ExecutionId& member : run(engine().members(id)).value().items) {
      const ExecutionInfo info = describe(member);
      ending.executions.insert(info.spec.kind + " " + std::string(to_string(info.state)));
      ++counts[info.state];
      EXPECT_EQ(told[member], 1) << info.spec.kind;
      if (const auto answered = answered_.find(member); answered != answered_.end()) {
        EXPECT_EQ(run(engine().result(member)).value(), answered->second);
      }
    }
    EXPECT_EQ(workflow.counts, counts);
    EXPECT_EQ(executions_of(lane).size(), 9U);
    EXPECT_EQ(run(engine().lane(lane)).value().active, 0U);
    EXPECT_EQ(run(engine().limit(lane)).value().active, 0U);
    EXPECT_EQ(run(engine().audit()).value().repaired, 0U);
    return ending;
  }

  std::map<ExecutionId, std::string> answered_;
  int crashes_ = 0;
};

TEST_F(GraphCrashTest, AWorkflowEndsAsItWouldHaveWhereverItCrashes) {
  const Ending undisturbed = deliver("calm", 0, 0);
  EXPECT_EQ(undisturbed.executions,
            (std::multiset<std::string>{"archive completed", "card skipped", "courier cancelled",
                                        "courier cancelled", "courier completed", "gift failed",
                                        "invoice completed", "order completed", "ship completed"}));
  for (std::size_t survivors = 0; survivors <= (lets_some_survive() ? 1U : 0U); ++survivors) {
    bool has_crashed = true;
    for (std::uint64_t commit = 1; has_crashed; ++commit) {
      ASSERT_LT(commit, 100U);
      SCOPED_TRACE("commit " + std::to_string(commit) + " of which survive " +
                   std::to_string(survivors));
      const int before = crashes();
      const std::string lane = std::to_string(survivors) + "_" + std::to_string(commit);
      EXPECT_EQ(deliver(lane, commit, survivors), undisturbed);
      has_crashed = crashes() > before;
    }
  }
}

}  // namespace
}  // namespace weir::flow::workflow
