#pragma once

#include <weir/runtime/internal/cell.hpp>

// The tree of actors. A parent's list of children belongs to its activation; that of the guardian,
// whose children join on any thread, to the core's lock.
namespace weir::internal {

/// The caller sees to it that nobody else touches the parent's children.
void link_child(Cell& parent, Cell* child) noexcept;
void unlink_child(Cell& parent, Cell* child) noexcept;

/// On the child's last activation: the parent lets go of it, now or when it comes to its control
/// lane. The child may be gone afterwards.
void leave_parent(Cell& child) noexcept;

/// While a handler of `parent` runs: lets go of children that have ended and whose end means
/// nothing to anybody, so that their memory serves those that it spawns next.
void reap_children(Cell& parent) noexcept;

}  // namespace weir::internal
