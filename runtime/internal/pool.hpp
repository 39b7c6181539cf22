#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

// Object pools behind messages, actors and coroutine frames.
//
// Each thread keeps two magazines (lists of up to `magazine_size` free objects) per size class and
// exchanges whole magazines with a shared depot, so an object that is allocated on one core and
// freed on another costs a few nanoseconds instead of a contended malloc. Memory stays with the
// pools.

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEIR_POOL_USES_MALLOC 1
#endif
#endif
#ifndef WEIR_POOL_USES_MALLOC
#define WEIR_POOL_USES_MALLOC 0
#endif

namespace weir::internal {

/// The first word of everything that waits in an intrusive list: a message, a signal, a run queue
/// entry or a free object.
struct Link {
  std::atomic<std::uintptr_t> next{0};
};

// A small message and its header take half a cache line; larger objects whole ones.
inline constexpr std::size_t pool_small_bytes = 32;
inline constexpr std::size_t pool_granularity = 64;
inline constexpr unsigned pool_object_classes = 17;
inline constexpr unsigned pool_cell_classes = 4;
inline constexpr unsigned pool_class_count = pool_object_classes + pool_cell_classes;
inline constexpr std::size_t pool_object_bytes_max = pool_granularity * (pool_object_classes - 1);

/// Cells live in classes of their own: their memory never becomes anything but a cell, which is
/// what makes weak references and the list of live actors safe to read without a lock.
inline constexpr std::size_t cell_class_bytes[pool_cell_classes] = {192, 256, 384, 512};

constexpr unsigned pool_class_of(std::size_t bytes) noexcept {
  if (bytes <= pool_small_bytes) return 0;
  return static_cast<unsigned>((bytes + pool_granularity - 1) / pool_granularity);
}

constexpr std::size_t pool_class_bytes(unsigned pool_class) noexcept {
  if (pool_class == 0) return pool_small_bytes;
  return pool_class < pool_object_classes ? pool_class * pool_granularity
                                          : cell_class_bytes[pool_class - pool_object_classes];
}

struct Magazine {
  Link* first = nullptr;
  std::uint32_t count = 0;
  std::uint32_t spare_count = 0;
  Link* spare = nullptr;
};

inline constexpr std::uint32_t magazine_size = 128;

// Constant-initialised, so that reaching it costs no guard.
extern constinit thread_local Magazine magazines[pool_class_count]
    __attribute__((tls_model("initial-exec")));

void* pool_refill(unsigned pool_class);
void pool_overflow(unsigned pool_class) noexcept;

/// Calls `visit(memory, class)` for every cell ever carved from a slab, free or in use.
void for_each_cell_memory(void (*visit)(void* memory, void* context), void* context);

inline void* pool_take(unsigned pool_class) {
  Magazine& magazine = magazines[pool_class];
  if (Link* object = magazine.first) [[likely]] {
    magazine.first = reinterpret_cast<Link*>(object->next.load(std::memory_order_relaxed));
    --magazine.count;
    return object;
  }
  return pool_refill(pool_class);
}

inline void pool_give(unsigned pool_class, void* memory) noexcept {
  Magazine& magazine = magazines[pool_class];
  // Before the push, so that giving and taking at the edge does not swap magazines each time.
  if (magazine.count == magazine_size) [[unlikely]]
    pool_overflow(pool_class);
  auto* object = static_cast<Link*>(memory);
  object->next.store(reinterpret_cast<std::uintptr_t>(magazine.first), std::memory_order_relaxed);
  magazine.first = object;
  ++magazine.count;
}

/// Memory for a message or a coroutine frame of `bytes`, aligned to 64 bytes, or 32 if it is small.
inline void* pool_allocate(std::size_t bytes) {
#if WEIR_POOL_USES_MALLOC
  return ::operator new(bytes, std::align_val_t{pool_granularity});
#else
  if (bytes <= pool_object_bytes_max) [[likely]]
    return pool_take(pool_class_of(bytes));
  return ::operator new(bytes, std::align_val_t{pool_granularity});
#endif
}

inline void pool_deallocate(void* memory, std::size_t bytes) noexcept {
#if WEIR_POOL_USES_MALLOC
  ::operator delete(memory, bytes, std::align_val_t{pool_granularity});
#else
  if (bytes <= pool_object_bytes_max) [[likely]] {
    pool_give(pool_class_of(bytes), memory);
  } else {
    ::operator delete(memory, bytes, std::align_val_t{pool_granularity});
  }
#endif
}

/// Lets a class live in the pools: derive from it, allocate with plain `new`.
struct Pooled {
  static void* operator new(std::size_t bytes) { return pool_allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    pool_deallocate(memory, bytes);
  }
};

}  // namespace weir::internal
