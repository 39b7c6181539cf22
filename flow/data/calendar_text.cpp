#include <weir/flow/data/calendar.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/data/int128.hpp>
#include <weir/flow/data/internal/quoted.hpp>
#include <weir/flow/data/internal/scanner.hpp>

namespace weir::flow::data {
namespace {

namespace chrono = std::chrono;
using internal::Scanner;

constexpr std::size_t fraction_digits_max = 6;

bool take_date(Scanner& in, Date& out) noexcept {
  int year = 0;
  int month = 0;
  int day = 0;
  if (!in.take_number(4, year) || !in.take('-') || !in.take_number(2, month) || !in.take('-') ||
      !in.take_number(2, day)) {
    return false;
  }
  const chrono::year_month_day date(chrono::year(year), chrono::month(static_cast<unsigned>(month)),
                                    chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return false;
  out = date;
  return is_in_range(out);
}

// The microseconds after a point, or zero if there is none.
bool take_fraction(Scanner& in, std::int64_t& out) noexcept {
  out = 0;
  if (!in.take('.')) return true;
  const std::string_view digits = in.take_digits();
  if (digits.empty() || digits.size() > fraction_digits_max) return false;
  for (std::size_t i = 0; i < fraction_digits_max; ++i) {
    out = out * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  }
  return true;
}

bool take_hour_and_minute(Scanner& in, chrono::minutes& out) noexcept {
  int hour = 0;
  int minute = 0;
  if (!in.take_number(2, hour) || !in.take(':') || !in.take_number(2, minute)) return false;
  out = chrono::hours(hour) + chrono::minutes(minute);
  return hour < 24 && minute < 60;
}

bool take_time_of_day(Scanner& in, chrono::microseconds& out) noexcept {
  chrono::minutes minutes{};
  int second = 0;
  std::int64_t fraction = 0;
  if (!take_hour_and_minute(in, minutes) || !in.take(':') || !in.take_number(2, second)) {
    return false;
  }
  if (second > 59 || !take_fraction(in, fraction)) return false;
  out = minutes + chrono::seconds(second) + chrono::microseconds(fraction);
  return true;
}

bool take_offset(Scanner& in, chrono::minutes& out) noexcept {
  out = chrono::minutes::zero();
  if (in.is_at_end() || in.take('Z')) return true;
  const bool is_west = in.take('-');
  if (!is_west && !in.take('+')) return false;
  if (!take_hour_and_minute(in, out)) return false;
  if (is_west) out = -out;
  return true;
}

struct Unit {
  char name;
  std::int64_t microseconds;
};

constexpr Unit day_units[] = {{'W', 604'800'000'000}, {'D', 86'400'000'000}};
constexpr Unit time_units[] = {{'H', 3'600'000'000}, {'M', 60'000'000}, {'S', 1'000'000}};

// A number of any length; those that are too long for 64 bits of anything are one number.
Int128 saturated(std::string_view digits) noexcept {
  Int128 number = 0;
  for (const char digit : digits) {
    number = std::min(number * 10 + (digit - '0'), powers_of_ten[20]);
  }
  return number;
}

// Adds amounts of `units`, which must come in their order, each at most once.
bool take_amounts(Scanner& in, std::span<const Unit> units, Int128& sum) noexcept {
  std::string_view digits = in.take_digits();
  for (; !digits.empty(); digits = in.take_digits()) {
    const bool has_fraction = in.next() == '.';
    std::int64_t fraction = 0;
    if (!take_fraction(in, fraction)) return false;
    while (!units.empty() && !in.take(units.front().name)) units = units.subspan(1);
    if (units.empty() || (has_fraction && units.front().name != 'S')) return false;
    sum += saturated(digits) * units.front().microseconds + fraction;
    units = units.subspan(1);
  }
  return true;
}

bool read_duration(std::string_view text, Int128& out) noexcept {
  Scanner in(text);
  const bool is_negative = in.take('-');
  if (!is_negative) in.take('+');
  if (!in.take('P') || in.is_at_end()) return false;
  Int128 sum = 0;
  if (!take_amounts(in, day_units, sum)) return false;
  if (in.take('T') && (in.is_at_end() || !take_amounts(in, time_units, sum))) return false;
  out = is_negative ? -sum : sum;
  return in.is_at_end();
}

// Before the T, where neither letter has another meaning.
bool names_years_or_months(std::string_view text) noexcept {
  Scanner in(text);
  if (!in.take('-')) in.take('+');
  if (!in.take('P')) return false;
  return text.substr(0, text.find('T')).find_first_of("YM") != std::string_view::npos;
}

Error invalid(std::string_view what, std::string_view text, std::string_view expected) {
  std::string detail(what);
  detail.append(" ").append(internal::quoted(text)).append(": ").append(expected);
  return {Errc::invalid_value, std::move(detail)};
}

void append_padded(std::string& out, std::int64_t number, std::size_t width) {
  const std::string digits = std::to_string(number);
  if (digits.size() < width) out.append(width - digits.size(), '0');
  out.append(digits);
}

// Of less than a second: nothing, or a point and the digits up to the last that is not zero.
void append_fraction(std::string& out, std::int64_t microseconds) {
  if (microseconds == 0) return;
  out.push_back('.');
  append_padded(out, microseconds, fraction_digits_max);
  out.erase(out.find_last_not_of('0') + 1);
}

}  // namespace

Result<Date> parse_date(std::string_view text) {
  Scanner in(text);
  Date date;
  if (take_date(in, date) && in.is_at_end()) return date;
  return invalid("date", text,
                 "expected a day of the calendar, as 2024-02-29, from 0001-01-01 to 9999-12-31");
}

Result<Timestamp> parse_timestamp(std::string_view text) {
  Scanner in(text);
  Date date;
  chrono::microseconds time_of_day{};
  chrono::minutes offset{};
  if (take_date(in, date) && (in.take('T') || in.take(' ')) && take_time_of_day(in, time_of_day) &&
      take_offset(in, offset) && in.is_at_end()) {
    const Timestamp time = date + time_of_day - offset;
    if (is_in_range(time)) return time;
  }
  return invalid("timestamp", text,
                 "expected a time as 2024-02-29T12:34:56.123456Z, from year 1 to 9999 in UTC");
}

Result<chrono::microseconds> parse_duration(std::string_view text) {
  using Limits = std::numeric_limits<std::int64_t>;
  Int128 count = 0;
  if (!read_duration(text, count)) {
    if (names_years_or_months(text)) {
      return invalid("duration", text, "years and months have no fixed length; use weeks or days");
    }
    return invalid("duration", text, "expected ISO 8601, as P1DT2H3M4.5S");
  }
  if (count < Limits::min() || count > Limits::max()) {
    return Error(Errc::overflow,
                 "duration " + internal::quoted(text) + ": more than 64 bits of microseconds");
  }
  return chrono::microseconds(static_cast<std::int64_t>(count));
}

std::string to_string(Date date) {
  const chrono::year_month_day parts(date);
  std::string text;
  append_padded(text, int{parts.year()}, 4);
  text.push_back('-');
  append_padded(text, static_cast<unsigned>(parts.month()), 2);
  text.push_back('-');
  append_padded(text, static_cast<unsigned>(parts.day()), 2);
  return text;
}

std::string to_string(Timestamp time) {
  std::string text = to_string(chrono::floor<chrono::days>(time));
  text.push_back('T');
  append_padded(text, extract(CalendarField::hour, time), 2);
  text.push_back(':');
  append_padded(text, extract(CalendarField::minute, time), 2);
  text.push_back(':');
  append_padded(text, extract(CalendarField::second, time), 2);
  append_fraction(text, extract(CalendarField::microsecond, time) % 1'000'000);
  text.push_back('Z');
  return text;
}

std::string to_string(chrono::microseconds duration) {
  // As the least of them has no opposite.
  auto rest = static_cast<std::uint64_t>(magnitude(duration.count()));
  std::string text = duration.count() < 0 ? "-P" : "P";
  const auto append = [&](const Unit& unit) {
    const std::uint64_t amount = rest / unit.microseconds;
    rest %= unit.microseconds;
    if (amount != 0) text.append(std::to_string(amount)).push_back(unit.name);
  };
  append(day_units[1]);
  if (rest == 0 && duration.count() != 0) return text;
  text.push_back('T');
  append(time_units[0]);
  append(time_units[1]);
  if (rest == 0 && duration.count() != 0) return text;
  text.append(std::to_string(rest / 1'000'000));
  append_fraction(text, static_cast<std::int64_t>(rest % 1'000'000));
  text.push_back('S');
  return text;
}

}  // namespace weir::flow::data
