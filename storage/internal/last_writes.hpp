#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <weir/storage/version.hpp>

namespace weir::storage::internal {

/// For hashes of keys, the newest version that wrote one. Every key of every commit comes and goes,
/// so it lies flat: nothing is allocated for one.
class LastWrites {
 public:
  /// Zero if there is none.
  Version find(std::uint64_t hash) const noexcept {
    return slots_.empty() ? Version{} : slots_[place_of(hash)].version;
  }
  /// `version` is not zero.
  void set(std::uint64_t hash, Version version) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    Slot& slot = slots_[place_of(hash)];
    if (slot.version == Version{}) ++size_;
    slot = {hash, version};
  }
  /// Unless a newer one has written it since.
  void forget(std::uint64_t hash, Version version) noexcept {
    if (slots_.empty()) return;
    const std::size_t place = place_of(hash);
    if (slots_[place].version == version) erase(place);
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    Version version = {};  // zero: there is none
  };

  std::size_t mask() const noexcept { return slots_.size() - 1; }
  /// Where the hash is, or would be.
  std::size_t place_of(std::uint64_t hash) const noexcept {
    std::size_t place = hash & mask();
    while (slots_[place].version != Version{} && slots_[place].hash != hash)
      place = (place + 1) & mask();
    return place;
  }
  /// Those behind it move up, so that it leaves no trace.
  void erase(std::size_t hole) noexcept {
    for (std::size_t place = (hole + 1) & mask(); slots_[place].version != Version{};
         place = (place + 1) & mask()) {
      const std::size_t home = slots_[place].hash & mask();
      if (((place - home) & mask()) < ((place - hole) & mask())) continue;
      slots_[hole] = slots_[place];
      hole = place;
    }
    slots_[hole] = {};
    --size_;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.version != Version{}) slots_[place_of(slot.hash)] = slot;
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them full
  std::size_t size_ = 0;
};

}  // namespace weir::storage::internal
