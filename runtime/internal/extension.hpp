#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/cell.hpp>
#include <weir/runtime/internal/core_access.hpp>
#include <weir/runtime/internal/run.hpp>
#include <weir/runtime/internal/spin_lock.hpp>
#include <weir/runtime/internal/waiter.hpp>
#include <weir/runtime/supervision.hpp>

namespace weir::internal {

struct PhaseRecord;
struct DeliverWaiter;
class YieldAwaiter;

/// Wakes an actor that waits to be restarted.
struct BackoffTimer : TimerEntry {
  Cell* owner = nullptr;
  std::atomic<bool> is_over{false};
};

/// Somebody who wants to know when this actor ends.
struct Watcher {
  Cell* cell;  // counted
  bool is_linked;
  void (*notify)(Cell& watcher, Terminated message);
};

/// Somebody whose end this actor wants to know of. Listed once as monitored and once as linked.
struct Watched {
  Cell* cell;  // counted
  bool is_linked;

  friend bool operator==(const Watched&, const Watched&) = default;
};

/// The rarely used parts of a cell, made on first need.
struct Extension {
  ~Extension();

  // Set before the actor starts, then constant.
  std::string name;
  Supervision supervision;
  std::unique_ptr<Factory> factory;

  // Read by introspection.
  std::atomic<std::uint32_t> restarts{0};
  std::atomic<PhaseRecord*> phase{nullptr};
  mutable SpinLock failure_lock;
  std::string last_failure;

  // Touched by senders under `room_lock`.
  SpinLock room_lock;
  DeliverWaiter* first_waiting = nullptr;
  DeliverWaiter* last_waiting = nullptr;
  std::uint32_t waiting_since = 0;  // by `Cell::popped`, without anybody having been let in
  Node* ring_first = nullptr;       // drop_oldest: the messages themselves
  Node* ring_last = nullptr;
  std::uint32_t ring_size = 0;

  // Touched by the activation.
  Run* runs = nullptr;
  std::uint32_t handler_count = 0;  // of the runs that are not tasks of a scope
  WaiterList waiters;
  YieldAwaiter* yielded = nullptr;                  // go on after other actors have run
  std::atomic<TimerMessageBase*> timers = nullptr;  // a TimerLink
  Node* stash_first = nullptr;
  Node* stash_last = nullptr;
  std::uint32_t stash_size = 0;
  std::atomic<std::uint64_t> set_aside{0};  // popped so often without being handled
  std::vector<Watcher> watchers;
  std::vector<Watched> watching;
  StopReason stop_reason;
  bool escalates = false;
  std::int64_t window_start = 0;
  std::uint32_t restarts_in_window = 0;
  BackoffTimer backoff_timer;
  Cause phase_in;                  // what entered a phase that fails when overdue
  Cause failed_in;                 // what the actor did when it failed last
  std::unique_ptr<Trail> hook_in;  // the span that spawned or stops the actor

  // Requests that have not come home. Owned by the activation; once the cell has terminated, by
  // whoever brings one home.
  std::atomic<std::uint32_t> outstanding{0};
};

/// Empty if the actor has none.
inline std::string_view name_of(const Cell& cell) noexcept {
  const Extension* extension = cell.extension_if_any();
  return extension ? std::string_view(extension->name) : std::string_view();
}

}  // namespace weir::internal
