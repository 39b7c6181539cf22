#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace weir::flow::operators::internal {

/// One entry of a state table in memory: its key, the value that is true, and where the write of
/// the current cycle is, if there is one.
///
///     this | key | value | room for it to grow
class Record {
 public:
  struct Free {
    void operator()(Record* record) const noexcept;
  };
  using Ptr = std::unique_ptr<Record, Free>;

  static constexpr std::uint32_t not_pending = 0xFFFFFFFF;

  static Ptr make(std::string_view key, std::size_t value_capacity);
  /// The same in the memory of one that is gone; null if that is too small, or much larger.
  static Ptr make_in(Ptr gone, std::string_view key, std::size_t value_capacity) noexcept;

  std::string_view key() const noexcept { return {bytes(), key_size_}; }
  bool exists() const noexcept { return exists_; }
  std::string_view value() const noexcept { return {bytes() + key_size_, value_size_}; }
  bool is_pending() const noexcept { return pending != not_pending; }
  bool fits(std::size_t value_size) const noexcept { return value_size <= capacity_; }
  /// Has the processor fetch it: it is seldom all in one line of the cache.
  void prefetch() const noexcept {
    __builtin_prefetch(this);
    __builtin_prefetch(bytes() + 32);
  }
  /// One that fits.
  void set_value(std::string_view value) noexcept;
  void clear_value() noexcept;
  /// About what it takes in memory.
  std::size_t memory() const noexcept { return sizeof(Record) + key_size_ + capacity_ + 16; }

  /// Which of the table's writes.
  std::uint32_t pending = not_pending;
  /// For the operator: which of its groups of rows this is.
  std::uint32_t mark = 0;
  /// Whether what is true is known; if not, there is only a write.
  bool is_known = true;
  /// Since the last sweep.
  bool was_used = true;

 private:
  Record(std::string_view key, std::size_t value_capacity) noexcept;
  char* bytes() noexcept { return reinterpret_cast<char*>(this + 1); }
  const char* bytes() const noexcept { return reinterpret_cast<const char*>(this + 1); }

  bool exists_ = false;
  std::uint32_t key_size_ = 0;
  std::uint32_t value_size_ = 0;
  std::uint32_t capacity_ = 0;
};

}  // namespace weir::flow::operators::internal
