#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <weir/runtime/internal/cell.hpp>
#include <weir/runtime/internal/spin_lock.hpp>
#include <weir/runtime/internal/worker.hpp>

namespace weir::internal {

/// An actor that a router sends to.
///
/// It is pinned while somebody sends to it or waits for its reply, and leaves for good when it has
/// been removed and the last pin is gone: only then is it told to stop, so that nothing routed to
/// it before comes too late.
///
///     pins: | leaving | drains | count |
struct GroupMember {
  static constexpr std::uint32_t leaving = 1u << 31;  // removed
  static constexpr std::uint32_t drains = 1u << 30;   // is to stop when it has left
  static constexpr std::uint32_t count_mask = drains - 1;

  explicit GroupMember(Cell& actor) noexcept : cell(actor) { cell.add_ref(); }
  ~GroupMember() { cell.release(); }

  void unpin() noexcept;
  void leave(bool then_drains) noexcept;
  /// How much it has to do: messages that wait, requests through this group that have not been
  /// answered, and a handler that is suspended.
  std::uint32_t load() const noexcept;
  bool is_full() const noexcept;

  Cell& cell;
  std::uint32_t seat = 0;  // the lowest number that was free, so that a successor takes it over
  std::atomic<std::uint32_t> pins{0};

 private:
  void end(std::uint32_t state) noexcept;
};

struct Unpin {
  void operator()(GroupMember* member) const noexcept { member->unpin(); }
};
using PinnedMember = std::unique_ptr<GroupMember, Unpin>;

/// Which member a message goes to.
enum class RoutingRule : std::uint8_t { in_turn, least_loaded, by_key };

/// The members of a router, shared by its copies. Usable from any thread; nothing of a user's runs
/// while the lock is held.
class Group {
 public:
  explicit Group(RoutingRule rule) noexcept : rule_(rule) {}
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// False if it is a member already, or has stopped.
  bool add(Cell& cell);
  /// False if it is no member.
  bool remove(const Cell& cell, bool then_drains);
  void remove_all(bool then_drains);

  /// A living member for a message with this key; null if there is none.
  PinnedMember pick(std::uint64_t key);
  /// All living members in the order of their seats.
  std::vector<PinnedMember> pick_all();
  /// Sends to a member that `pick` chooses; to the next one if that has just stopped.
  SendStatus send(Node* node, std::uint64_t key);

  /// Living members.
  std::size_t size();
  /// Messages that wait in all mailboxes together.
  std::uint64_t depth();

 private:
  using Members = std::vector<GroupMember*>;

  GroupMember* choose(std::uint64_t key) noexcept;
  GroupMember* choose_in_turn() noexcept;
  GroupMember* choose_least_loaded() noexcept;
  GroupMember* choose_by_key(std::uint64_t key) const noexcept;
  /// Takes out the members that have stopped; the caller lets them leave once the lock is free.
  Members take_stopped();
  std::uint32_t lowest_free_seat() const noexcept;

  const RoutingRule rule_;
  SpinLock lock_;
  Members members_;  // in the order of their seats
  std::size_t next_ = 0;
};

/// Spreads keys evenly, however alike they are.
constexpr std::uint64_t mix_bits(std::uint64_t bits) noexcept {
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ull;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBull;
  return bits ^ (bits >> 31);
}

}  // namespace weir::internal
