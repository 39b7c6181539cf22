#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <weir/runtime/dead_letter.hpp>
#include <weir/runtime/internal/cell.hpp>
#include <weir/runtime/internal/message_sampler.hpp>
#include <weir/runtime/internal/run.hpp>
#include <weir/runtime/internal/spin_lock.hpp>
#include <weir/runtime/internal/tick_clock.hpp>
#include <weir/runtime/internal/timer_wheel.hpp>

namespace weir::telemetry {
class SpanLane;
}

namespace weir::internal {

class ActorDurations;
struct Core;
struct Trail;

// Without it, for a benchmark that tells what it costs when it is off.
#ifdef WEIR_WITHOUT_TELEMETRY
inline constexpr bool has_telemetry = false;
#else
inline constexpr bool has_telemetry = true;
#endif

/// Messages to one actor that a handler has sent and nobody has seen yet. Linked locally and
/// published with one exchange: after a burst, when the receiver is idle, and at the latest when
/// the handler returns or suspends.
struct Outbox {
  // The receiver of the last message. Compared only, unless `holds_target`: then it is counted.
  Cell* target = nullptr;
  Node* first = nullptr;
  Node* last = nullptr;
  std::uint32_t count = 0;
  std::uint32_t credit = 0;  // room reserved in the target's mailbox and not used yet
  // The same for messages that are recorded, in whose handlers `credit` is zero: so who does not
  // record need not ask.
  std::uint32_t recorded_credit = 0;
  std::uint32_t chunk = 0;  // how much to reserve next
  bool holds_target = false;
  // What the recorded messages among them share, and how many more may. Stamped when they are
  // published: until then they are in no mailbox.
  std::uint32_t trail_left = 0;
  Trail* trail = nullptr;

  static constexpr std::uint32_t burst = 64;
};

/// What goes on when the coroutine that runs suspends or ends.
struct OuterTrace {
  std::uintptr_t trace;
  OuterTrace* outer;
};

/// One thread that runs actors.
///
/// Work waits in three places, looked at in this order: the slot (the actor messaged last, whose
/// data is in this core's cache), the queue (first in, first out), and the stack of new actors
/// (newest first for the owner, oldest first for thieves, which keeps trees of actors small). Other
/// workers take from the queue and the stack at any time, and from the slot when the owner has been
/// busy for long.
struct alignas(128) Worker {
  /// What this worker has seen of another one.
  struct Sighting {
    std::uint64_t activations = 0;
    int round = 0;  // of its search, in which they were so many for the first time
  };

  Worker(Core& system, unsigned number, std::int64_t now_ns);
  ~Worker();

  // Owner only.
  Core& core;
  unsigned index;
  Cell* current = nullptr;
  Run* current_run = nullptr;
  Run* suspended_run = nullptr;  // the last handler that suspended
  std::uintptr_t inbox =
      0;  // signals taken from `current`'s control, oldest first, not yet processed
  Outbox outbox;
  std::uint32_t quota_left = 0;
  std::uint32_t slot_streak = 0;
  int search_rounds = 1000;
  bool was_idle = false;      // has looked for work elsewhere, or slept, since it last ran an actor
  bool was_sentinel = false;  // and was the one that looks after the others: see parking.hpp
  std::uint32_t ticks = 0;
  std::uint32_t until_timer_check = 1;
  std::uint32_t timer_check_every = 1;
  std::int64_t timers_checked = 0;
  std::int64_t outside_next = 0;
  std::uint64_t next_id = 0;
  std::uint64_t last_id = 0;
  std::uint64_t next_request = 0;
  std::uint64_t random_state;
  const bool records_spans;
  const bool measures;
  const bool is_observed;              // one of both
  const std::uintptr_t outside_trace;  // of what no message caused
  std::uintptr_t trace = 0;            // of what runs: see active_span.hpp
  OuterTrace* outer_traces = nullptr;  // below it, innermost first
  std::uint64_t trace_random;
  const std::uint64_t roots_bound;  // of the numbers of traces that are recorded: Sampler::bound
  std::uint64_t roots_random;
  // So many traces that begin next are not recorded: their numbers have been drawn already.
  std::uint32_t roots_to_pass = 0;
  bool has_root = false;  // the one after them is recorded, and this is its number
  std::uint64_t root_number = 0;
  TickClock<> span_clock;
  telemetry::SpanLane* const span_lane;  // null if spans go to the queue
  // The last recorded handler: when it ended, in which activation, and which one it was by
  // `Cell::popped`. Zero if something else than handlers has run since.
  std::int64_t recorded_end_ns = 0;
  std::uint64_t recorded_activation = 0;
  std::uint32_t recorded_popped = 0;
  MessageSampler sampler;
  ActorDurations* const durations;  // null if it does not measure
  std::vector<Sighting> sightings;  // by index: see stealing.hpp

  // Read by others.
  alignas(64) std::atomic<std::uint64_t> activations{0};
  std::atomic<std::uint64_t> messages{0};  // handled
  std::atomic<bool> is_active{false};
  std::atomic<std::uint64_t> dead_letters[dead_letter_reasons]{};

  alignas(64) std::atomic<Cell*> slot{nullptr};

  alignas(64) SpinLock queue_lock;
  Cell* queue_first = nullptr;
  Cell* queue_last = nullptr;
  std::atomic<std::uint32_t> queue_size{0};

  alignas(64) SpinLock fresh_lock;
  std::vector<Cell*> fresh;
  std::size_t fresh_begin = 0;
  std::atomic<std::uint32_t> fresh_size{0};

  alignas(64) std::atomic<std::uint32_t> parked{0};
  // When the sleeping neighbour looks after these timers next, and when it fell asleep; the past
  // while it is awake.
  std::atomic<std::int64_t> watched_until{INT64_MIN};
  std::atomic<std::int64_t> watched_since{0};
  TimerWheel timers;

  // If somebody measures: while it sleeps, for how long it has been awake so far; while it is
  // awake, what is to be added to the time to know that, which is negative.
  std::atomic<std::int64_t> awake_ns{0};

  static Worker* current_worker() noexcept;

  void push_queue(Cell* cell) noexcept;
  Cell* pop_queue() noexcept;
  void push_fresh(Cell* cell) noexcept;
  Cell* pop_fresh() noexcept;
  Cell* steal_fresh() noexcept;
  std::uint64_t random() noexcept;
};

inline constexpr std::uint64_t random_step = 0x9E3779B97F4A7C15ull;
/// The next number of a generator.
inline std::uint64_t next_random(std::uint64_t& state) noexcept {
  // splitmix64
  std::uint64_t z = (state += random_step);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

extern constinit thread_local Worker* this_worker __attribute__((tls_model("initial-exec")));
inline Worker* Worker::current_worker() noexcept { return this_worker; }

/// What runs next belongs to that trace.
inline void enter_trace(Worker& worker, std::uintptr_t trace) noexcept {
  worker.trace = trace;
  if (!has_telemetry || trace == 0) [[likely]]
    return;
  worker.outbox.recorded_credit += worker.outbox.credit;
  worker.outbox.credit = 0;
}

/// A part has ended that was the innermost one somewhere in the actor that runs: `outer` goes on.
void replace_trace(Worker& worker, std::uintptr_t part, std::uintptr_t outer) noexcept;

/// What runs on a worker meanwhile, though no message caused it, begins traces: hooks, signals.
/// Everything else that runs between handlers sends nothing of its own, and keeps off `trace`.
class OutsideOfTraces {
 public:
  explicit OutsideOfTraces(Worker& worker) noexcept : worker_(worker), outer_(worker.trace) {
    if (has_telemetry) enter_trace(worker, worker.outside_trace);
  }
  OutsideOfTraces(const OutsideOfTraces&) = delete;
  OutsideOfTraces& operator=(const OutsideOfTraces&) = delete;
  ~OutsideOfTraces() {
    if (has_telemetry) enter_trace(worker_, outer_);
  }

 private:
  Worker& worker_;
  const std::uintptr_t outer_;
};

/// Makes `cell` run soon. The caller has taken it out of `idle` or `waiting`.
void schedule(Cell* cell) noexcept;

/// The same for an actor that has just been spawned.
void schedule_fresh(Cell* cell) noexcept;

/// Publishes what the handler has sent so far.
void flush_outbox(Worker& worker) noexcept;

inline void end_of_handler(Worker& worker) noexcept {
  if (worker.outbox.holds_target) [[unlikely]]
    flush_outbox(worker);
  worker.outbox.target = nullptr;
}

/// Marks a message with the span that sends it.
[[gnu::cold]] void attach_trail(Worker& worker, const Cell& target, Node* node);
/// The same for one that goes to the outbox if that is its target's.
[[gnu::cold]] void attach_sent_trail(Worker& worker, const Cell& target, Node* node);
/// What is in the outbox is published now.
[[gnu::cold]] void close_trail(Worker& worker, Outbox& outbox) noexcept;

/// A message that is measured is sent.
void count_chosen(Worker& worker, Node* node) noexcept;
/// One is sent from a thread that is no worker.
void count_foreign(const Cell& target, Node* node) noexcept;

/// The outbox is long enough, or its receiver idle.
void publish_burst(Worker& worker) noexcept;

enum class SendStatus : std::uint8_t { sent, full, stopped };

/// Reserves room and delivers, or refuses: then the node still belongs to the caller.
[[nodiscard]] SendStatus send_slowly(Cell* target, Node* node) noexcept;

[[nodiscard]] inline SendStatus send(Cell* target, Node* node) noexcept {
  Worker* worker = this_worker;
  if (worker && worker->outbox.target == target && worker->outbox.credit > 0 &&
      target->head.load(std::memory_order_relaxed) != Cell::idle) {
    Outbox& outbox = worker->outbox;
    if (outbox.last) {
      outbox.last->link_to(node, std::memory_order_relaxed);
    } else {
      outbox.first = node;
    }
    outbox.last = node;
    --outbox.credit;
    if (++outbox.count == Outbox::burst) [[unlikely]]
      publish_burst(*worker);
    return SendStatus::sent;
  }
  return send_slowly(target, node);
}

}  // namespace weir::internal
