#pragma once

#include <atomic>
#include <cstdint>

#include <weir/runtime/internal/cell.hpp>
#include <weir/runtime/internal/node.hpp>
#include <weir/runtime/internal/timer_entry.hpp>

namespace weir::internal {

struct TimerMessageBase;

/// The user's end of a timer; the timer clears it when it is over.
struct TimerHandle {
  TimerMessageBase* timer = nullptr;
};

/// What differs between messages. One constant object per kind of timer and message.
struct TimerOperations {
  // Ends the message and frees the memory.
  void (*destroy)(TimerMessageBase*) noexcept;
  // Makes the message anew for the next round, and tells the period. If its copy constructor throws
  // so does this, and `destroy` ends a timer without a message.
  std::int64_t (*renew)(TimerMessageBase*);
};

enum class Repeat : std::uint8_t { never, fixed_rate, fixed_delay };

/// One pointer in an owner's list of timers. Only the owner follows and changes it; the thread that
/// fires a timer reads its links to have the neighbours in its cache, hence atomic.
using TimerLink = std::atomic<TimerMessageBase*>;

/// A timer and, right behind it in memory, the message it sends. Belongs to its owner's list from
/// arming until it is handled for the last time.
struct TimerMessageBase : TimerEntry {
  enum class State : std::uint8_t {
    armed,      // in the queue, or on its way into the mailbox
    handling,   // its message is being handled
    cancelled,  // in the mailbox, to be thrown away
  };

  Cell* owner = nullptr;
  TimerLink next_timer = nullptr;
  std::atomic<TimerLink*> previous_timer = nullptr;  // null when not in the owner's list
  TimerHandle* handle = nullptr;
  const TimerOperations* operations = nullptr;
  Repeat repeat = Repeat::never;
  State state = State::armed;

  Node* node() noexcept { return reinterpret_cast<Node*>(this + 1); }
  static TimerMessageBase* of(Node* node) noexcept {
    return reinterpret_cast<TimerMessageBase*>(node) - 1;
  }
};

/// Arms a new timer of the running actor and puts it into the actor's list.
void arm_timer(TimerMessageBase& timer, Cell& owner, std::int64_t delay_ns);
/// True if the timer's message will not be handled (again).
bool cancel_timer(TimerMessageBase& timer) noexcept;
/// Removes every timer of an actor.
void cancel_all_timers(Cell& owner) noexcept;
/// Ends the message of a fired timer that nobody will handle.
void dispose_timer(Node* node) noexcept;

}  // namespace weir::internal
