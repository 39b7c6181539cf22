#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace weir::flow::operators::internal {

/// Memory for small records, in pieces of eight bytes. A heap adds a header to each and rounds up
/// further, which for a million groups is as much as the records themselves.
///
/// What is given back is used for records of the same size; the memory itself goes with the pool.
class RecordPool {
 public:
  void* take(std::size_t bytes) {
    const std::size_t pieces = pieces_of(bytes);
    if (pieces > pieces_max) return ::operator new(bytes);
    if (Free* found = free_[pieces]; found != nullptr) {
      free_[pieces] = found->next;
      return found;
    }
    if (rest_.size() < pieces * piece) add_chunk();
    void* memory = rest_.data();
    rest_ = rest_.subspan(pieces * piece);
    return memory;
  }
  void give_back(void* memory, std::size_t bytes) noexcept {
    const std::size_t pieces = pieces_of(bytes);
    if (pieces > pieces_max) {
      ::operator delete(memory);
    } else {
      free_[pieces] = ::new (memory) Free{free_[pieces]};
    }
  }

  /// What a record of this size takes.
  static constexpr std::size_t memory_of(std::size_t bytes) noexcept {
    return pieces_of(bytes) * piece;
  }

 private:
  struct Free {
    Free* next;
  };

  static constexpr std::size_t piece = 8;
  static constexpr std::size_t pieces_max = 32;
  // The first are small, as most flows are.
  static constexpr std::size_t chunk_min = 1 << 10;
  static constexpr std::size_t chunk_max = 64 << 10;

  static constexpr std::size_t pieces_of(std::size_t bytes) noexcept {
    return (bytes + piece - 1) / piece;
  }
  void add_chunk() {
    const std::size_t bytes = std::clamp(chunk_min << chunks_.size() / 2, chunk_min, chunk_max);
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
    rest_ = {chunks_.back().get(), bytes};
  }

  std::array<Free*, pieces_max + 1> free_ = {};  // by size
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::span<std::byte> rest_;  // of the last chunk
};

}  // namespace weir::flow::operators::internal
