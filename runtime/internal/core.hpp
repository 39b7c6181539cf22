#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <weir/runtime/actor_system_options.hpp>
#include <weir/runtime/clock.hpp>
#include <weir/runtime/internal/cell.hpp>
#include <weir/runtime/internal/dead_letter_log.hpp>
#include <weir/runtime/internal/line_limiter.hpp>
#include <weir/runtime/internal/worker.hpp>

namespace weir {
class ActorSystem;
}

namespace weir::internal {

class BlockingPool;
class IoService;
class NameTable;
class SystemMetrics;
class TaskOutcomeBase;

/// Replaces threads, clock and chance when a system runs under simulation.
class SimulationHost {
 public:
  virtual ~SimulationHost() = default;
  virtual void schedule(Core& core, Cell* cell) noexcept = 0;
  virtual TimerQueue& timers(Core& core) noexcept = 0;
  virtual std::int64_t now_ns() const noexcept = 0;
  virtual std::uint64_t random() noexcept = 0;
  /// True to refuse this message as if the mailbox were full.
  virtual bool refuses(const Cell& target) noexcept = 0;
  /// A message has been sent: others may run before its sender goes on.
  virtual void after_send() noexcept = 0;
  /// The message at the front of the mailbox, if any, is about to be handled.
  virtual void before_message(Cell& cell) noexcept = 0;
  /// Runs blocking work as an event of its own.
  virtual void run_blocking(Core& core, void (*work)(void*), void* context) = 0;

  /// Runs actors until the task has finished. Throws if it cannot.
  virtual void finish(Cell& task, const TaskOutcomeBase& outcome) = 0;
  /// Runs actors until none has anything to do but wait for time to pass.
  virtual void run_until_quiet(std::int64_t until_ns) = 0;
  /// True if every actor of the system has ended by then.
  virtual bool run_until_stopped(Core& core, std::int64_t until_ns) = 0;
  /// Kills every actor of the system.
  virtual void take_down(Core& core) = 0;
};

/// Everything the actors of one system share.
struct Core {
  explicit Core(ActorSystemOptions wanted, SimulationHost* host = nullptr);
  ~Core();

  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  const ActorSystemOptions options;
  SimulationHost* const simulation;
  ActorSystem* owner = nullptr;
  std::vector<std::unique_ptr<ActorDurations>> durations;        // the workers use them
  std::vector<std::shared_ptr<telemetry::SpanLane>> span_lanes;  // likewise
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> worker_threads;
  Cell* guardian = nullptr;  // parent of the actors that users spawn from outside
  SpinLock tree_lock;        // guards the guardian's children

  // Workers looking for work, and workers asleep.
  alignas(64) std::atomic<int> searching{0};
  alignas(64) std::atomic<int> sleepers{0};
  std::atomic<int> sentinel{-1};
  std::atomic<bool> ends{false};

  // Actors scheduled by threads that are not workers.
  alignas(64) SpinLock injected_lock;
  Cell* injected_first = nullptr;
  Cell* injected_last = nullptr;
  std::atomic<std::uint32_t> injected_size{0};

  std::atomic<std::uint64_t> simulated_next_id{1};
  std::atomic<std::uint64_t> restarts{0};  // of all actors
  std::uint64_t trace_seed = 0;
  std::int64_t wall_offset_ns = 0;            // from the clock to nanoseconds since 1970
  std::atomic<std::uint64_t> outside_random;  // for threads that are not workers
  std::atomic<std::uint64_t> dead_letters[dead_letter_reasons]{};  // of other threads
  DeadLetterLog recent_dead_letters;
  LineLimiter printed[dead_letter_reasons];
  std::atomic<std::uint32_t> reporting{0};  // other threads inside a hook
  std::atomic<bool> has_ended{false};       // and no hook may be called

  std::mutex stop_mutex;
  std::condition_variable stop_changed;
  bool is_stopped = false;  // the guardian has ended
  bool is_closed = false;   // no actor may join; guarded by `tree_lock`
  std::atomic<bool> is_stopping{false};

  std::unique_ptr<NameTable> names;
  std::unique_ptr<BlockingPool> blocking;
  std::unique_ptr<IoService> io;
  std::atomic<IoService*> io_to_poll{nullptr};  // while that is left to the workers
  std::unique_ptr<SystemMetrics> metrics;       // if somebody measures
  std::once_flag io_started;

  std::int64_t now_ns() const noexcept;
  std::uint64_t random() noexcept;
  std::uint64_t new_id() noexcept;
  /// Whether this thread is one of the system's workers.
  bool is_own_thread() const noexcept { return this_worker && &this_worker->core == this; }
  /// The queue for timers armed on this thread.
  TimerQueue& timers() noexcept;
  /// Arms a timer on any thread.
  void arm(TimerEntry& entry, std::int64_t due_ns) noexcept;
  /// From an own thread; see `TimerQueue`.
  void arm_lazily(TimerEntry& entry, std::int64_t delay_ns) noexcept;
  /// This thread has a new timer: whoever sleeps longer and watches over it must know.
  void wake_watcher_before(std::int64_t due_ns) noexcept;

  void inject(Cell* cell) noexcept;
  Cell* pop_injected() noexcept;
  /// Wakes a sleeping worker if nobody is looking for work already.
  void wake_if_needed() noexcept;
  void wake_one() noexcept;
  /// True if the worker was asleep.
  bool wake(Worker& worker) noexcept;

  void prepare_tracing();
  bool records_spans() const noexcept;
  bool measures() const noexcept;
  /// For another worker; null if nobody measures.
  ActorDurations* new_durations();
  /// The same for what it records.
  telemetry::SpanLane* new_span_lane();
  void start_threads();
  void join_threads() noexcept;
  /// Ends everything but what a reference to an actor that has ended still needs.
  void close() noexcept;

  void report_dead_letter(DeadLetterReason reason, const Cell& target,
                          const MessageType& message) noexcept;
  void count_dead_letter(DeadLetterReason reason) noexcept;
  void call_hook(const DeadLetter& letter) noexcept;
  void call_hook_once(const DeadLetter& letter) noexcept;
  void report_failure(const Cell& cell, const std::string& message) noexcept;
};

/// Ends a message that will not be handled: a request goes home with `error`, and either way it is
/// counted and reported.
void refuse(Cell& target, Node* node, DeadLetterReason reason) noexcept;

/// Brings an answered request back to its caller, or disposes of it if nobody asked.
void send_home(RequestNode* node) noexcept;

}  // namespace weir::internal
