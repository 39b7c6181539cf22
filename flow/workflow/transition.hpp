#pragma once

#include <weir/flow/workflow/state.hpp>

namespace weir::flow::workflow {

/// What can happen to an execution. Who may let it happen, and with which lease, is judged before.
enum class EventKind : std::uint8_t {
  promote = 1,      // its workflow lets it begin
  promote_delayed,  // the same, but not before a time
  promote_blocked,  // the same, but it has dependencies
  time_due,         // the time that it waited for has come
  block,            // may not be claimed, for the reason of the event
  unblock,          // that reason is gone
  dependencies_satisfied,
  dependencies_satisfied_delayed,  // but not before a time
  claim,
  expire_lease,
  revoke_lease,
  reclaim,  // claimed anew after its lease was lost
  complete,
  fail,               // for good
  retry,              // failed, and tried again at once
  retry_delayed,      // failed, and tried again after a backoff
  delay,              // put off by its worker
  wait_for_children,  // given back by its worker until edges that it added are resolved
  suspend,            // until what the event's reason names has come
  resume,
  resume_delayed,
  cancel,
  expire,  // its deadline has passed
  skip,    // not begun, and its dependencies have become impossible
  replay,
  escalate,  // suspended for too long: only people help now
};

template <>
inline constexpr std::array words<EventKind> = {"promote",
                                                "promote_delayed",
                                                "promote_blocked",
                                                "time_due",
                                                "block",
                                                "unblock",
                                                "dependencies_satisfied",
                                                "dependencies_satisfied_delayed",
                                                "claim",
                                                "expire_lease",
                                                "revoke_lease",
                                                "reclaim",
                                                "complete",
                                                "fail",
                                                "retry",
                                                "retry_delayed",
                                                "delay",
                                                "wait_for_children",
                                                "suspend",
                                                "resume",
                                                "resume_delayed",
                                                "cancel",
                                                "expire",
                                                "skip",
                                                "replay",
                                                "escalate"};

struct Event {
  EventKind kind;
  /// Of `block`, `unblock` and `suspend`.
  BlockingReason reason = BlockingReason::none;
};

/// The state after an event: the one function by which executions change, on every store.
///
/// `wrong_state` names both if the event is not possible then. From a valid state it gives a valid
/// one.
///
///     submitted ─promote─> runnable ─claim─> active ─complete, fail─> terminal
///                             ^  ^             │ │                      │
///                             │  └─retry,delay─┘ └─suspend─> suspended  │ cancel, expire:
///                             ├──────────────────resume──────────┘      │ from everywhere before
///                             └──────────────────replay─────────────────┘
Result<StateVector> transition(const StateVector& state, Event event);

}  // namespace weir::flow::workflow
