#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <weir/runtime/result.hpp>

// Days and times of the Gregorian calendar, extended to the days before its invention. All times
// are UTC; nothing here asks a locale or a database of time zones.
namespace weir::flow::data {

using Timestamp = std::chrono::sys_time<std::chrono::microseconds>;
using Date = std::chrono::sys_days;

/// What a column can hold: the years that have four digits.
inline constexpr Date date_min = std::chrono::year{1} / 1 / 1;
inline constexpr Date date_max = std::chrono::year{9999} / 12 / 31;
inline constexpr Timestamp timestamp_min = date_min;
inline constexpr Timestamp timestamp_max =
    Timestamp(date_max) + std::chrono::days(1) - std::chrono::microseconds(1);

constexpr bool is_in_range(Date date) noexcept { return date >= date_min && date <= date_max; }
constexpr bool is_in_range(Timestamp time) noexcept {
  return time >= timestamp_min && time <= timestamp_max;
}

// Each `parse` reads what is described, all of the text, and is `Errc::invalid_value` for anything
// else. What `to_string` writes is read as the same value.

/// `2024-02-29`.
Result<Date> parse_date(std::string_view text);

/// `2024-02-29T12:34:56.123456Z`. A space may stand for the T; the fraction has up to six digits or
/// is left out; the zone is `Z`, an offset such as `+02:00`, or left out for UTC. No leap seconds.
Result<Timestamp> parse_timestamp(std::string_view text);

/// ISO 8601, as in `P1DT2H3M4.5S`, `P2W` or `-PT0.000001S`: weeks, days, hours, minutes and seconds
/// in this order, each at most once, a fraction of up to six digits for seconds only. A day has 24
/// hours. Years and months are refused, as they have no fixed length. More microseconds than 64
/// bits hold are `Errc::overflow`.
Result<std::chrono::microseconds> parse_duration(std::string_view text);

/// The fraction of a second is written without zeros at its end. Days and times are in range.
std::string to_string(Date date);
std::string to_string(Timestamp time);
std::string to_string(std::chrono::microseconds duration);

/// What can be asked of a time.
enum class CalendarField : std::uint8_t {
  year,
  quarter,  // 1 to 4
  month,    // 1 to 12
  week,     // of ISO 8601, 1 to 53: that of January 4th is the first, also if it begins in December
  day,      // 1 to 31
  weekday,  // of ISO 8601: Monday is 1, Sunday 7
  yearday,  // 1 to 366
  hour,
  minute,
  second,
  millisecond,  // with the seconds, as in PostgreSQL: 0 to 59'999
  microsecond,  // with the seconds, as in PostgreSQL: 0 to 59'999'999
  epoch,        // seconds since 1970, rounded down
};

const char* to_string(CalendarField field) noexcept;

/// Reads what `to_string` writes; `Errc::invalid_argument` otherwise.
Result<CalendarField> parse_field(std::string_view text);

// What follows takes times in range. A `Date` is its midnight.

std::int64_t extract(CalendarField field, Timestamp time) noexcept;

/// Whether `truncate` knows where a field begins.
constexpr bool can_truncate(CalendarField field) noexcept {
  return field != CalendarField::weekday && field != CalendarField::yearday &&
         field != CalendarField::epoch;
}

/// The begin of the year, quarter, week or other field that `time` is in: never later than `time`,
/// also before 1970. A field that cannot be truncated to leaves the time as it is.
Timestamp truncate(CalendarField field, Timestamp time) noexcept;

/// The same day and time, `months` later or, if negative, earlier; the last day of a month that has
/// no such day: a month after January 31st is the end of February. False if that is out of range,
/// and `out` is left as it was.
bool add_months(Timestamp time, std::int64_t months, Timestamp& out) noexcept;

}  // namespace weir::flow::data
