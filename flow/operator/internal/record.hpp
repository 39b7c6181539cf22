#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
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
  static constexpr std::uint32_t key_size_max = (1u << 29) - 1;

  static Ptr make(std::string_view key, std::size_t value_capacity);
  /// In memory of someone else's, as much as `bytes_for` says.
  static Record* make_at(void* memory, std::string_view key, std::size_t value_capacity) noexcept {
    return ::new (memory) Record(key, value_capacity);
  }
  static std::size_t bytes_for(std::string_view key, std::size_t value_capacity) noexcept {
    return sizeof(Record) + key.size() + value_capacity;
  }
  /// The same in the memory of one that is gone; null if that is too small, or much larger.
  static Ptr make_in(Ptr gone, std::string_view key, std::size_t value_capacity) noexcept;

  std::string_view key() const noexcept { return {content(), key_size_}; }
  bool exists() const noexcept { return exists_ != 0; }
  std::string_view value() const noexcept { return {content() + key_size_, value_size_}; }
  bool is_pending() const noexcept { return pending != not_pending; }
  bool fits(std::size_t value_size) const noexcept { return value_size <= capacity_; }
  /// Has the processor fetch it: it is seldom all in one line of the cache.
  void prefetch() const noexcept {
    __builtin_prefetch(this);
    __builtin_prefetch(content() + 32);
  }
  /// One that fits.
  void set_value(std::string_view value) noexcept;
  void clear_value() noexcept;
  std::size_t bytes() const noexcept { return sizeof(Record) + key_size_ + capacity_; }
  /// About what it takes in memory.
  std::size_t memory() const noexcept { return bytes() + 16; }

  /// Which of the table's writes.
  std::uint32_t pending = not_pending;
  /// Whether what is true is known; if not, there is only a write.
  std::uint32_t is_known : 1 = 1;
  /// Since the last sweep.
  std::uint32_t was_used : 1 = 1;

 private:
  Record(std::string_view key, std::size_t value_capacity) noexcept;
  char* content() noexcept { return reinterpret_cast<char*>(this + 1); }
  const char* content() const noexcept { return reinterpret_cast<const char*>(this + 1); }

  // There are as many of them as there are groups: small.
  std::uint32_t exists_ : 1 = 0;
  std::uint32_t key_size_ : 29 = 0;
  std::uint32_t value_size_ = 0;
  std::uint32_t capacity_ = 0;
};

}  // namespace weir::flow::operators::internal
