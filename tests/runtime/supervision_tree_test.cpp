// Supervision across the tree: what the failure of one means for its parent and its children.

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/supervision.hpp>

#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using testing::Reports;

struct Throw {
  std::string message;
};
struct Wait {
  using Reply = int;
};

Supervision restart_after(Duration backoff) {
  Supervision wanted = Supervision::restart();
  wanted.backoff = backoff;
  wanted.jitter = 0;
  return wanted;
}

// A parent, its parent, and so on.
class Node final : public Actor<Throw, Wait, ChildStopped> {
 public:
  Node(int depth, SpawnOptions below, Collector<std::string>* log,
       Collector<ActorRef<Throw, Wait>>* all)
      : depth_(depth), below_(std::move(below)), log_(log), all_(all) {}
  void on_start() {
    log_->add("start " + std::to_string(depth_));
    all_->add(self());
    if (depth_ > 0) spawn<Node>(SpawnOptions(below_), depth_ - 1, below_, log_, all_);
  }
  void on_stop() { log_->add("stop " + std::to_string(depth_)); }
  void on(Throw message) { throw std::runtime_error(message.message); }
  Task<int> on(Wait) {
    static_cast<void>(co_await sleep_for(forever));
    co_return 1;
  }
  void on(ChildStopped message) {
    log_->add("child of " + std::to_string(depth_) + ": " + message.reason.message);
  }

 private:
  int depth_;
  SpawnOptions below_;
  Collector<std::string>* log_;
  Collector<ActorRef<Throw, Wait>>* all_;
};

struct Tree {
  Tree(Supervision top, Supervision below) {
    simulation.system().spawn<Node>(SpawnOptions{.supervision = top}, 3,
                                    SpawnOptions{.supervision = below}, &log, &all);
    simulation.run_for(1s);
  }
  void fail_leaf() {
    all.values().back().send<Throw>("leaf broke");
    simulation.run_for(1s);
  }
  bool has(const std::string& line) {
    const auto lines = log.values();
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  }

  Collector<std::string> log;
  Collector<ActorRef<Throw, Wait>> all;
  Reports reports;
  Simulation simulation{{.system = reports.options()}};
};

TEST(SupervisionTree, TellsTheParentThatAChildEnded) {
  Tree tree(Supervision::stop(), Supervision::stop());
  tree.fail_leaf();
  EXPECT_TRUE(tree.has("child of 1: leaf broke"));
  EXPECT_EQ(tree.simulation.system().actors().size(), 3u);
}

TEST(SupervisionTree, EscalatesUpTheTreeToOneWhoRestarts) {
  Tree tree(restart_after(1ms), Supervision::escalate());
  ASSERT_EQ(tree.all.values().size(), 4u);
  tree.fail_leaf();
  EXPECT_EQ(tree.reports.failures.values().size(), 4u);
  EXPECT_EQ(tree.reports.failures.values().back().message,
            "child failed: child failed: child failed: leaf broke");
  EXPECT_EQ(tree.all.values().size(), 8u) << "all four started anew";
  EXPECT_EQ(tree.simulation.system().actors().size(), 4u);
}

class Plain final : public Actor<Throw> {
 public:
  void on(Throw message) { throw std::runtime_error(message.message); }
};

void expect_escalation_to_stop(ActorSystem& system, Simulation* simulation) {
  auto bystander = system.spawn<Plain>();
  auto top = system.spawn<Plain>(SpawnOptions{.supervision = Supervision::escalate()});
  top.send<Throw>("the end");
  if (simulation) simulation->run_for(1s);
  testing::eventually("all to end", [&] { return system.actors().empty(); });
  EXPECT_TRUE(system.is_stopping());
  EXPECT_FALSE(bystander.is_alive());
  EXPECT_FALSE(system.spawn<Plain>().is_alive());
  EXPECT_TRUE(system.stop().is_clean());
}

TEST(SupervisionTree, EscalatedBeyondTheTopStopsTheSystem) {
  Reports reports;
  Simulation simulation({.system = reports.options()});
  expect_escalation_to_stop(simulation.system(), &simulation);
  ActorSystem system(reports.options());
  expect_escalation_to_stop(system, nullptr);
}

TEST(SupervisionTree, RestartTakesTheChildrenDownEvenIfTheyAreStuck) {
  Tree tree(restart_after(1ms), Supervision::stop());
  const auto before = tree.all.values();
  for (const auto& node : before) {
    if (node != before.front()) node.send<Wait>();  // suspended for ever
  }
  tree.simulation.run_for(1s);
  before[1].stop();  // stopping, and never done with it
  before[0].send<Throw>("top broke");
  tree.simulation.run_for(1s);
  EXPECT_EQ(tree.all.values().size(), 8u);
  EXPECT_EQ(tree.simulation.system().actors().size(), 4u);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_FALSE(before[i].is_alive());
  EXPECT_TRUE(before[0].is_alive());
}

}  // namespace
}  // namespace weir
