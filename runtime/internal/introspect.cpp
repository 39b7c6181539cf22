#include <weir/runtime/internal/introspect.hpp>

#include <algorithm>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/phase_record.hpp>

namespace weir::internal {
namespace {

struct Walk {
  Core& core;
  void (*visit)(Cell&, void*);
  void* context;
};

void visit_if_alive(void* memory, void* context) {
  auto& walk = *static_cast<Walk*>(context);
  auto* cell = static_cast<Cell*>(memory);
  if (cell->refs.load(std::memory_order_relaxed) == 0) return;
  if (!cell->try_add_ref(cell->id.load(std::memory_order_relaxed))) return;
  const bool is_here = cell->core == &walk.core && cell != walk.core.guardian &&
                       cell->state.load(std::memory_order_acquire) != Cell::State::terminated;
  if (is_here) walk.visit(*cell, walk.context);
  cell->release();
}

template <class Visit>
void for_each_actor(Core& core, Visit visit) {
  Walk walk{core, [](Cell& cell, void* context) { (*static_cast<Visit*>(context))(cell); }, &visit};
  for_each_cell_memory(&visit_if_alive, &walk);
}

void add_extension(ActorInfo& info, const Extension& extension, std::int64_t now_ns) {
  info.name = extension.name;
  info.restarts = extension.restarts.load(std::memory_order_relaxed);
  extension.failure_lock.lock();
  info.last_failure = extension.last_failure;
  extension.failure_lock.unlock();
  const PhaseRecord* phase = extension.phase.load(std::memory_order_acquire);
  if (phase && phase->is_live.load(std::memory_order_relaxed)) {
    info.phase = phase->current_name();
    info.phase_age = Duration(now_ns - phase->entered_ns.load(std::memory_order_relaxed));
  }
}

ActorInfo info_of(const Cell& cell, std::int64_t now_ns) {
  ActorInfo info;
  info.id = {cell.id.load(std::memory_order_relaxed)};
  const Cell* parent = cell.parent;
  info.parent = {
      parent && parent != cell.core->guardian ? parent->id.load(std::memory_order_relaxed) : 0};
  info.type = cell.type->name;
  info.mailbox_depth = cell.depth();
  info.mailbox_capacity = cell.capacity;
  info.messages_handled = cell.handled();
  info.is_stopping = !cell.is_running();
  if (const Extension* extension = cell.extension_if_any()) add_extension(info, *extension, now_ns);
  return info;
}

}  // namespace

std::vector<ActorInfo> list_actors(Core& core) {
  std::vector<ActorInfo> all;
  const std::int64_t now = core.now_ns();
  for_each_actor(core, [&](Cell& cell) { all.push_back(info_of(cell, now)); });
  std::sort(all.begin(), all.end(),
            [](const ActorInfo& a, const ActorInfo& b) { return a.id < b.id; });
  return all;
}

void kill_all(Core& core) noexcept {
  for_each_actor(core, [](Cell& cell) {
    request_kill(cell, {StopReason::Kind::killed, "did not stop in time"});
  });
}

}  // namespace weir::internal
