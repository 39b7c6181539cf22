#include <weir/storage/engine/engine.hpp>

namespace weir::storage::engine {

Result<bool> Engine::get_many(Family family, std::span<Lookup> lookups, Wait wait) const {
  bool is_complete = true;
  std::string value;
  for (Lookup& lookup : lookups) {
    if (lookup.is_known) continue;
    const auto found = get(family, lookup.key, value, wait);
    if (!found && found.error() == Errc::would_block) {
      is_complete = false;
      continue;
    }
    if (!found) return found.error();
    if (*found) lookup.value = value;
    lookup.is_known = true;
  }
  return is_complete;
}

}  // namespace weir::storage::engine
