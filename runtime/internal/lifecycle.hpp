#pragma once

#include <exception>
#include <string>

#include <weir/runtime/internal/cell.hpp>

// What an activation does besides handling the next message: signals, supervision, stopping. All of
// it runs on an activation of the cell unless said otherwise.
namespace weir::internal {

struct Factory;

// --- messages
/// Calls the handler of one message; an exception goes to supervision.
inline Outcome invoke(Cell& cell, Node* node) noexcept;
Outcome handle_exception(Cell& cell, Node* node) noexcept;
Outcome handle_timer(Cell& cell, Node* node) noexcept;
/// Handles a message, whatever kind it is.
inline Outcome handle_quickly(Cell& cell, Node* node) noexcept;
/// The same for a message that is measured, or whose trace is to be recorded or decided upon.
Outcome handle_closely(Cell& cell, Node* node, Worker& worker) noexcept;
/// Whether the trace of a message is recorded: decides it if nobody has.
bool decide_recording(Node* node, Worker& worker) noexcept;
/// The same in a span of its own, if there is room for it.
Outcome handle_recorded(Cell& cell, Node* node, Worker& worker) noexcept;
/// The caller has given up: the request goes back without being handled.
Outcome skip_abandoned(Cell& cell, RequestNode* request) noexcept;
/// Moves a message to the stash.
void keep_aside(Cell& cell, Node* node) noexcept;
void rearm_after_handling(Cell& cell, Node* node) noexcept;
/// Processes signals and whatever `attention` asks for. False if the activation is over.
bool attend(Cell& cell, Worker& worker) noexcept;
/// Lets others run first.
void yield_to_others(Cell& cell, Worker& worker) noexcept;

// --- senders, on any thread
/// Lets senders that wait for room go on, as far as there is room.
void admit_waiting(Cell& cell) noexcept;
/// For a sender that found the cell terminated: restores that state and refuses what others pushed
/// behind. False: the chain is the caller's.
bool refuse_after_end(Cell& cell, Node* first, Node* last) noexcept;
/// drop_oldest: appends, and drops the oldest message when full. False if the actor is stopping.
[[nodiscard]] bool push_ring(Cell& cell, Node* node) noexcept;

// --- life
struct SpawnRequest {
  const ActorType& type;
  SpawnOptions* options;  // null: all defaults
  Cell* parent;           // null: the guardian
  Core& core;
};

/// A cell with its place in the tree and everything but the user's object. Null if the system has
/// ended. Throws `std::invalid_argument` for bad options.
Cell* prepare_cell(const SpawnRequest& request);
/// Before the user's object is constructed. From its end until then whoever touches its memory is
/// seen by the address sanitizer, although the memory stays with the cell.
void open_object(Cell& cell) noexcept;
/// If there is one.
void destroy_object(Cell& cell) noexcept;
/// Starts a cell whose object has been constructed.
void adopt(Cell* cell) noexcept;
/// Ends a cell whose constructor threw.
void discard_cell(Cell* cell) noexcept;

enum class StopMode : std::uint8_t {
  graceful,  // finish the handler that runs, refuse what is queued
  drain,     // handle what is queued first
  kill,      // do not even finish the handler that is suspended
};

/// On any thread that holds a reference.
void request_stop(Cell& cell, StopMode mode, StopReason reason) noexcept;
/// The same, even if the actor is stopping already.
void request_kill(Cell& cell, StopReason reason) noexcept;
void begin_stop(Cell& cell, StopMode mode, StopReason reason) noexcept;

/// A handler threw: applies the supervision.
void fail(Cell& cell, std::exception_ptr exception) noexcept;
std::string describe(const std::exception_ptr& exception) noexcept;

/// Destroys suspended handlers; their requests are answered with `error`.
void destroy_runs(Cell& cell, const Error& error) noexcept;

inline Outcome invoke(Cell& cell, Node* node) noexcept {
  try {
    const std::uint32_t index = node->type().index.load(std::memory_order_relaxed);
    return cell.type->table[index](cell.object, node, cell);
  } catch (...) {
    return handle_exception(cell, node);
  }
}

inline Outcome handle_quickly(Cell& cell, Node* node) noexcept {
  const MessageType& type = node->type();
  if (node->has(Node::is_timer)) [[unlikely]]
    return handle_timer(cell, node);
  if (type.is_request && static_cast<RequestNode*>(node)->is_abandoned()) [[unlikely]] {
    return skip_abandoned(cell, static_cast<RequestNode*>(node));
  }
  return invoke(cell, node);
}

}  // namespace weir::internal
