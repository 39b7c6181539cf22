#pragma once

#include <cstddef>

namespace weir::telemetry::internal {

/// Every sum is kept in several copies, and each thread writes to one of them: its slot.
///
///   0 ... owned - 1       owned by one thread at a time, its only writer: plain loads and stores
///   owned ... slots - 1   shared by the threads that found no slot free: atomic additions
///
/// A slot goes back when its thread ends, and its next owner continues where it stood.
struct Slot {
  std::size_t index;
  bool is_owned;
};

/// How many threads can own a slot: a few more than there are processors.
std::size_t owned_slot_count() noexcept;
/// Owned and shared ones.
std::size_t slot_count() noexcept;

/// Of this thread; negative while it owns none.
inline constinit thread_local int owned_slot = -1;

/// Takes a slot for this thread if one is free; once in a thread's life that has a price: the C
/// library keeps a note to give the slot back.
Slot claim_slot() noexcept;

inline Slot current_slot() noexcept {
  const int slot = owned_slot;
  if (slot >= 0) [[likely]]
    return {static_cast<std::size_t>(slot), true};
  return claim_slot();
}

}  // namespace weir::telemetry::internal
