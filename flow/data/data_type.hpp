#pragma once

#include <cstdint>
#include <string>

namespace weir::flow::data {

// Persisted: never renumber.
enum class Kind : std::uint8_t {
  boolean = 1,
  int64 = 2,
  uint64 = 3,
  float64 = 4,
  decimal = 5,  // up to 38 digits, a fixed number of them behind the point
  text = 6,     // utf-8
  bytes = 7,
  timestamp = 8,  // microseconds since 1970, UTC
  date = 9,       // days since 1970
  duration = 10,  // microseconds
  uuid = 11,
};

inline constexpr std::uint8_t decimal_digits_max = 38;

/// The type of a column or an expression. Every type has nulls.
struct DataType {
  Kind kind;
  std::uint8_t scale = 0;  // of decimals: digits behind the point

  constexpr DataType(Kind of_kind) noexcept : kind(of_kind) {}
  static constexpr DataType decimal(std::uint8_t scale) noexcept {
    DataType type(Kind::decimal);
    type.scale = scale;
    return type;
  }
  friend constexpr bool operator==(const DataType&, const DataType&) noexcept = default;
};

/// Whether a column may have it: only decimals have a scale, of 38 at most.
constexpr bool is_valid(DataType type) noexcept {
  return type.scale == 0 || (type.kind == Kind::decimal && type.scale <= decimal_digits_max);
}

/// As in an error message: `int64`, `decimal(2)`.
std::string to_string(DataType type);
const char* to_string(Kind kind) noexcept;

constexpr bool is_numeric(Kind kind) noexcept {
  return kind == Kind::int64 || kind == Kind::uint64 || kind == Kind::float64 ||
         kind == Kind::decimal;
}

}  // namespace weir::flow::data
