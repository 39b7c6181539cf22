#include <weir/flow/workflow/cron.hpp>

#include <array>
#include <charconv>
#include <string>
#include <vector>

#include <weir/flow/workflow/errc.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono;

using Names = std::vector<std::string_view>;

struct Field {
  std::string_view what;
  unsigned min;
  unsigned max;
  /// Of the numbers from `min` on.
  Names names = {};
};

Error wrong(const Field& field, std::string_view text) {
  return Error(Errc::invalid_argument,
               "cron: '" + std::string(text) + "' is no " + std::string(field.what) + " of " +
                   std::to_string(field.min) + " to " + std::to_string(field.max));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Result<unsigned> parse_number(const Field& field, std::string_view text) {
  for (std::size_t i = 0; i < field.names.size(); ++i) {
    if (text == field.names[i]) return field.min + static_cast<unsigned>(i);
  }
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || number < field.min || number > field.max) return wrong(field, text);
  return number;
}

/// Adds `1-5/2` and the like.
template <std::size_t Size>
Result<> add_range(const Field& field, std::string_view text, std::bitset<Size>& bits) {
  const auto parts = split(text, '/');
  unsigned step = 1;
  if (parts.size() > 2) return wrong(field, text);
  if (parts.size() == 2) {
    auto parsed = parse_number({field.what, 1, field.max}, parts[1]);
    if (!parsed) return wrong(field, text);
    step = *parsed;
  }
  unsigned first = field.min;
  unsigned last = field.max;
  if (parts[0] != "*") {
    const auto ends = split(parts[0], '-');
    auto begin = parse_number(field, ends.front());
    auto end = parse_number(field, ends.back());
    if (ends.size() > 2 || !begin || !end || *begin > *end) return wrong(field, text);
    first = *begin;
    // `5/10` means from 5 on.
    if (ends.size() == 2 || parts.size() == 1) last = *end;
  }
  for (unsigned i = first; i <= last; i += step) bits.set(i);
  return {};
}

template <std::size_t Size>
Result<> parse_field(const Field& field, std::string_view text, std::bitset<Size>& bits) {
  for (const std::string_view range : split(text, ',')) {
    if (auto added = add_range(field, range, bits); !added) return added;
  }
  return {};
}

const Names month_names = {"jan", "feb", "mar", "apr", "may", "jun",
                           "jul", "aug", "sep", "oct", "nov", "dec"};
const Names weekday_names = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

}  // namespace

Result<Cron> Cron::parse(std::string_view text) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : split(text, ' ')) {
    if (!part.empty()) parts.push_back(part);
  }
  if (parts.size() != 5) {
    return Error(Errc::invalid_argument, "cron: '" + std::string(text) +
                                             "' has not five fields: minute hour day month "
                                             "weekday");
  }
  Cron cron;
  for (const Result<>& parsed :
       {parse_field({"minute", 0, 59}, parts[0], cron.minutes_),
        parse_field({"hour", 0, 23}, parts[1], cron.hours_),
        parse_field({"day", 1, 31}, parts[2], cron.days_),
        parse_field({"month", 1, 12, month_names}, parts[3], cron.months_),
        parse_field({"weekday", 0, 7, weekday_names}, parts[4], cron.weekdays_)}) {
    if (!parsed) return parsed.error();
  }
  if (cron.weekdays_[7]) cron.weekdays_.set(0);
  cron.is_any_day_ = parts[2].starts_with('*');
  cron.is_any_weekday_ = parts[4].starts_with('*');
  return cron;
}

bool Cron::is_on(year_month_day day, weekday weekday) const {
  if (!months_[static_cast<unsigned>(day.month())]) return false;
  const bool is_day = days_[static_cast<unsigned>(day.day())];
  const bool is_weekday = weekdays_[weekday.c_encoding()];
  return is_any_day_ || is_any_weekday_ ? is_day && is_weekday : is_day || is_weekday;
}

std::optional<Time> Cron::next_after(Time time) const {
  const Time from = floor<minutes>(time) + minutes(1);
  sys_days day = floor<days>(from);
  // A 29th of February comes again within eight years.
  for (const sys_days end = day + days(8 * 366); day < end; day += days(1)) {
    if (!is_on(year_month_day(day), weekday(day))) continue;
    for (unsigned minute = 0; minute < 24 * 60; ++minute) {
      const Time at = day + minutes(minute);
      if (at >= from && hours_[minute / 60] && minutes_[minute % 60]) return at;
    }
  }
  return std::nullopt;
}

}  // namespace weir::flow::workflow
