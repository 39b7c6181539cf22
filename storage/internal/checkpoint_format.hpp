#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <weir/storage/internal/bytes.hpp>
#include <weir/storage/version.hpp>

// Checkpoints and what the store knows about itself. Persisted: docs/storage_format.md.
//
//     checkpoints  name        -> version of the commit:varint  passed:varint payload
//     meta         "horizon"   -> version:8   the oldest version that may be read
//                  "log_floor" -> version:8   the oldest version in the change log
//                  "last_dropped"    -> space:4    the highest number that a dropped space had
//                  "dropped" space:4 -> version:8  what it holds is to be removed; since when
namespace weir::storage::internal {

inline constexpr std::string_view horizon_key = "horizon";
inline constexpr std::string_view log_floor_key = "log_floor";
inline constexpr std::string_view last_dropped_key = "last_dropped";
inline constexpr std::string_view dropped_prefix = "dropped";

inline std::string dropped_key(std::uint32_t space) {
  std::string key(dropped_prefix);
  append_big_endian(space, key);
  return key;
}

/// In place of a key space: checkpoints take part in conflicts like everything else.
inline constexpr std::uint32_t checkpoint_space = 0xFFFFFFFF;

struct StoredCheckpoint {
  Version version;
  std::string_view payload;
};

inline std::string encode_checkpoint(const StoredCheckpoint& checkpoint) {
  std::string out;
  append_varint(checkpoint.version.number, out);
  out.append(checkpoint.payload);
  return out;
}

inline std::optional<StoredCheckpoint> parse_checkpoint(std::string_view bytes) noexcept {
  ByteReader reader(bytes);
  const Version version{reader.varint()};
  if (!reader.is_ok()) return std::nullopt;
  return StoredCheckpoint{version, reader.rest()};
}

inline std::string encode_version(Version version) {
  std::string out;
  append_big_endian(version.number, out);
  return out;
}

inline std::optional<Version> parse_version(std::string_view bytes) noexcept {
  if (bytes.size() != 8) return std::nullopt;
  return Version{read_big_endian<std::uint64_t>(bytes)};
}

}  // namespace weir::storage::internal
