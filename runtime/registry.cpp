#include <weir/runtime/registry.hpp>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/name_table.hpp>

namespace weir::internal {
namespace {

bool handles(const ActorType& actor, const MessageType& message) noexcept {
  const std::uint32_t index = message.index.load(std::memory_order_relaxed);
  return index != 0 && index < actor.table_size && actor.table[index] != nullptr;
}

std::string quoted(std::string_view name) { return "registry: '" + std::string(name) + "'"; }

std::string described(const Cell& cell) {
  return std::string(cell.type->name) + " #" +
         std::to_string(cell.id.load(std::memory_order_relaxed));
}

}  // namespace

Result<> add_name(Core& core, std::string name, Cell* cell) {
  if (name.empty()) return Error(Errc::invalid_argument, "registry: a name is not empty");
  if (!cell) return Error(Errc::invalid_argument, quoted(name) + " for an empty reference");
  if (cell->core != &core) {
    return Error(Errc::invalid_argument, quoted(name) + " for an actor of another system");
  }
  if (!cell->is_running()) return Error(Errc::stopped, quoted(name) + " for " + described(*cell));
  Cell* owner = core.names->add(name, *cell);
  if (!owner) return {};
  Error taken(Errc::already_exists, quoted(name) + " is the name of " + described(*owner));
  owner->release();
  return taken;
}

Result<Cell*> find_name(Core& core, std::string_view name, WantedMessages wanted) {
  Cell* cell = core.names->find(name);
  if (!cell) return Error(Errc::not_found, quoted(name));
  for (std::size_t i = 0; i < wanted.count; ++i) {
    if (handles(*cell->type, *wanted.types[i])) continue;
    Error wrong(Errc::wrong_type, quoted(name) + " is the name of " + described(*cell) +
                                      ", which does not handle " +
                                      std::string(wanted.types[i]->name()));
    cell->release();
    return wrong;
  }
  return cell;
}

bool remove_name(Core& core, std::string_view name) { return core.names->remove(name); }

std::vector<std::string> list_names(Core& core) { return core.names->names(); }

}  // namespace weir::internal
