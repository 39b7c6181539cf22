#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <boost/container/small_vector.hpp>
#include <weir/runtime/clock.hpp>
#include <weir/runtime/result.hpp>
#include <weir/storage/version.hpp>
#include <weir/telemetry/trace_context.hpp>

namespace weir::storage {

// Persisted: never renumber.
enum class ChangeKind : std::uint8_t { insert = 1, update = 2, remove = 3 };

const char* to_string(ChangeKind kind) noexcept;

/// What one commit did to one row. Views into the record it came from; keys and values as encoded.
struct Change {
  ChangeKind kind;
  std::string_view key;
  std::string_view before;  // of updates and removes
  std::string_view after;   // of inserts and updates
};

/// What one commit did to one key space, in the order it was done.
class SpaceChanges {
 public:
  class Iterator;

  std::uint32_t space() const noexcept { return space_; }
  std::size_t size() const noexcept { return count_; }
  Iterator begin() const noexcept;
  Iterator end() const noexcept;

 private:
  friend class ChangeRecord;
  SpaceChanges(std::uint32_t space, std::size_t count, std::string_view bytes) noexcept
      : space_(space), count_(count), bytes_(bytes) {}

  std::uint32_t space_;
  std::size_t count_;
  std::string_view bytes_;  // checked when the record was decoded
};

class SpaceChanges::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Change;
  using difference_type = std::ptrdiff_t;
  using pointer = const Change*;
  using reference = const Change&;

  Iterator() noexcept = default;

  const Change& operator*() const noexcept { return change_; }
  const Change* operator->() const noexcept { return &change_; }
  Iterator& operator++() noexcept {
    --left_;
    if (left_ > 0) take();
    return *this;
  }
  void operator++(int) noexcept { ++*this; }
  friend bool operator==(const Iterator& a, const Iterator& b) noexcept {
    return a.left_ == b.left_;
  }

 private:
  friend class SpaceChanges;
  Iterator(std::string_view rest, std::size_t left) noexcept : rest_(rest), left_(left) {
    if (left_ > 0) take();
  }
  void take() noexcept;

  std::string_view rest_;
  std::size_t left_ = 0;
  Change change_{};
};

inline SpaceChanges::Iterator SpaceChanges::begin() const noexcept {
  return Iterator(bytes_, count_);
}
inline SpaceChanges::Iterator SpaceChanges::end() const noexcept { return {}; }

/// Everything that one commit did to rows: one entry of the change log. Copies share its bytes, so
/// views stay valid as long as one of them lives.
class ChangeRecord {
 public:
  /// `Errc::corruption` if the bytes are not a record.
  static Result<ChangeRecord> decode(Version version, std::string_view bytes);
  /// The same without a copy: `bytes` live as long as `owner`.
  static Result<ChangeRecord> decode(Version version, std::string_view bytes,
                                     std::shared_ptr<const void> owner);

  Version version() const noexcept { return version_; }
  std::chrono::sys_time<Duration> time() const noexcept { return time_; }
  /// Who committed, as the transaction was told.
  const std::string& origin() const noexcept { return origin_; }
  /// The place in a trace that caused the commit; not valid if it was not recorded.
  const telemetry::TraceContext& trace() const noexcept { return trace_; }
  /// Bytes of all records up to and with this one, counted from the first of the store.
  std::uint64_t total_bytes() const noexcept { return total_bytes_; }

  std::span<const SpaceChanges> spaces() const noexcept { return {spaces_.data(), spaces_.size()}; }
  /// Those of one space; empty if the commit did not touch it.
  SpaceChanges of(std::uint32_t space) const noexcept;
  /// Bytes that this record takes in memory.
  std::size_t bytes() const noexcept { return bytes_.size(); }

 private:
  ChangeRecord() = default;
  bool parse();

  Version version_;
  std::chrono::sys_time<Duration> time_{};
  std::uint64_t total_bytes_ = 0;
  std::string origin_;
  telemetry::TraceContext trace_;
  std::string_view bytes_;
  std::shared_ptr<const void> owner_;  // of `bytes_`
  boost::container::small_vector<SpaceChanges, 2> spaces_;
};

}  // namespace weir::storage
