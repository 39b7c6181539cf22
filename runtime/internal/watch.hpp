#pragma once

#include <weir/runtime/internal/cell.hpp>

namespace weir::internal {

using NotifyTerminated = void (*)(Cell& watcher, Terminated message);

/// Lets `watcher`, the running actor, know when `target` ends. With `is_linked` it fails when the
/// target fails; otherwise `notify` is called. Once for each of the two, however often it is asked.
void watch(Cell& watcher, Cell& target, bool is_linked, NotifyTerminated notify);
void unwatch(Cell& watcher, Cell& target, bool is_linked) noexcept;
/// The watcher is built anew: what its last instance watched does not concern the next one.
void unwatch_all(Cell& watcher) noexcept;
/// The cell has ended: tells everyone who wanted to know, and forgets whom it watched.
void notify_watchers(Cell& cell) noexcept;

}  // namespace weir::internal
