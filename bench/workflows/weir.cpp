#include <algorithm>
#include <atomic>
#include <latch>
#include <utility>
#include <vector>

#include <weir/bench/actors/measure.hpp>
#include <weir/bench/workflows/cycle.hpp>
#include <weir/bench/workflows/subject.hpp>
#include <weir/bench/workflows/workloads.hpp>
#include <weir/flow/workflow/engine.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/try.hpp>

namespace weir::bench::workflows {
namespace {

using actors::print_result;
using actors::scaled;
using actors::Stopwatch;
using flow::workflow::Claimed;
using flow::workflow::EdgePolicy;
using flow::workflow::Engine;
using flow::workflow::NewExecution;
using flow::workflow::NewGraph;
using flow::workflow::OnSatisfied;
using flow::workflow::PublicState;
using ::weir::storage::Durability;

double cycles_per_second(Subject& subject, std::int64_t executions) {
  return workflows::cycles_per_second(subject.system, subject.engine, in_flight, executions);
}

void cycle(const char* name, Durability durability, std::int64_t executions) {
  Subject subject(durability);
  cycles_per_second(subject, scaled(5'000));
  const double rate = cycles_per_second(subject, scaled(executions));
  const auto report = must(subject.system.run(subject.engine.report()), "report");
  const auto commands = static_cast<double>(report.commands);
  print_result(name, rate, "/s", {{"commands_per_commit", commands / report.commits}});
}

void cycle_durable() { cycle("cycle_durable", Durability::durable(), 60'000); }
void cycle_buffered() { cycle("cycle_buffered", Durability::buffered(), 200'000); }

/// The same work in a store that is empty, and in one that is not.
void finished() {
  Subject subject(Durability::buffered());
  cycles_per_second(subject, scaled(20'000));
  const double before = cycles_per_second(subject, scaled(100'000));
  cycles_per_second(subject, scaled(1'000'000));
  print_result("finished", cycles_per_second(subject, scaled(100'000)) / before, "x");
}

/// Makes chains.
class ChainMaker final : public Actor<Go> {
 public:
  ChainMaker(const Engine* engine, std::atomic<std::int64_t>* left)
      : engine_(engine), left_(left) {}

  Task<> on(Go) {
    NewGraph chain{.executions = std::vector<NewExecution>(chain_nodes, some_work())};
    for (std::size_t i = 0; i + 1 < chain_nodes; ++i) chain.edges.push_back({i, i + 1});
    while (left_->fetch_sub(1) > 0) must(co_await engine_->create_graph(chain), "create");
  }

 private:
  const Engine* engine_;
  std::atomic<std::int64_t>* left_;
};

/// Completes whatever there is.
class Hand final : public Actor<Go> {
 public:
  Hand(const Engine* engine, Progress* progress) : engine_(engine), progress_(progress) {}

  Task<> on(Go) {
    while (progress_->left.load() > 0) {
      auto claimed = co_await engine_->next({.worker = "w"});
      if (!claimed) co_return;
      must(co_await engine_->complete(claimed->at(0).handle, "done"), "complete");
      if (progress_->left.fetch_sub(1) == 1) progress_->done.count_down();
    }
  }

 private:
  const Engine* engine_;
  Progress* progress_;
};

void chain() {
  Subject subject(Durability::buffered());
  const std::int64_t workflows = scaled(10'000);
  std::atomic<std::int64_t> unmade = workflows;
  Progress progress{workflows * chain_nodes, std::latch(1)};
  Stopwatch watch;
  watch.start();
  for (int maker = 0; maker < 16; ++maker) {
    subject.system.spawn<ChainMaker>(&subject.engine, &unmade).send<Go>();
  }
  for (int hand = 0; hand < in_flight; ++hand) {
    subject.system.spawn<Hand>(&subject.engine, &progress).send<Go>();
  }
  progress.done.wait();
  watch.stop();
  print_result("chain", static_cast<double>(workflows) / (watch.elapsed_ns() / 1e9), "/s");
  must(subject.system.run(subject.engine.close()), "close");
}

/// 1 -> 1,000 -> 1, of which 500 decide: from the deciding completion until the others are
/// cancelled.
Task<Result<double>> decide(const Engine* engine) {
  NewGraph race{.executions = std::vector<NewExecution>(fan_out + 2, some_work())};
  for (std::size_t i = 1; i <= fan_out; ++i) {
    race.edges.push_back({0, i});
    race.edges.push_back({i, fan_out + 1});
  }
  race.policies = {{fan_out + 1, EdgePolicy::quorum(fan_out / 2, OnSatisfied::cancel_remaining)}};
  WEIR_CO_TRY(graph, co_await engine->create_graph(std::move(race)));
  WEIR_CO_TRY(root, co_await engine->claim({.worker = "w"}));
  WEIR_CO_TRY_VOID(co_await engine->complete(root.at(0).handle));
  WEIR_CO_TRY(claimed, co_await engine->claim({.worker = "w", .executions_max = fan_out}));
  for (std::size_t i = 0; i + 1 < fan_out / 2; ++i) {
    WEIR_CO_TRY_VOID(co_await engine->complete(claimed.at(i).handle));
  }
  Stopwatch watch;
  watch.start();
  WEIR_CO_TRY_VOID(co_await engine->complete(claimed.at(fan_out / 2 - 1).handle));
  for (;;) {
    WEIR_CO_TRY(info, co_await engine->describe(graph.workflow));
    if (info->workflow.counts[PublicState::cancelled] == fan_out / 2) break;
  }
  watch.stop();
  WEIR_CO_TRY(last, co_await engine->claim({.worker = "w"}));
  WEIR_CO_TRY_VOID(co_await engine->complete(last.at(0).handle));
  co_return watch.elapsed_ns() / 1e6;
}

void race() {
  Subject subject(Durability::buffered());
  std::vector<double> times;
  for (std::int64_t round = scaled(100); round > 0; --round) {
    times.push_back(must(subject.system.run(decide(&subject.engine)), "race"));
  }
  std::ranges::sort(times);
  print_result("race", times[times.size() * 99 / 100], "ms", {{"p50", times[times.size() / 2]}});
}

}  // namespace

const std::vector<Workload>& weir_workloads() {
  static const std::vector<Workload> workloads = {{"cycle_durable", &cycle_durable},
                                                  {"cycle_buffered", &cycle_buffered},
                                                  {"chain", &chain},
                                                  {"race", &race},
                                                  {"finished", &finished},
                                                  {"coroutines", &coroutines},
                                                  {"signals", &signals}};
  return workloads;
}

}  // namespace weir::bench::workflows
