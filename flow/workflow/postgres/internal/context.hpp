#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <weir/flow/workflow/internal/engine_figures.hpp>
#include <weir/flow/workflow/postgres/internal/broken_rows.hpp>
#include <weir/flow/workflow/postgres/internal/end_gates.hpp>
#include <weir/flow/workflow/postgres/internal/gates.hpp>
#include <weir/flow/workflow/postgres/options.hpp>
#include <weir/flow/workflow/records.hpp>
#include <weir/storage/postgres/pool.hpp>

namespace weir::flow::workflow::postgres::internal {

/// Workflows that somebody here is cancelling already. Usable from any thread.
class Cancelling {
 public:
  /// While it lives somebody is. Whoever gives up, and is destroyed where it waits, leaves the rest
  /// to others.
  class Mark {
   public:
    Mark(Cancelling* all, const WorkflowId& id) : all_(all), id_(id), is_first_(all->begin(id)) {}
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;
    ~Mark() {
      if (is_first_) all_->end(id_);
    }
    /// False if somebody else is at it.
    bool is_first() const noexcept { return is_first_; }

   private:
    Cancelling* const all_;
    const WorkflowId id_;
    const bool is_first_;
  };

 private:
  bool begin(const WorkflowId& id) {
    const std::scoped_lock hold(lock_);
    return workflows_.insert(id).second;
  }
  void end(const WorkflowId& id) {
    const std::scoped_lock hold(lock_);
    workflows_.erase(id);
  }

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

/// The clock of the database, as far as it is known without asking. Usable from any thread.
class DatabaseClock {
 public:
  /// It was `time` there, not long before it was `here` on the clock of the system. Of those that
  /// hardly differ the one is right that was answered soonest.
  void set(Time time, TimePoint here) noexcept {
    const std::int64_t before = ahead_.load(std::memory_order_relaxed);
    const std::int64_t ahead = time.time_since_epoch().count() - micros_of(here);
    if (ahead < before && before - ahead < 1'000'000) return;
    ahead_.store(ahead, std::memory_order_relaxed);
  }
  Time at(TimePoint here) const noexcept {
    return Time(
        std::chrono::microseconds(ahead_.load(std::memory_order_relaxed) + micros_of(here)));
  }

 private:
  static std::int64_t micros_of(TimePoint here) noexcept {
    return std::chrono::floor<std::chrono::microseconds>(here.time_since_epoch()).count();
  }

  std::atomic<std::int64_t> ahead_ = 0;  // microseconds
};

/// What all parts of an engine share.
struct Context {
  Context(storage::postgres::Pool shared, Options chosen)
      : pool(std::move(shared)), options(std::move(chosen)) {}

  /// Random numbers that no other process has: those of systems are the same for the same seed.
  std::uint64_t random() const { return pool.system().random() ^ salt; }
  /// False if it was known.
  bool set_aside(const storage::postgres::Bytes& key, std::string what, const Error& reason) const {
    if (!broken.add(key, std::move(what), reason)) return false;
    figures->add(&EngineReport::dispatch_errors, 1);
    return true;
  }

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
  DatabaseClock database_clock = {};
  mutable Gates gates = {};
  mutable EndGates ends = {};
  mutable BrokenRows broken = {};
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
