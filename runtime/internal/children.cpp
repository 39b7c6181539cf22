#include <weir/runtime/internal/children.hpp>

#include <mutex>

#include <weir/runtime/check.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/worker.hpp>

namespace weir::internal {
namespace {

// Nobody hears of this end: the child only leaves its parent's list. A simulation sees every step.
bool ends_silently(const Cell& parent, const Cell& child) noexcept {
  return !child.extension_if_any() && !parent.type->child_stopped && !parent.core->simulation;
}

// An idle parent is taken like by an activation, which costs less than to schedule one for it.
bool leave_idle_parent(Cell& parent, Cell& child) noexcept {
  std::uintptr_t head = parent.head.load(std::memory_order_relaxed);
  if (head != Cell::idle ||
      !parent.head.compare_exchange_strong(head, Cell::busy, std::memory_order_seq_cst)) {
    return false;
  }
  unlink_child(parent, &child);
  child.release();
  head = Cell::busy;
  if (!parent.head.compare_exchange_strong(head, Cell::idle, std::memory_order_seq_cst)) {
    schedule(&parent);  // whoever came meanwhile left that to us
  }
  return true;
}

// For an entry of the parent's control lane. False if it is something else.
bool let_go_if_silent(Cell& parent, std::uintptr_t entry) noexcept {
  if ((entry & Cell::tag_mask) != Cell::child_tag) return false;
  auto* child = static_cast<Cell*>(link_of(entry));
  if (!ends_silently(parent, *child)) return false;
  unlink_child(parent, child);
  child->release();
  return true;
}

}  // namespace

void link_child(Cell& parent, Cell* child) noexcept {
  child->previous_sibling = nullptr;
  child->next_sibling = parent.first_child;
  if (parent.first_child) parent.first_child->previous_sibling = child;
  parent.first_child = child;
}

void unlink_child(Cell& parent, Cell* child) noexcept {
  std::unique_lock<SpinLock> hold(parent.core->tree_lock, std::defer_lock);
  if ((parent.flags & Cell::guarding) != 0) hold.lock();
  (child->previous_sibling ? child->previous_sibling->next_sibling : parent.first_child) =
      child->next_sibling;
  if (child->next_sibling) child->next_sibling->previous_sibling = child->previous_sibling;
}

void leave_parent(Cell& child) noexcept {
  Cell& parent = *child.parent;
  if (ends_silently(parent, child) && leave_idle_parent(parent, child)) return;
  check(parent.push_control(&child, Cell::child_tag), "a parent outlives its children");
}

void reap_children(Cell& parent) noexcept {
  if (parent.type->child_stopped || parent.core->simulation) return;
  if (parent.control.load(std::memory_order_relaxed) == Cell::empty) return;
  std::uintptr_t entry = parent.control.exchange(Cell::empty, std::memory_order_seq_cst);
  std::uintptr_t kept = Cell::empty;
  Link* last_kept = nullptr;
  while (entry != Cell::empty) {
    Link* link = link_of(entry);
    const std::uintptr_t next = link->next.load(std::memory_order_relaxed);
    __builtin_prefetch(link_of(next));
    if (!let_go_if_silent(parent, entry)) {
      link->next.store(Cell::empty, std::memory_order_relaxed);
      if (last_kept) {
        last_kept->next.store(entry, std::memory_order_relaxed);
      } else {
        kept = entry;
      }
      last_kept = link;
    }
    entry = next;
  }
  parent.return_control(kept);
}

}  // namespace weir::internal
