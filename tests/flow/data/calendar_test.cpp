#include <weir/flow/data/calendar.hpp>

#include <algorithm>
#include <ctime>
#include <limits>

#include <gtest/gtest.h>

#include <weir/flow/data/errc.hpp>
#include <weir/tests/flow/data/support/arbitrary_time.hpp>

namespace weir::flow::data {
namespace {

using namespace testing;
using std::chrono::days;
using std::chrono::microseconds;

constexpr int times_tried = 20'000;

std::int64_t get(CalendarField field, Timestamp time) { return extract(field, time); }

bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_in(int year, int month) {
  static constexpr int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return lengths[month - 1] + (month == 2 && is_leap(year) ? 1 : 0);
}

// Counts one day after the other from 0001-01-01, a Monday, as a calendar on a wall does.
struct WallCalendar {
  Date date = date_min;
  int year = 1;
  int month = 1;
  int day = 1;
  int weekday = 1;
  int yearday = 1;
  int week = 1;
  Date year_begin = date_min;
  Date quarter_begin = date_min;
  Date month_begin = date_min;
  Date week_begin = date_min;

  void turn() {
    date += days(1);
    ++yearday;
    if (++day > days_in(year, month)) turn_month();
    weekday = weekday % 7 + 1;
    if (weekday != 1) return;
    week_begin = date;
    // The first week has its Monday between December 29th and January 4th.
    const bool is_first = (month == 12 && day >= 29) || (month == 1 && day <= 4);
    week = is_first ? 1 : week + 1;
  }

 private:
  void turn_month() {
    day = 1;
    month_begin = date;
    if (++month > 12) {
      month = 1;
      ++year;
      yearday = 1;
      year_begin = date;
    }
    if (month % 3 == 1) quarter_begin = date;
  }
};

TEST(Calendar, FieldsAreThoseOfACalendarOnTheWall) {
  WallCalendar wall;
  for (; wall.date <= date_max; wall.turn()) {
    const Timestamp late = Timestamp(wall.date) + days(1) - microseconds(1);
    ASSERT_EQ(get(CalendarField::year, late), wall.year);
    ASSERT_EQ(get(CalendarField::quarter, wall.date), (wall.month - 1) / 3 + 1);
    ASSERT_EQ(get(CalendarField::month, late), wall.month);
    ASSERT_EQ(get(CalendarField::week, wall.date), wall.week) << to_string(wall.date);
    ASSERT_EQ(get(CalendarField::day, late), wall.day);
    ASSERT_EQ(get(CalendarField::weekday, late), wall.weekday);
    ASSERT_EQ(get(CalendarField::yearday, wall.date), wall.yearday);
  }
  EXPECT_EQ(wall.year, 10'000);
  EXPECT_EQ(wall.yearday, 1);
}

TEST(Calendar, TruncatesToTheBeginOfAFieldOnTheWall) {
  for (WallCalendar wall; wall.date <= date_max; wall.turn()) {
    const Timestamp late = Timestamp(wall.date) + days(1) - microseconds(1);
    ASSERT_EQ(truncate(CalendarField::year, late), wall.year_begin);
    ASSERT_EQ(truncate(CalendarField::quarter, late), wall.quarter_begin) << to_string(wall.date);
    ASSERT_EQ(truncate(CalendarField::month, wall.date), wall.month_begin);
    ASSERT_EQ(truncate(CalendarField::week, late), wall.week_begin);
    ASSERT_EQ(truncate(CalendarField::day, late), wall.date);
    ASSERT_EQ(truncate(CalendarField::day, wall.date), wall.date);
  }
}

TEST(Calendar, FieldsAreThoseOfTheCLibrary) {
  Random random;
  for (int i = 0; i < times_tried; ++i) {
    const Timestamp time = arbitrary_time(random);
    const std::tm parts = broken_down(time);
    char week[3];
    std::strftime(week, sizeof(week), "%V", &parts);
    const std::int64_t fraction = microseconds_of(time);
    const std::int64_t second = parts.tm_sec;
    ASSERT_EQ(get(CalendarField::year, time), parts.tm_year + 1900) << to_string(time);
    ASSERT_EQ(get(CalendarField::month, time), parts.tm_mon + 1);
    ASSERT_EQ(std::to_string(get(CalendarField::week, time) + 100), "1" + std::string(week));
    ASSERT_EQ(get(CalendarField::day, time), parts.tm_mday);
    ASSERT_EQ(get(CalendarField::weekday, time) % 7, parts.tm_wday);
    ASSERT_EQ(get(CalendarField::yearday, time), parts.tm_yday + 1);
    ASSERT_EQ(get(CalendarField::hour, time), parts.tm_hour);
    ASSERT_EQ(get(CalendarField::minute, time), parts.tm_min);
    ASSERT_EQ(get(CalendarField::second, time), parts.tm_sec);
    ASSERT_EQ(get(CalendarField::millisecond, time), second * 1'000 + fraction / 1'000);
    ASSERT_EQ(get(CalendarField::microsecond, time), second * 1'000'000 + fraction);
    ASSERT_EQ(get(CalendarField::epoch, time), seconds_of(time));
  }
}

TEST(Calendar, TruncatesTheTimeOfDayAlsoBefore1970) {
  Random random;
  for (int i = 0; i < times_tried; ++i) {
    const Timestamp time = arbitrary_time(random);
    std::tm parts = broken_down(time);
    const auto begin = [&] {
      return std::chrono::sys_seconds(std::chrono::seconds(timegm(&parts)));
    };
    ASSERT_EQ(truncate(CalendarField::microsecond, time), time);
    ASSERT_EQ(truncate(CalendarField::millisecond, time),
              begin() + microseconds(microseconds_of(time) / 1'000 * 1'000));
    ASSERT_EQ(truncate(CalendarField::second, time), begin()) << to_string(time);
    parts.tm_sec = 0;
    ASSERT_EQ(truncate(CalendarField::minute, time), begin());
    parts.tm_min = 0;
    ASSERT_EQ(truncate(CalendarField::hour, time), begin());
  }
}

TEST(Calendar, LeavesTheTimeWhereAFieldHasNoBegin) {
  const Timestamp time = Timestamp(date_min) + microseconds(1'234'567'890'123);
  for (const CalendarField field :
       {CalendarField::weekday, CalendarField::yearday, CalendarField::epoch}) {
    EXPECT_FALSE(can_truncate(field));
    EXPECT_EQ(truncate(field, time), time);
  }
  EXPECT_TRUE(can_truncate(CalendarField::week));
}

// One month after the other, then the day that the month has.
bool step_months(std::tm& parts, int months) {
  for (; months != 0; months -= months > 0 ? 1 : -1) {
    parts.tm_mon += months > 0 ? 1 : -1;
    if (parts.tm_mon == 12) ++parts.tm_year, parts.tm_mon = 0;
    if (parts.tm_mon == -1) --parts.tm_year, parts.tm_mon = 11;
  }
  const int year = parts.tm_year + 1900;
  parts.tm_mday = std::min(parts.tm_mday, days_in(year, parts.tm_mon + 1));
  return year >= 1 && year <= 9999;
}

TEST(Calendar, MonthsAreAddedOneByOne) {
  Random random;
  int refused = 0;
  for (int i = 0; i < times_tried; ++i) {
    const Timestamp time = arbitrary_time(random);
    const int range = random.one_in(8) ? 240'000 : 100;
    const int months = static_cast<int>(random.below(range)) - range / 2;
    std::tm parts = broken_down(time);
    const bool is_valid = step_months(parts, months);
    Timestamp out = time;
    ASSERT_EQ(add_months(time, months, out), is_valid) << to_string(time) << ' ' << months;
    const auto stepped = std::chrono::sys_seconds(std::chrono::seconds(timegm(&parts))) +
                         microseconds(microseconds_of(time));
    ASSERT_EQ(out, is_valid ? stepped : time) << to_string(time) << ' ' << months;
    refused += !is_valid;
  }
  EXPECT_GT(refused, times_tried / 100);
}

TEST(Calendar, AMonthWithoutTheDayEndsEarlier) {
  const auto later = [](std::string_view text, std::int64_t months) {
    Timestamp out{};
    return add_months(parse_timestamp(text).value(), months, out) ? to_string(out) : "refused";
  };
  EXPECT_EQ(later("2023-01-31T01:02:03", 1), "2023-02-28T01:02:03Z");
  EXPECT_EQ(later("2024-01-31T01:02:03.5", 1), "2024-02-29T01:02:03.5Z");
  EXPECT_EQ(later("2024-02-29T00:00:00", -12), "2023-02-28T00:00:00Z");
  EXPECT_EQ(later("2024-03-31T00:00:00", -1), "2024-02-29T00:00:00Z");
  EXPECT_EQ(later("9999-12-31T23:59:59.999999", 0), "9999-12-31T23:59:59.999999Z");
  EXPECT_EQ(later("9999-12-31T23:59:59.999999", 1), "refused");
  EXPECT_EQ(later("0001-01-01T00:00:00", -1), "refused");
  EXPECT_EQ(later("0001-01-01T00:00:00", 12 * 9999 - 1), "9999-12-01T00:00:00Z");
  EXPECT_EQ(later("2024-01-01T00:00:00", std::numeric_limits<std::int64_t>::min()), "refused");
  EXPECT_EQ(later("2024-01-01T00:00:00", std::numeric_limits<std::int64_t>::max()), "refused");
}

TEST(Calendar, TheRangeIsTheYearsOfFourDigits) {
  EXPECT_EQ(to_string(timestamp_min), "0001-01-01T00:00:00Z");
  EXPECT_EQ(to_string(timestamp_max), "9999-12-31T23:59:59.999999Z");
  EXPECT_TRUE(is_in_range(timestamp_min) && is_in_range(timestamp_max));
  EXPECT_FALSE(is_in_range(timestamp_min - microseconds(1)));
  EXPECT_FALSE(is_in_range(timestamp_max + microseconds(1)));
  EXPECT_TRUE(is_in_range(date_min) && is_in_range(date_max));
  EXPECT_FALSE(is_in_range(date_min - days(1)) || is_in_range(date_max + days(1)));
}

TEST(Calendar, FieldsAreReadByTheirNames) {
  std::string names;
  for (int i = 0; i <= static_cast<int>(CalendarField::epoch); ++i) {
    const auto field = static_cast<CalendarField>(i);
    EXPECT_EQ(parse_field(to_string(field)), field) << to_string(field);
    names.append(to_string(field)).append(" ");
  }
  EXPECT_EQ(names,
            "year quarter month week day weekday yearday hour minute second millisecond "
            "microsecond epoch ");
  for (const std::string_view text : {"", "Year", "years", "yea", "century"}) {
    EXPECT_EQ(parse_field(text).error(), Errc::invalid_argument) << text;
  }
  EXPECT_TRUE(parse_field("eon").error().detail().starts_with(
      "field 'eon' of a time: expected one of year, quarter, "));
}

}  // namespace
}  // namespace weir::flow::data
