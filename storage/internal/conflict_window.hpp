#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <weir/storage/internal/last_writes.hpp>
#include <weir/storage/version.hpp>

namespace weir::storage::internal {

/// What recent commits have written: enough to tell whether something read at an older version
/// still holds.
///
/// Keys are remembered by a hash of 64 bits, and, for ranges, whole: two keys with the same hash
/// make a conflict where there is none, which costs a retry.
class ConflictWindow {
 public:
  /// Nothing before or at `floor` is known.
  ConflictWindow(Version floor, std::size_t keys_max) : floor_(floor), keys_max_(keys_max) {}

  static std::uint64_t hash(std::string_view key) noexcept {
    return std::hash<std::string_view>()(key);
  }

  /// Versions come in order, the keys of each in order of their bytes.
  class Writes {
   public:
    void reserve(std::size_t keys, std::size_t bytes);
    void add(std::string_view key);

    std::size_t size() const noexcept { return ends_.size(); }
    std::string_view operator[](std::size_t index) const noexcept;
    std::uint64_t hash_at(std::size_t index) const noexcept { return hashes_[index]; }
    bool has_within(std::string_view begin, std::string_view end) const noexcept;

   private:
    std::string bytes_;
    std::vector<std::uint32_t> ends_;
    std::vector<std::uint64_t> hashes_;  // which are needed twice
  };
  void add(Version version, Writes writes);
  /// Nobody who began before or at `version` will ask any more.
  void forget_until(Version version);

  /// Who read at an older version cannot be judged.
  Version floor() const noexcept { return floor_; }
  /// The newest commit that wrote a key of this hash, zero if none is known.
  Version last_write(std::uint64_t hash) const noexcept;
  /// True if a commit after `since` wrote a key from `begin` to before `end`; an empty end is none.
  bool has_range_write(std::string_view begin, std::string_view end, Version since) const noexcept;

 private:
  struct Entry {
    Version version;
    Writes writes;
  };
  void forget_oldest();

  Version floor_;
  const std::size_t keys_max_;
  std::size_t keys_ = 0;
  std::deque<Entry> commits_;
  LastWrites last_writes_;
};

}  // namespace weir::storage::internal
