#include <weir/runtime/internal/retired.hpp>

#include <algorithm>
#include <mutex>
#include <vector>

namespace weir::internal {
namespace {

struct Retired {
  std::mutex mutex;
  std::vector<std::unique_ptr<Core>> cores;
};

// Never destroyed: systems may end during static destruction.
Retired& retired() {
  static auto* all = new Retired;
  return *all;
}

struct Search {
  const std::vector<std::unique_ptr<Core>>& cores;
  std::vector<bool> is_referenced;
};

void note_core_of(void* memory, void* context) {
  auto& search = *static_cast<Search*>(context);
  auto* cell = static_cast<Cell*>(memory);
  if (cell->refs.load(std::memory_order_acquire) == 0) return;
  if (!cell->try_add_ref(cell->id.load(std::memory_order_relaxed))) return;
  for (std::size_t i = 0; i < search.cores.size(); ++i) {
    if (search.cores[i].get() == cell->core) search.is_referenced[i] = true;
  }
  cell->release();
}

}  // namespace

void retire(std::unique_ptr<Core> core) noexcept {
  core->close();
  Retired& all = retired();
  std::scoped_lock hold(all.mutex);
  all.cores.push_back(std::move(core));
  Search search{all.cores, std::vector<bool>(all.cores.size(), false)};
  for_each_cell_memory(&note_core_of, &search);
  std::size_t at = 0;
  std::erase_if(all.cores,
                [&](const std::unique_ptr<Core>&) { return !search.is_referenced[at++]; });
}

}  // namespace weir::internal
