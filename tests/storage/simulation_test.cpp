// Random transactions under simulation: the store crashes, its disk fails, and what its clients
// were told must still be true.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <weir/runtime/explore_gtest.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/storage/errc.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/storage/support/long_run.hpp>
#include <weir/tests/storage/support/verdict.hpp>
#include <weir/tests/storage/support/workload.hpp>

namespace weir::storage {
namespace {

using namespace std::chrono_literals;
using test::ClientRecords;
using test::Losses;

/// A store that lives several times on one disk, and its clients.
class Scenario {
 public:
  Scenario(Simulation& simulation, Durability durability)
      : simulation_(simulation),
        losses_(durability.mode == Durability::Mode::durable ? Losses::none : Losses::newest) {
    options_.durability = durability;
    options_.disk = std::make_shared<engine::SimulatedDisk>();
    options_.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
    options_.collect_interval = std::chrono::microseconds(500 + below(20'000));
    options_.retention.log = 100h;
    if (below(2) == 0) options_.retention.history = 100h;
  }

  void run() {
    for (std::uint64_t life = 1; life <= 4 && !::testing::Test::HasFailure(); ++life) {
      open();
      begin_work(life);
      plan_fault();
      simulation_.run_steps(below(below(2) == 0 ? 400 : 3000));
      if (below(4) == 0) simulation_.run_steps(3000);
      end();
    }
    open();
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return simulation_.random() % limit; }
  engine::SimulatedDisk& disk() { return *options_.disk; }

  void open() {
    if (!simulation_.node().is_up()) simulation_.node().restart();
    auto opened = Store::open(simulation_.system(), options_);
    ASSERT_TRUE(opened) << opened.error().message();
    store_.emplace(*std::move(opened));
    check_version();
    spaces_.emplace(simulation_.run(test::open_spaces(&*store_)).value());
    judge();
  }

  /// A prefix of what was written, and all that was acknowledged.
  void check_version() {
    Version acknowledged;
    for (const auto& record : records_) {
      if (record.outcome == test::Outcome::committed) {
        acknowledged = std::max(acknowledged, record.version);
      }
    }
    if (losses_ == Losses::none) EXPECT_GE(store_->version(), acknowledged);
  }

  void judge() {
    const test::ReplayedLog log = test::replay_log(*store_, spaces_->rows);
    settle(records_, log, losses_);
    const auto states = replay_records(records_, store_->version());
    if (::testing::Test::HasFailure()) return;
    expect_serializable(records_, states);
    expect_newest(*store_, *spaces_, records_, states.back());
    expect_rows(*store_, spaces_->rows, store_->version(), log, states.back());
    for (int i = 0; i < 8; ++i) {
      const Version version{below(states.size())};
      if (store_->read_at(version)) {
        expect_rows(*store_, spaces_->rows, version, log, states[version.number]);
      } else {
        EXPECT_EQ(options_.retention.history, Duration::zero()) << version.number;
      }
    }
  }

  void begin_work(std::uint64_t life) {
    for (std::uint64_t client = 1; client <= 4; ++client) {
      const test::ClientOptions options{.seed = simulation_.random(),
                                        .first_id = life * 10'000 + client * 1000,
                                        .transactions = 5 + below(25),
                                        .keys = 3 + below(6)};
      simulation_.system()
          .spawn<test::Client>(&*store_, *spaces_, options, &clients_.emplace_back(), nullptr)
          .send<test::Work>();
    }
  }

  void plan_fault() {
    const Error error(below(2) == 0 ? Errc::io_error : Errc::no_space, "simulated");
    const std::uint64_t choice = below(6);
    if (choice == 0) disk().fail_write(1 + below(30), error);
    if (choice == 1) disk().fail_sync(1 + below(15), error);
    has_fault_ = choice < 2;
  }

  void end() {
    if (has_fault_ && below(2) == 0) expect_latched();
    if (!has_fault_ && below(5) == 0) {
      ASSERT_TRUE(simulation_.run(store_->close()));
    }
    disk().crash(below(disk().unsynced() + 1));
    disk().repair();
    simulation_.node().crash();
    spaces_.reset();
    store_.reset();
    for (ClientRecords& client : clients_) {
      std::move(client.begin(), client.end(), std::back_inserter(records_));
    }
    clients_.clear();
  }

  /// Once a write or a sync has failed nothing is acknowledged, even when the disk works again.
  void expect_latched() {
    simulation_.run_steps(1000);
    const auto first =
        simulation_.run(test::commit_rows(*store_, spaces_->rows, {{1'000, std::nullopt}}));
    if (first) return;  // the fault was further away
    disk().repair();
    const Version newest = store_->version();
    for (int i = 0; i < 3; ++i) {
      const auto next =
          simulation_.run(test::commit_rows(*store_, spaces_->rows, {{1'000, std::nullopt}}));
      ASSERT_FALSE(next);
      EXPECT_EQ(next.error(), Errc::failed) << next.error().message();
      EXPECT_NE(next.error().message().find("reopened"), std::string::npos);
    }
    EXPECT_EQ(store_->version(), newest);
  }

  Simulation& simulation_;
  const Losses losses_;
  StoreOptions options_;
  std::optional<Store> store_;
  std::optional<test::Spaces> spaces_;
  bool has_fault_ = false;
  std::deque<ClientRecords> clients_;  // of this life
  ClientRecords records_;              // of all before
};

ExploreOptions options(int seeds) {
  return {.seeds = test::lengthened(static_cast<std::uint64_t>(testing::scaled(seeds))),
          .first_seed = test::first_seed()};
}

TEST(StoreSimulation, I7WhatWasAcknowledgedSurvivesEveryCrash) {
  explore_in_test(options(1200), [](Simulation& simulation) {
    Scenario(simulation, Durability::durable()).run();
  });
}

TEST(StoreSimulation, I7WhatWasAcknowledgedSurvivesWhenEverybodyIsSlow) {
  ExploreOptions slow = options(600);
  slow.simulation.blocking_time_max = 20ms;
  slow.simulation.faults = {.late_timer = 0.2, .message_time_max = 2ms};
  explore_in_test(
      slow, [](Simulation& simulation) { Scenario(simulation, Durability::durable()).run(); });
}

TEST(StoreSimulation, I8BufferedCommitsThatSurviveAreAPrefix) {
  explore_in_test(options(1000), [](Simulation& simulation) {
    Scenario(simulation, Durability::buffered(std::chrono::microseconds(100))).run();
  });
}

TEST(StoreSimulation, I8CommitsInMemoryThatSurviveAreAPrefix) {
  explore_in_test(options(400),
                  [](Simulation& simulation) { Scenario(simulation, Durability::memory()).run(); });
}

TEST(StoreSimulation, I6TheSameSeedGivesTheSameRun) {
  ExploreOptions twice = options(150);
  twice.runs_twice = true;
  explore_in_test(twice, [](Simulation& simulation) {
    Scenario(simulation, Durability::durable()).run();
    Scenario(simulation, Durability::buffered()).run();
  });
}

}  // namespace
}  // namespace weir::storage
