// The same across crashes: what was not answered then may have been done, or not.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include <weir/flow/workflow/engine.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/explore_gtest.hpp>
#include <weir/runtime/timer.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/tests/flow/workflow/support/clients.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/storage/support/long_run.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::AskSome;
using testing::Client;
using testing::History;
using testing::is_linearizable;

struct Tick {};

/// So that time passes by little when nobody has anything to do, and leases do not expire.
class Ticker final : public Actor<Tick> {
 public:
  void on(Tick) {
    if (!timer_) timer_ = schedule_every<Tick>(1ms);
  }

 private:
  std::optional<Timer> timer_;
};

class Lives {
 public:
  explicit Lives(Simulation& simulation) : simulation_(simulation) {
    options_.disk = std::make_shared<storage::engine::SimulatedDisk>();
    options_.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
  }

  void run() {
    open();
    for (int i = 0; i < 3; ++i) make("lane" + std::to_string(i));
    for (int life = 0; life < 3 && !::testing::Test::HasFailure(); ++life) {
      if (life > 0) open();
      for (int i = 0; i < 4; ++i) {
        simulation_.system().spawn<Client>(&*engine_, &history_).send<AskSome>(100);
      }
      simulation_.system().spawn<Ticker>().send<Tick>();
      if (pick(3) == 0) {
        options_.disk->fail_write(1 + pick(20), Error(std::make_error_code(std::errc::io_error)));
      }
      simulation_.run_steps(50 + pick(400));
      crash();
    }
    for (const std::string& lane : history_.lanes()) judge(lane);
  }

 private:
  std::size_t pick(std::size_t below) { return simulation_.random() % below; }
  void make(const std::string& lane) {
    NewExecution request{
        .kind = "w", .lane = lane, .retry = {.retries_max = 1000, .backoff = Duration::zero()}};
    history_.add(lane, simulation_.run(engine_->create_execution(request)).value().id);
  }
  void open() {
    if (!simulation_.node().is_up()) simulation_.node().restart();
    store_.emplace(storage::Store::open(simulation_.system(), options_).value());
    EngineOptions options;
    if (pick(2) == 0) options.records_max = 2;
    engine_.emplace(simulation_.run(Engine::open(&*store_, options)).value());
  }
  void crash() {
    options_.opened_at = store_->time();
    options_.disk->crash(pick(options_.disk->unsynced() + 1));
    options_.disk->repair();
    simulation_.node().crash();
    engine_.reset();
    store_.reset();
  }
  void judge(const std::string& lane) {
    const auto calls = history_.calls(lane);
    std::string text;
    for (const auto& call : calls) text += to_string(call) + "\n";
    EXPECT_TRUE(is_linearizable(calls)) << lane << "\n" << text;
  }

  Simulation& simulation_;
  storage::StoreOptions options_;
  std::optional<storage::Store> store_;
  std::optional<Engine> engine_;
  History history_;
};

TEST(LinearizableSimulation, I19WhatWasAnsweredFitsTogetherAcrossCrashes) {
  explore_in_test(
      {.seeds = storage::test::lengthened(static_cast<std::uint64_t>(weir::testing::scaled(300))),
       .first_seed = storage::test::first_seed()},
      [](Simulation& simulation) { Lives(simulation).run(); });
}

}  // namespace
}  // namespace weir::flow::workflow
