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
  EmbeddedBackend() {
    store_options_.disk = std::make_shared<storage::engine::SimulatedDisk>();
    store_options_.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
  }

  Engine& engine() override { return *engine_; }
  ActorSystem& system() override { return simulation_.system(); }
  Time time() override { return store_->time(); }
  void pass(Duration time) override { simulation_.run_for(time); }
  void pass_some() override { pass(std::chrono::milliseconds(10)); }
  void run(Task<> task) override { simulation_.run(std::move(task)); }

  void open(EngineOptions options) override {
    if (!simulation_.node().is_up()) simulation_.node().restart();
    // Time goes on while nothing is open.
    auto opened = storage::Store::open(simulation_.system(), store_options_);
    ASSERT_TRUE(opened) << opened.error().message();
    store_.emplace(*std::move(opened));
    auto core = simulation_.run(internal::EmbeddedStore::open(&*store_, options));
    ASSERT_TRUE(core) << core.error().message();
    core_ = *std::move(core);
    engine_.emplace(core_, options.audit);
  }
  void reopen(EngineOptions options) override {
    store_options_.opened_at = store_->time();
    ASSERT_TRUE(simulation_.run(engine_->close()));
    engine_.reset();
    core_.reset();
    store_.reset();
    open(options);
  }
  void crash(std::size_t survivors) override {
    store_options_.opened_at = store_->time();
    disk().crash(survivors);
    disk().repair();
    simulation_.node().crash();
    engine_.reset();
    core_.reset();
    store_.reset();
    open({});
  }
  std::shared_ptr<internal::WorkflowStore> core() override { return core_; }
  std::map<std::string, std::size_t> rows() override {
    std::map<std::string, std::size_t> found;
    internal::PerRecord<internal::KeyList> kinds;
    kinds.each([&](const auto& kind) {
      using Record = typename std::remove_cvref_t<decltype(kind)>::Record;
      count<internal::KeyOf<Record>, Record>(internal::RecordTraits<Record>::space, found);
    });
    count<ExecutionId, Execution>("workflow.live", found);
    count<std::pair<WorkflowId, ExecutionId>, bool>("workflow.members", found);
    count<std::pair<Partition, WorkflowId>, bool>("workflow.by_partition", found);
    count<WorkflowId, bool>("workflow.cancelling_workflows", found);
    count<ExecutionId, bool>("workflow.cancelling_groups", found);
    for (const char* shared : {"lanes", "limits", "keyring", "notice_cursors"}) {
      found.erase(std::string("workflow.") + shared);
    }
    return found;
  }

  Simulation& simulation() { return simulation_; }
  storage::Store& store() { return *store_; }
  storage::engine::SimulatedDisk& disk() { return *store_options_.disk; }

 private:
  template <class K, class V>
  void count(const std::string& name, std::map<std::string, std::size_t>& found) {
    const auto space = simulation_.run(store_->open_state<K, V>(name)).value();
    auto scan = store_->current_state().scan(space);
    while (simulation_.run(has_next(&scan))) ++found[name];
  }
  template <class Scan>
  static Task<bool> has_next(Scan* scan) {
    auto row = co_await scan->next();
    co_return row.value().has_value();
  }

  Simulation simulation_;
  storage::StoreOptions store_options_;
  std::optional<storage::Store> store_;
  std::shared_ptr<internal::WorkflowStore> core_;
  std::optional<Engine> engine_;
};

}  // namespace weir::flow::workflow::testing
