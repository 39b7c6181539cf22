#include <weir/flow/data/calendar.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/data/internal/quoted.hpp>

namespace weir::flow::data {
namespace {

namespace chrono = std::chrono;

// In the order of the enumeration.
constexpr std::array<const char*, 13> field_names = {
    "year", "quarter", "month",  "week",        "day",         "weekday", "yearday",
    "hour", "minute",  "second", "millisecond", "microsecond", "epoch"};
static_assert(static_cast<std::size_t>(Field::epoch) + 1 == field_names.size());

Date monday_of(Date date) noexcept {
  return date - chrono::days(chrono::weekday(date).iso_encoding() - 1);
}

Date first_of_year(Date date) noexcept {
  return chrono::year_month_day(date).year() / chrono::January / 1;
}

unsigned month_of(Date date) noexcept {
  return static_cast<unsigned>(chrono::year_month_day(date).month());
}

// A week is of the year that has most of it, and so its Thursday.
std::int64_t week_of(Date date) noexcept {
  const Date thursday = monday_of(date) + chrono::days(3);
  return (thursday - first_of_year(thursday)).count() / 7 + 1;
}

std::int64_t extract_from_date(Field field, Date date) noexcept {
  const chrono::year_month_day parts(date);
  switch (field) {
    case Field::year: return int{parts.year()};
    case Field::quarter: return (month_of(date) + 2) / 3;
    case Field::month: return month_of(date);
    case Field::week: return week_of(date);
    case Field::day: return static_cast<unsigned>(parts.day());
    case Field::weekday: return chrono::weekday(date).iso_encoding();
    default: return (date - first_of_year(date)).count() + 1;
  }
}

Date truncate_date(Field field, Date date) noexcept {
  const chrono::year_month_day parts(date);
  switch (field) {
    case Field::year: return first_of_year(date);
    case Field::quarter: return parts.year() / chrono::month((month_of(date) - 1) / 3 * 3 + 1) / 1;
    case Field::month: return parts.year() / parts.month() / 1;
    case Field::week: return monday_of(date);
    default: return date;
  }
}

}  // namespace

const char* to_string(Field field) noexcept {
  const auto index = static_cast<std::size_t>(field);
  return index < field_names.size() ? field_names[index] : "unknown";
}

Result<Field> parse_field(std::string_view text) {
  const auto found =
      std::ranges::find(field_names, text, [](auto name) { return std::string_view(name); });
  if (found != field_names.end()) return static_cast<Field>(found - field_names.begin());
  std::string names;
  for (const char* name : field_names) names.append(names.empty() ? "" : ", ").append(name);
  return Error(Errc::invalid_argument,
               "field " + internal::quoted(text) + " of a time: expected one of " + names);
}

std::int64_t extract(Field field, Timestamp time) noexcept {
  const auto day = chrono::floor<chrono::days>(time);
  const std::int64_t of_day = (time - day).count();
  switch (field) {
    case Field::hour: return of_day / 3'600'000'000;
    case Field::minute: return of_day / 60'000'000 % 60;
    case Field::second: return of_day / 1'000'000 % 60;
    case Field::millisecond: return of_day / 1'000 % 60'000;
    case Field::microsecond: return of_day % 60'000'000;
    case Field::epoch: return chrono::floor<chrono::seconds>(time).time_since_epoch().count();
    default: return extract_from_date(field, day);
  }
}

Timestamp truncate(Field field, Timestamp time) noexcept {
  switch (field) {
    case Field::hour: return chrono::floor<chrono::hours>(time);
    case Field::minute: return chrono::floor<chrono::minutes>(time);
    case Field::second: return chrono::floor<chrono::seconds>(time);
    case Field::millisecond: return chrono::floor<chrono::milliseconds>(time);
    case Field::microsecond:
    case Field::weekday:
    case Field::yearday:
    case Field::epoch: return time;
    default: return truncate_date(field, chrono::floor<chrono::days>(time));
  }
}

bool add_months(Timestamp time, std::int64_t months, Timestamp& out) noexcept {
  constexpr std::int64_t months_max = std::int64_t{12} * 9999;
  if (months < -months_max || months > months_max) return false;
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day parts(day);
  const std::int64_t index = std::int64_t{int{parts.year()}} * 12 + month_of(day) - 1 + months;
  if (index < 12 || index >= months_max + 12) return false;
  const auto month = chrono::year(static_cast<int>(index / 12)) /
                     chrono::month(static_cast<unsigned>(index % 12 + 1));
  const chrono::day last = (month / chrono::last).day();
  out = Date(month / std::min(parts.day(), last)) + (time - day);
  return true;
}

}  // namespace weir::flow::data
