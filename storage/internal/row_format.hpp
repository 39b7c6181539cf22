#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weir/storage/internal/bytes.hpp>
#include <weir/storage/version.hpp>

// How rows and state are stored. Persisted: docs/storage_format.md.
//
//     rows      space:4 key          -> version:varint value     the newest version
//     history   space:4 key until:8  -> version:varint value     lived from `version` to before
//     `until` state     space:4 key          -> version:varint value
//
// Numbers in keys are big endian, so that they sort. No encoded key is the beginning of another one
// of its space, so that what belongs to one key is together.
namespace weir::storage::internal {

inline std::string row_key(std::uint32_t space, std::string_view key) {
  std::string out;
  out.reserve(4 + key.size());
  append_big_endian(space, out);
  out.append(key);
  return out;
}

inline std::uint32_t space_of(std::string_view row_key) noexcept {
  return read_big_endian<std::uint32_t>(row_key);
}

inline std::string_view key_of(std::string_view row_key) noexcept { return row_key.substr(4); }

/// The smallest key after all of the space.
inline std::string space_end(std::uint32_t space) { return row_key(space + 1, {}); }

/// After this row and its history, before the next row.
inline std::string after_row(std::string_view row_key) {
  std::string out;
  out.reserve(row_key.size() + 8);
  out.append(row_key);
  out.append(8, '\xFF');
  return out;
}

inline void append_history_key(std::string& out, std::string_view row_key, Version until) {
  out.append(row_key);
  append_big_endian(until.number, out);
}

inline Version until_of(std::string_view history_key) noexcept {
  return {read_big_endian<std::uint64_t>(history_key.substr(history_key.size() - 8))};
}

inline std::string_view row_key_of(std::string_view history_key) noexcept {
  return history_key.substr(0, history_key.size() - 8);
}

inline void append_stored(std::string& out, Version version, std::string_view value) {
  append_varint(version.number, out);
  out.append(value);
}

struct Stored {
  Version version;
  std::string_view value;
};

/// Nothing if the bytes are not a stored value.
inline std::optional<Stored> parse_stored(std::string_view bytes) noexcept {
  ByteReader reader(bytes);
  const Version version{reader.varint()};
  if (!reader.is_ok() || version == Version{}) return std::nullopt;
  return Stored{version, reader.rest()};
}

}  // namespace weir::storage::internal
