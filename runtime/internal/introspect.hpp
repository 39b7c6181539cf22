#pragma once

#include <vector>

#include <weir/runtime/actor_info.hpp>
#include <weir/runtime/internal/cell.hpp>

namespace weir::internal {

/// The living actors of a system, read without stopping them. Costs them nothing: the memory of
/// cells is walked, and a cell in use is held by a reference while it is read.
std::vector<ActorInfo> list_actors(Core& core);

/// Kills every actor: suspended handlers are destroyed, hooks do not run.
void kill_all(Core& core) noexcept;

}  // namespace weir::internal
