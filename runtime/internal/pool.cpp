#include <weir/runtime/internal/pool.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>
#include <vector>

#include <weir/runtime/internal/cell.hpp>
#include <weir/runtime/internal/spin_lock.hpp>

namespace weir::internal {

constinit thread_local Magazine magazines[pool_class_count]{};

namespace {

struct FullMagazine {
  Link* first;
  std::uint32_t count;
};

struct Slab {
  char* begin;
  std::size_t bytes;
  std::size_t carved;     // bytes handed out so far
  std::size_t populated;  // bytes asked of the system so far
};

struct Depot {
  alignas(64) SpinLock lock;
  std::vector<FullMagazine> full;
  alignas(64) SpinLock slab_lock;  // held while fresh memory is touched, so apart from `lock`
  std::vector<Slab> slabs;
};

// A class starts small and grows by slabs four times as large, up to one huge page.
constexpr std::size_t slab_bytes_min = std::size_t{1} << 16;
constexpr std::size_t slab_bytes_max = std::size_t{1} << 21;

// Of a large slab so much is asked of the system at once: two thirds of the price of one page at a
// time.
constexpr std::size_t populate_bytes = std::size_t{1} << 16;

// Never destroyed: threads may return magazines after static destruction has begun.
Depot* depots() {
  static auto* all = new Depot[pool_class_count];
  return all;
}

// Gives a finished thread's magazines back, so that its objects are not lost to the others.
struct ThreadExit {
  bool armed = false;
  ~ThreadExit() {
    for (unsigned i = 0; i < pool_class_count; ++i) {
      Magazine& magazine = magazines[i];
      Depot& depot = depots()[i];
      std::scoped_lock hold(depot.lock);
      if (magazine.first) depot.full.push_back({magazine.first, magazine.count});
      if (magazine.spare) depot.full.push_back({magazine.spare, magazine.spare_count});
      magazine = Magazine{};
    }
  }
};
thread_local ThreadExit thread_exit;

Link* fresh_object(unsigned pool_class, char* memory) {
  if (pool_class >= pool_object_classes) return new (memory) Cell;
  return new (memory) Link;
}

Slab make_slab(const Depot& depot, std::size_t needed) {
  const std::size_t wanted = depot.slabs.empty() ? slab_bytes_min : depot.slabs.back().bytes * 4;
  const std::size_t bytes = std::bit_ceil(std::max(needed, std::min(wanted, slab_bytes_max)));
  auto* memory = static_cast<char*>(::operator new(bytes, std::align_val_t{bytes}));
  return {memory, bytes, 0, bytes < slab_bytes_max ? bytes : 0};
}

// Best effort: what it leaves out comes when it is touched.
void populate(Slab& slab, std::size_t until) noexcept {
#ifdef MADV_POPULATE_WRITE
  while (slab.populated < until) {
    const std::size_t bytes = std::min(populate_bytes, slab.bytes - slab.populated);
    madvise(slab.begin + slab.populated, bytes, MADV_POPULATE_WRITE);
    slab.populated += bytes;
  }
#endif
}

// Under the lock to the end: a cell is constructed before anyone walking the slabs can see it.
Link* carve_magazine(unsigned pool_class) {
  const std::size_t bytes = pool_class_bytes(pool_class);
  Depot& depot = depots()[pool_class];
  std::scoped_lock hold(depot.slab_lock);
  const std::size_t needed = bytes * magazine_size;
  if (depot.slabs.empty() || depot.slabs.back().carved + needed > depot.slabs.back().bytes) {
    depot.slabs.push_back(make_slab(depot, needed));
  }
  Slab& slab = depot.slabs.back();
  populate(slab, slab.carved + needed);
  Link* next = nullptr;
  for (std::uint32_t i = magazine_size; i-- > 0;) {
    Link* object = fresh_object(pool_class, slab.begin + slab.carved + i * bytes);
    object->next.store(reinterpret_cast<std::uintptr_t>(next), std::memory_order_relaxed);
    next = object;
  }
  slab.carved += needed;
  return next;
}

bool take_full(Depot& depot, Magazine& magazine) {
  std::scoped_lock hold(depot.lock);
  if (depot.full.empty()) return false;
  magazine.first = depot.full.back().first;
  magazine.count = depot.full.back().count;
  depot.full.pop_back();
  return true;
}

}  // namespace

void* pool_refill(unsigned pool_class) {
  thread_exit.armed = true;
  Magazine& magazine = magazines[pool_class];
  if (magazine.spare) {
    magazine.first = std::exchange(magazine.spare, nullptr);
    magazine.count = std::exchange(magazine.spare_count, 0);
  } else if (!take_full(depots()[pool_class], magazine)) {
    magazine.first = carve_magazine(pool_class);
    magazine.count = magazine_size;
  }
  return pool_take(pool_class);
}

void pool_overflow(unsigned pool_class) noexcept {
  thread_exit.armed = true;
  Magazine& magazine = magazines[pool_class];
  if (magazine.spare) {
    Depot& depot = depots()[pool_class];
    std::scoped_lock hold(depot.lock);
    depot.full.push_back({magazine.spare, magazine.spare_count});
  }
  magazine.spare = std::exchange(magazine.first, nullptr);
  magazine.spare_count = std::exchange(magazine.count, 0);
}

void for_each_cell_memory(void (*visit)(void* memory, void* context), void* context) {
  for (unsigned i = pool_object_classes; i < pool_class_count; ++i) {
    Depot& depot = depots()[i];
    std::vector<Slab> slabs;
    {
      std::scoped_lock hold(depot.slab_lock);
      slabs = depot.slabs;
    }
    const std::size_t bytes = pool_class_bytes(i);
    for (const Slab& slab : slabs) {
      for (std::size_t at = 0; at + bytes <= slab.carved; at += bytes) {
        visit(slab.begin + at, context);
      }
    }
  }
}

}  // namespace weir::internal
