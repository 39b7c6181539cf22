// Durable coroutines that wait for some of their children, on whichever store.
#include <algorithm>
#include <chrono>
#include <map>

#include <gtest/gtest.h>

#include <weir/flow/workflow/workflow_context.hpp>
#include <weir/tests/flow/workflow/support/durable_fixture.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir::flow::workflow {
namespace {

using testing::DurableTest;
using testing::Lines;

struct Asked {
  std::uint32_t needed = 0;
  std::uint32_t children = 0;
  bool cancels = false;
};

Task<Lines> collect(WorkflowContext ctx, Asked asked) {
  std::vector<Child<std::string>> children;
  for (std::uint32_t i = 0; i < asked.children; ++i) {
    children.push_back(ctx.child<std::string>("offer", i, {.lane = "offers"}));
  }
  co_return co_await ctx.quorum(
      asked.needed, children, asked.cancels ? OnSatisfied::cancel_remaining : OnSatisfied::let_run);
}

/// Children are dealt with by the test.
class QuorumTest : public DurableTest {
 protected:
  ExecutionId ask(Asked asked) {
    start([](Worker& worker) {
      worker.on("collect", [](WorkflowContext ctx, Asked a) { return collect(ctx, a); });
    });
    return begin_execution("collect", to_payload(asked));
  }
  std::map<PublicState, int> offers() {
    std::map<PublicState, int> states;
    for (const auto& one : run(engine().list_executions({.lane = "offers"})).value().items) {
      ++states[one.state];
    }
    return states;
  }
  void wait_for_offers(int count) {
    weir::testing::eventually("the children", [&] {
      give_way();
      return offers()[PublicState::waiting] == count;
    });
  }
  void complete_one(const std::string& result) {
    const Handle handle = claim({.worker = "w", .lane = "offers"}).at(0).handle;
    ASSERT_TRUE(run(engine().complete(handle, to_payload(result))));
  }
  ExecutionInfo wait_for_end(const ExecutionId& id) {
    weir::testing::eventually("the end", [&] {
      give_way();
      return describe(id).execution.has_ended();
    });
    return describe(id);
  }
};

TEST_F(QuorumTest, ThoseThatAreNotNeededAreLetRunIfThatIsAskedFor) {
  const ExecutionId id = ask({.needed = 2, .children = 4});
  wait_for_offers(4);
  complete_one("anna");
  complete_one("bert");
  wait_for_end(id);
  // In the order of the children, which are claimed in any.
  Lines given = result<Lines>(id);
  std::ranges::sort(given);
  EXPECT_EQ(given, (Lines{"anna", "bert"}));
  EXPECT_EQ(offers(),
            (std::map<PublicState, int>{{PublicState::completed, 2}, {PublicState::waiting, 2}}));
  complete_one("carl");
}

TEST_F(QuorumTest, ThoseThatAreNotNeededAreCancelledIfThatIsAskedFor) {
  const ExecutionId id = ask({.needed = 1, .children = 3, .cancels = true});
  wait_for_offers(3);
  complete_one("anna");
  wait_for_end(id);
  EXPECT_EQ(result<Lines>(id), (Lines{"anna"}));
  EXPECT_EQ(offers(),
            (std::map<PublicState, int>{{PublicState::completed, 1}, {PublicState::cancelled, 2}}));
}

TEST_F(QuorumTest, OfNoneOrOfMoreThanThereAreIsRefused) {
  for (const std::uint32_t needed : {0U, 4U}) {
    const ExecutionInfo info = wait_for_end(ask({.needed = needed, .children = 3}));
    EXPECT_EQ(info.state, PublicState::failed);
    const std::string named = std::to_string(needed) + " of 3 children";
    EXPECT_NE(info.execution.end_reason.find(named), std::string::npos)
        << info.execution.end_reason;
    stop_worker();
  }
  EXPECT_TRUE(offers().empty()) << "what nobody waits for was begun";
}

}  // namespace
}  // namespace weir::flow::workflow
