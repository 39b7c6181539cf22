#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <weir/flow/workflow/internal/engine_figures.hpp>
#include <weir/flow/workflow/postgres/internal/gates.hpp>
#include <weir/flow/workflow/postgres/options.hpp>
#include <weir/flow/workflow/records.hpp>
#include <weir/storage/postgres/pool.hpp>

namespace weir::flow::workflow::postgres::internal {

/// Workflows that somebody here is cancelling already. Usable from any thread.
class Cancelling {
 public:
  /// False if somebody is.
  bool begin(const WorkflowId& id) {
    const std::scoped_lock hold(lock_);
    return workflows_.insert(id).second;
  }
  void end(const WorkflowId& id) {
    const std::scoped_lock hold(lock_);
    workflows_.erase(id);
  }

 private:
  std::mutex lock_;
  std::set<WorkflowId> workflows_;
};

/// The partitions that this engine owns. Usable from any thread.
class OwnPartitions {
 public:
  void set(std::vector<Partition> partitions) {
    const std::scoped_lock hold(lock_);
    partitions_ = std::move(partitions);
  }
  std::vector<Partition> get() const {
    const std::scoped_lock hold(lock_);
    return partitions_;
  }

 private:
  mutable std::mutex lock_;
  std::vector<Partition> partitions_;
};

/// What all parts of an engine share.
struct Context {
  Context(storage::postgres::Pool shared, Options chosen)
      : pool(std::move(shared)), options(std::move(chosen)) {}

  /// Random numbers that no other process has: those of systems are the same for the same seed.
  std::uint64_t random() const { return pool.system().random() ^ salt; }

  storage::postgres::Pool pool;
  Options options;
  std::uint64_t salt = 0;
  /// Of this engine among those that share the database.
  std::int64_t owner = 0;
  std::uint64_t identity = 0;
  /// Where engines tell each other that there is something to do.
  std::string channel = {};
  /// Instead of the clock of the database; for tests that turn it.
  std::function<Time()> clock = {};
  mutable Gates gates = {};
  mutable Cancelling cancelling = {};
  OwnPartitions own_partitions = {};
  /// What this engine has done; all parts of it add to it.
  const std::shared_ptr<workflow::internal::EngineFigures> figures =
      std::make_shared<workflow::internal::EngineFigures>();
  /// Whether somebody collects metrics.
  bool counts_present = false;
  /// Whether other engines are there, who have to be told.
  std::atomic<bool> has_others = true;
};

}  // namespace weir::flow::workflow::postgres::internal
