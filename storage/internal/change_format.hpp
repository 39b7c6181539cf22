#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weir/storage/change.hpp>
#include <weir/storage/internal/bytes.hpp>

// A change record. Persisted: docs/storage_format.md.
//
//     log  version:8 -> format:1 time:varint total:varint origin:text trace
//                       spaces:varint { space:varint changes:varint { change } }
//     trace:  0, or flags:1 (1 = present, 2 = sampled) trace id:16 span id:8
//     change: kind:1 key:text [before:text] [after:text]      text: length:varint bytes
//
// `time` is in microseconds since 1970, `total` the bytes of all records so far, this one included.
namespace weir::storage::internal {

inline constexpr std::uint8_t change_format = 1;
inline constexpr std::uint8_t trace_is_present = 1;
inline constexpr std::uint8_t trace_is_sampled = 2;

inline std::string log_key(Version version) {
  std::string key;
  append_big_endian(version.number, key);
  return key;
}

/// Collects the changes of one commit, by space.
class ChangeList {
 public:
  void add(std::uint32_t space, const Change& change);
  void clear() noexcept { used_ = 0; }

  /// The changes as the end of a record: `spaces` and all that follows.
  void append_to(std::string& out) const;

 private:
  struct Space {
    std::uint32_t id = 0;
    std::uint64_t count = 0;
    std::string bytes;
  };
  Space& space(std::uint32_t id);

  std::vector<Space> spaces_;  // kept with their memory
  std::size_t used_ = 0;
};

/// What a record says before its changes.
struct ChangeHeader {
  std::uint64_t microseconds = 0;
  std::string_view origin;
  const telemetry::TraceContext* trace = nullptr;
};

/// Replaces `out` with the record; gives the total to go on with.
std::uint64_t encode_changes(std::string& out, const ChangeHeader& header,
                             std::uint64_t total_before, const ChangeList& changes);

}  // namespace weir::storage::internal
