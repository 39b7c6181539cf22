#include <weir/tests/telemetry/support/allocations.hpp>

#include <cstddef>
#include <cstdlib>
#include <new>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WEIR_COUNTS_ALLOCATIONS 0
#else
#define WEIR_COUNTS_ALLOCATIONS 1
#endif

namespace weir::telemetry::testing {
namespace {

constinit thread_local std::uint64_t count = 0;

}  // namespace

const bool counts_allocations = WEIR_COUNTS_ALLOCATIONS;

std::uint64_t allocations() noexcept { return count; }

#if WEIR_COUNTS_ALLOCATIONS
namespace {

void* allocate(std::size_t bytes, std::size_t alignment) {
  ++count;
  const std::size_t size = bytes == 0 ? 1 : bytes;
  void* memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(size)
          : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace
#endif

}  // namespace weir::telemetry::testing

#if WEIR_COUNTS_ALLOCATIONS
// The other forms call these.
void* operator new(std::size_t bytes) { return weir::telemetry::testing::allocate(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return weir::telemetry::testing::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif
