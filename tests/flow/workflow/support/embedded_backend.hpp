#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include <weir/runtime/simulation.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/storage/store.hpp>
#include <weir/tests/flow/workflow/support/backend.hpp>

namespace weir::flow::workflow::testing {

/// An engine on a simulated disk, in virtual time.
class EmbeddedBackend final : public Backend {
 public:
  EmbeddedBackend() {
    store_options_.disk = std::make_shared<storage::engine::SimulatedDisk>();
    store_options_.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
  }

  Engine& engine() override { return *engine_; }
  ActorSystem& system() override { return simulation_.system(); }
  Time time() override { return store_->time(); }
  void pass(Duration time) override { simulation_.run_for(time); }
  void run(Task<> task) override { simulation_.run(std::move(task)); }

  void open(EngineOptions options) override {
    if (!simulation_.node().is_up()) simulation_.node().restart();
    // Time goes on while nothing is open.
    auto opened = storage::Store::open(simulation_.system(), store_options_);
    ASSERT_TRUE(opened) << opened.error().message();
    store_.emplace(*std::move(opened));
    auto engine = simulation_.run(Engine::open(&*store_, options));
    ASSERT_TRUE(engine) << engine.error().message();
    engine_.emplace(*std::move(engine));
  }
  void reopen(EngineOptions options) override {
    store_options_.opened_at = store_->time();
    ASSERT_TRUE(simulation_.run(engine_->close()));
    engine_.reset();
    store_.reset();
    open(options);
  }
  void crash(std::size_t survivors) override {
    store_options_.opened_at = store_->time();
    disk().crash(survivors);
    disk().repair();
    simulation_.node().crash();
    engine_.reset();
    store_.reset();
    open({});
  }

  Simulation& simulation() { return simulation_; }
  storage::Store& store() { return *store_; }
  storage::engine::SimulatedDisk& disk() { return *store_options_.disk; }

 private:
  Simulation simulation_;
  storage::StoreOptions store_options_;
  std::optional<storage::Store> store_;
  std::optional<Engine> engine_;
};

}  // namespace weir::flow::workflow::testing
