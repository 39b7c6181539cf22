#pragma once

#include <string>

#include <weir/runtime/internal/cell.hpp>

namespace weir::internal {

struct Cause;
struct TimerHandle;
struct TimerMessageBase;

/// Applies the supervision as if a handler had thrown an exception with this message.
void fail_with(Cell& cell, std::string message) noexcept;
/// Goes on with stopping or restarting as far as possible. True if the cell has terminated.
bool advance_lifecycle(Cell& cell, Worker& worker) noexcept;
bool advance_stop(Cell& cell, Worker& worker) noexcept;
/// Entry 0 of every dispatch table: stops or fails the actor when its turn comes.
Outcome handle_turn_marker(void* object, Node* node, Cell& cell);
/// A message whose handling fails the actor, as if a handler had thrown.
Node* make_failing_marker(std::string message, Cause cause);
/// The actor is built anew: it has entered no phase yet.
void forget_phase(Cell& cell) noexcept;
/// Calls on_start.
void start_actor(Cell& cell) noexcept;
/// Takes a timer that is over out of its owner's list.
void detach_timer(TimerMessageBase& timer) noexcept;
/// Puts a timer into its owner's list, and gives it back to its handle.
void attach_timer(TimerMessageBase& timer, Cell& owner, TimerHandle* handle) noexcept;
void drain_control(Cell& cell, Worker& worker) noexcept;

}  // namespace weir::internal
