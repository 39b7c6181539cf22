#pragma once

namespace weir::internal {

/// Begins to bring memory here that is about to be changed and that another core may have changed
/// last. To read it first would bring it twice: to be read, then to be written.
inline void prefetch_to_change(const void* memory) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(memory)));
#else
  __builtin_prefetch(memory, 1);
#endif
}

}  // namespace weir::internal
