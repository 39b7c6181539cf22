#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <weir/flow/data/calendar.hpp>
#include <weir/flow/data/data_type.hpp>
#include <weir/flow/data/decimal.hpp>
#include <weir/flow/data/uuid.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::data {

/// Bytes without a meaning, as distinct from text.
struct Bytes {
  std::string content;
  friend auto operator<=>(const Bytes&, const Bytes&) = default;
};

/// One value of any type, or null: how rows come in and go out. Inside, values are in columns.
///
///     Value(5), Value("text"), Value(2.5), Value(), Value(Decimal{1999, 2})
///
/// Signed integers are `int64`, unsigned ones `uint64`. Compares as the database does: null equals
/// null and comes first, NaN equals NaN and comes last among numbers. Values of different kinds are
/// different, and ordered by their kind.
class Value {
 public:
  using Content =
      std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, Decimal, std::string,
                   Bytes, Timestamp, Date, std::chrono::microseconds, Uuid>;

  Value() noexcept = default;
  Value(bool value) noexcept : content_(value) {}
  template <std::signed_integral T>
  Value(T value) noexcept : content_(std::int64_t{value}) {}
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  Value(T value) noexcept : content_(std::uint64_t{value}) {}
  Value(double value) noexcept : content_(value) {}
  Value(Decimal value) noexcept : content_(value) {}
  Value(std::string value) noexcept : content_(std::move(value)) {}
  Value(std::string_view value) : content_(std::string(value)) {}
  Value(const char* value) : content_(std::string(value)) {}
  Value(Bytes value) noexcept : content_(std::move(value)) {}
  Value(Timestamp value) noexcept : content_(value) {}
  Value(Date value) noexcept : content_(value) {}
  Value(std::chrono::microseconds value) noexcept : content_(value) {}
  Value(Uuid value) noexcept : content_(value) {}

  bool is_null() const noexcept { return content_.index() == 0; }
  /// None of null.
  std::optional<DataType> type() const noexcept;
  const Content& content() const noexcept { return content_; }
  /// Of a value that is known to have this type.
  template <class T>
  const T& as() const {
    return std::get<T>(content_);
  }

  friend bool operator==(const Value& a, const Value& b) noexcept {
    return std::is_eq(compare(a, b));
  }
  friend std::weak_ordering operator<=>(const Value& a, const Value& b) noexcept {
    return compare(a, b);
  }

 private:
  static std::weak_ordering compare(const Value& a, const Value& b) noexcept;

  Content content_;
};

/// Whether a column can hold it: text is UTF-8, a decimal has 38 digits at most, a date or time is
/// in range. `invalid_value` or `overflow` otherwise.
Result<> check_value(const Value& value);

/// As in an error message: text in quotes, `null`.
std::string to_string(const Value& value);

/// NaN equals itself and comes last; zero has no sign.
std::weak_ordering compare_floats(double a, double b) noexcept;
inline bool equal_floats(double a, double b) noexcept {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace weir::flow::data
