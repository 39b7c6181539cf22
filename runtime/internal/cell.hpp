#pragma once

#include <atomic>
#include <cstdint>

#include <weir/runtime/internal/node.hpp>
#include <weir/runtime/spawn_options.hpp>
#include <weir/runtime/stop_reason.hpp>

namespace weir::internal {

struct ActorType;
struct Core;
struct Extension;
struct Run;
struct Worker;

/// Something for the actor itself rather than for its handlers. It overtakes messages and is
/// processed even while a handler is suspended.
struct Signal : Link {
  explicit Signal(void (*action)(Signal*, Cell&)) noexcept : process(action) {}
  // Runs on the cell's activation; owns the signal.
  void (*process)(Signal*, Cell&);
};

/// One actor: its mailbox, its place in the tree and, behind it, the user's object.
///
/// `head` is the newest message, or one of the states below. Who exchanges `idle` or `busy` for a
/// message also stores `tail`; who finds `idle` schedules the cell. `poked` tells the consumer to
/// look at `control` before it parks.
///
///     idle        empty, nobody runs it                 push -> schedule
///     busy        empty, but an activation owns it      push -> the activation finds `tail`
///     message     newest of a chain that starts at `tail`
///     terminated  the actor is gone                     push -> the sender refuses its own message
///
/// `control` is a stack of tagged links: signals, replies coming home and children that ended.
///
///     waiting     the activation sleeps until a signal comes (a handler is suspended)
///     terminated  as above
///
/// Cells are recycled but their memory stays cells: `refs` and `id` may be read at any time.
struct alignas(64) Cell : Link {
  enum HeadState : std::uintptr_t { idle = 2, head_terminated = 4, busy = 6, poked = 1 };
  enum ControlState : std::uintptr_t { empty = 0, waiting = 4, control_terminated = 5 };
  enum ControlTag : std::uintptr_t { reply_tag = 1, child_tag = 2, signal_tag = 3, tag_mask = 7 };
  enum Flags : std::uint8_t {
    constructed = 1,    // the user's object exists
    wants_unstash = 2,  // messages set aside may be handled
    guarding = 4,       // the root of the tree: its children are guarded by the core's lock
    stop_hook_ran = 8,
    fresh = 16,           // on_start has not been called
    yielding = 32,        // a handler lets other actors run
    unsampled_hook = 64,  // what made the next hook run is not recorded
  };
  enum class State : std::uint8_t { running, stopping, terminated };

  /// Why an activation may have to do something other than handle the next message.
  enum Attention : std::uint8_t {
    suspended = 1,      // a handler waits, and the actor does not interleave
    starting = 2,       // on_start has not finished
    restarting = 4,     // waits for children or for the backoff
    stopping = 8,       // waits for handlers and children
    stashing = 16,      // messages are set aside
    ring_mailbox = 32,  // drop_oldest: messages wait in the extension
    rearming = 64,      // the message being handled is a periodic timer
    observed = 128,     // a simulation looks at every message first
    blocking = suspended | starting | restarting | stopping,
  };

  // Touched by senders.
  std::atomic<std::uintptr_t> head{head_terminated};
  std::atomic<std::uintptr_t> control{control_terminated};
  std::atomic<std::uint32_t> enqueued{0};  // messages admitted so far
  std::uint32_t capacity = 0;
  std::atomic<std::uint32_t> refs{0};
  std::atomic<State> state{State::terminated};
  std::atomic<bool> has_waiters{false};  // somebody waits for room
  Overflow overflow = Overflow::fail;
  bool is_unusual = false;  // simulated, or drops the oldest: sending needs a closer look
  std::atomic<std::uint64_t> id{0};
  const ActorType* type = nullptr;
  Core* core = nullptr;

  // Touched by the activation; siblings are linked by the parent's.
  std::atomic<Node*> tail{nullptr};
  void* object = nullptr;
  Cell* parent = nullptr;
  Cell* first_child = nullptr;
  Cell* previous_sibling = nullptr;
  Cell* next_sibling = nullptr;
  std::atomic<std::uint32_t> popped{0};  // messages taken out so far
  std::atomic<std::uint16_t> popped_high{0};
  std::uint8_t attention = 0;
  std::uint8_t flags = 0;
  std::atomic<Extension*> extension_pointer{nullptr};

  // --- references
  void add_ref() noexcept { refs.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) free_cell(this);
  }
  /// A strong reference, if the cell is still the actor `expected_id`.
  bool try_add_ref(std::uint64_t expected_id) noexcept;

  bool is_running() const noexcept {
    return state.load(std::memory_order_acquire) == State::running;
  }

  // --- senders
  /// Links a chain of messages whose room has been reserved. False if the actor is gone: the chain
  /// still belongs to the caller.
  [[nodiscard]] bool push(Node* first, Node* last) noexcept;
  /// False if the cell has terminated: the signal still belongs to the caller.
  [[nodiscard]] bool push_control(Link* link, ControlTag tag) noexcept;
  void send_signal(Signal* signal) noexcept;
  /// Makes sure that an activation looks at `control`.
  void poke() noexcept;

  // --- the activation
  /// Puts entries taken from `control` back, below what has come since.
  void return_control(std::uintptr_t entries) noexcept;
  void activate(Worker& worker) noexcept;
  /// Of a worker whose system records spans or measures, or does neither.
  template <bool IsObserved>
  void activate_for(Worker& worker) noexcept;

  Extension& extension();
  Extension* extension_if_any() const noexcept {
    return extension_pointer.load(std::memory_order_acquire);
  }
  /// By how much what has been admitted so far exceeds the room. Messages admitted later may have
  /// been taken out already, so it can be less than the capacity below zero.
  std::int32_t excess(std::uint32_t admitted) const noexcept {
    const auto waiting_now =
        static_cast<std::int32_t>(admitted - popped.load(std::memory_order_acquire));
    return waiting_now - static_cast<std::int32_t>(capacity);
  }
  bool has_room(std::uint32_t admitted) const noexcept { return excess(admitted) <= 0; }
  /// How many messages wait.
  std::uint32_t depth() const noexcept {
    const auto taken = popped.load(std::memory_order_acquire);
    return enqueued.load(std::memory_order_relaxed) - taken;
  }
  std::uint64_t handled() const noexcept;

  static void free_cell(Cell* cell) noexcept;
};

/// What an entry of a control lane points to.
inline Link* link_of(std::uintptr_t entry) noexcept {
  return reinterpret_cast<Link*>(entry & ~std::uintptr_t{Cell::tag_mask});
}

static_assert(sizeof(Cell) == 128, "two cache lines: the senders' and the activation's");

/// What a handler did with its message.
enum class Outcome : std::uint8_t {
  done,       // the node can be disposed of
  replied,    // the node carries its reply home
  suspended,  // the handler goes on later and keeps what it needs
  set_aside,  // the actor is not ready for it: the node moves to the stash
  repeats,    // the node is a periodic timer and is armed again
};

using Invoke = Outcome (*)(void* object, Node* node, Cell& cell);

/// Static description of an actor class. One object per class, never destroyed.
struct ActorType {
  std::string_view name;
  std::uint8_t pool_class;
  bool object_inside;  // behind the cell, in the same memory
  bool interleaves;
  bool is_spared = false;  // by the faults that a simulation injects
  std::uint32_t interleaved_max = system_default;
  const Invoke* table = nullptr;  // by MessageType::index
  std::size_t table_size = 0;
  void (*destroy)(void* object) noexcept = nullptr;
  Outcome (*start)(void* object, Cell& cell) = nullptr;
  Outcome (*stop)(void* object, Cell& cell) = nullptr;
  void (*child_stopped)(Cell& cell, ChildStopped message) = nullptr;
  std::size_t object_bytes = 0;
  std::size_t object_alignment = 0;
};

inline void* object_memory(Cell* cell) noexcept { return cell + 1; }

}  // namespace weir::internal
