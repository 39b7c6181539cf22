#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <weir/flow/workflow/id.hpp>
#include <weir/runtime/sequence_barrier.hpp>

namespace weir::flow::workflow::postgres::internal {

/// Where those wait who want to know that one of some executions has ended. Usable from any thread.
class EndGates {
 public:
  /// Somebody who waits. Take the number of the gate before looking, and wait for a higher one
  /// after having found none that has ended.
  class Wait {
   public:
    Wait(EndGates* gates, std::vector<ExecutionId> executions)
        : gates_(gates), executions_(std::move(executions)) {
      gates_->add(*this);
    }
    ~Wait() { gates_->remove(*this); }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

    SequenceBarrier& gate() noexcept { return gate_; }

   private:
    friend class EndGates;

    EndGates* gates_;
    const std::vector<ExecutionId> executions_;
    SequenceBarrier gate_;
  };

  void wake(const std::vector<ExecutionId>& ended) {
    const std::scoped_lock hold(lock_);
    if (waits_.empty()) return;
    for (const ExecutionId& id : ended) {
      const auto [first, last] = waits_.equal_range(id);
      for (auto at = first; at != last; ++at) open(*at->second);
    }
  }
  void wake_all() {
    const std::scoped_lock hold(lock_);
    for (const auto& [id, wait] : waits_) open(*wait);
  }
  /// Turns away all who wait, and who will.
  void close(const Error& reason) {
    const std::scoped_lock hold(lock_);
    reason_ = reason;
    for (const auto& [id, wait] : waits_) wait->gate_.close(reason);
  }

 private:
  void add(Wait& wait) {
    const std::scoped_lock hold(lock_);
    for (const ExecutionId& id : wait.executions_) waits_.emplace(id, &wait);
    if (reason_) wait.gate_.close(*reason_);
  }
  void remove(const Wait& wait) {
    const std::scoped_lock hold(lock_);
    for (const ExecutionId& id : wait.executions_) {
      const auto [first, last] = waits_.equal_range(id);
      for (auto at = first; at != last;) at = at->second == &wait ? waits_.erase(at) : ++at;
    }
  }
  static void open(Wait& wait) { wait.gate_.publish(wait.gate_.published() + 1); }

  std::mutex lock_;
  std::multimap<ExecutionId, Wait*> waits_;
  std::optional<Error> reason_;
};

}  // namespace weir::flow::workflow::postgres::internal
