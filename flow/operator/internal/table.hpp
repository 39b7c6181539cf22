#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/operator/internal/record.hpp>
#include <weir/flow/operator/state_reader.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::operators::internal {

/// What the tables of a flow share.
struct StateShared {
  /// Null: there is nothing but what is in memory.
  StateReader* reader = nullptr;
};

/// Takes one write: a key, and its value or none if it goes.
using VisitWrite = std::function<void(std::string key, std::optional<std::string_view> value)>;

/// What the state of a flow asks of each of its tables.
class Table {
 public:
  virtual ~Table() = default;

  /// What the current cycle has changed, in no order.
  virtual void visit_writes(const VisitWrite& visit) const = 0;
  /// The writes are true, and those of the next cycle begin.
  virtual void commit() = 0;
  /// The writes were not made.
  virtual void roll_back() = 0;
  virtual std::size_t memory() const noexcept = 0;
  /// Between cycles: lets go of about `bytes` that can be read again.
  virtual void evict(std::size_t bytes) = 0;
};

/// The writes of one table in the current cycle. Each stays where it is while others come; their
/// places are used again, so that a cycle like the last allocates nothing.
template <class Place>
class PendingWrites {
 public:
  struct Write {
    Place place;
    std::string value;
    bool is_removal = false;
    /// For the operator: which of its groups of rows this is.
    std::uint32_t mark = 0;
  };

  std::size_t size() const noexcept { return count_; }
  Write& operator[](std::uint32_t index) noexcept {
    return (*blocks_[index / block_size])[index % block_size];
  }
  const Write& operator[](std::uint32_t index) const noexcept {
    return (*blocks_[index / block_size])[index % block_size];
  }
  std::uint32_t add(Place place) {
    if (count_ == blocks_.size() * block_size) blocks_.push_back(std::make_unique<Block>());
    (*this)[count_].place = std::move(place);
    (*this)[count_].mark = 0;
    return count_++;
  }
  void clear() noexcept { count_ = 0; }

 private:
  static constexpr std::size_t block_size = 32;
  using Block = std::array<Write, block_size>;

  std::vector<std::unique_ptr<Block>> blocks_;
  std::uint32_t count_ = 0;
};

/// In the store, a table's keys begin with its number: two bytes, the greater first.
class TablePrefix {
 public:
  explicit TablePrefix(std::uint16_t number)
      : bytes_({static_cast<char>(number >> 8), static_cast<char>(number & 0xFF)}) {}

  std::string operator+(std::string_view key) const { return std::string(bytes_).append(key); }
  std::string_view bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace weir::flow::operators::internal
