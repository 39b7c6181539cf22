#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include <weir/flow/workflow/internal/embedded_store.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/storage/store.hpp>
#include <weir/tests/flow/workflow/support/backend.hpp>

namespace weir::flow::workflow::testing {

/// An engine on a simulated disk, in virtual time.
class EmbeddedBackend final : public Backend {
 public:
  explicit EmbeddedBackend(telemetry::Telemetry* telemetry = nullptr);

  Engine& engine() override { return *engine_; }
  ActorSystem& system() override { return simulation_.system(); }
  Time time() override { return store_->time(); }
  void pass(Duration time) override { simulation_.run_for(time); }
  void pass_some() override { pass(std::chrono::milliseconds(10)); }
  void leap(Duration time) override { pass(time); }
  void give_way() override { pass(std::chrono::milliseconds(1)); }
  void run(Task<> task) override { simulation_.run(std::move(task)); }

  void open(EngineOptions options) override;
  void reopen(EngineOptions options) override;
  void crash(std::size_t survivors) override;
  bool lets_some_survive() const override { return true; }
  void vanish() override { crash(0); }
  void fail_commit(std::uint64_t nth) override;
  bool has_failed() override;
  std::shared_ptr<internal::WorkflowStore> core() override { return core_; }
  std::map<std::string, std::size_t> rows() override;

  Simulation& simulation() { return simulation_; }
  storage::Store& store() { return *store_; }
  storage::engine::SimulatedDisk& disk() { return *store_options_.disk; }

 private:
  template <class K, class V>
  void count(const std::string& name, std::map<std::string, std::size_t>& found);

  Simulation simulation_;
  storage::StoreOptions store_options_;
  std::optional<storage::Store> store_;
  std::shared_ptr<internal::WorkflowStore> core_;
  std::optional<Engine> engine_;
};

}  // namespace weir::flow::workflow::testing
