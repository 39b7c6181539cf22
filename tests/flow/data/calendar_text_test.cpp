#include <cstdio>
#include <ctime>
#include <limits>
#include <regex>

#include <gtest/gtest.h>

#include <weir/flow/data/calendar.hpp>
#include <weir/flow/data/errc.hpp>
#include <weir/flow/data/int128.hpp>
#include <weir/tests/flow/data/support/arbitrary_time.hpp>

namespace weir::flow::data {
namespace {

using namespace testing;
using std::chrono::microseconds;

constexpr int texts_tried = 5'000;

// By the C library, without a fraction.
std::string printed(Timestamp time, const char* format) {
  const std::tm parts = broken_down(time);
  char text[80];
  std::snprintf(text, sizeof(text), format, parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text;
}

std::string printed_fraction(std::int64_t fraction) {
  if (fraction == 0) return "";
  std::string text = std::to_string(1'000'000 + fraction);
  while (text.back() == '0') text.pop_back();
  return "." + text.substr(1);
}

// With a byte changed, left out or put in, mostly to one that times have.
std::string damaged_text(std::string text, Random& random) {
  static constexpr std::string_view bytes = "0123456789-+:.TZPWDHMSY ";
  const std::size_t place = random.below(text.size());
  const char byte = random.one_in(8) ? static_cast<char>(random.bits()) : bytes[random.below(24)];
  switch (random.below(4)) {
    case 0: text.erase(place, 1); break;
    case 1: text.insert(place, 1, byte); break;
    default: text[place] = byte;
  }
  return text;
}

// The day that three numbers name, if the C library agrees that there is one.
bool is_date(const std::smatch& parts, std::tm& out) {
  out = {};
  out.tm_year = std::stoi(parts[1]) - 1900;
  out.tm_mon = std::stoi(parts[2]) - 1;
  out.tm_mday = std::stoi(parts[3]);
  std::tm normal = out;
  timegm(&normal);
  return normal.tm_mday == out.tm_mday && normal.tm_mon == out.tm_mon && out.tm_year > -1900;
}

std::string expected_date(const std::string& text) {
  static const std::regex shape(R"(([0-9]{4})-([0-9]{2})-([0-9]{2}))");
  std::smatch parts;
  std::tm date;
  if (!std::regex_match(text, parts, shape) || !is_date(parts, date)) return "refused";
  return text;
}

std::string expected_time(const std::string& text) {
  static const std::regex shape(
      "([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])"
      "(\\.([0-9]{1,6}))?(Z|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))?");
  std::smatch parts;
  std::tm date;
  if (!std::regex_match(text, parts, shape) || !is_date(parts, date)) return "refused";
  int offset = parts[10].matched ? std::stoi(parts[11]) * 60 + std::stoi(parts[12]) : 0;
  if (parts[10] == "-") offset = -offset;
  const std::int64_t minutes = std::stoi(parts[4]) * 60 + std::stoi(parts[5]) - offset;
  const std::int64_t seconds = timegm(&date) + minutes * 60 + std::stoi(parts[6]);
  const std::string fraction = (parts[8].str() + "000000").substr(0, 6);
  const Timestamp time{microseconds(seconds * 1'000'000 + std::stoi(fraction))};
  return is_in_range(time) ? printed(time, "%04d-%02d-%02dT%02d:%02d:%02d") +
                                 printed_fraction(std::stoi(fraction)) + "Z"
                           : "refused";
}

template <class Value>
std::string read_back(const Result<Value>& result) {
  if (!result) EXPECT_EQ(result.error(), Errc::invalid_value);
  return result ? to_string(*result) : "refused";
}

std::string arbitrary_time_text(Random& random) {
  const Timestamp time = arbitrary_time(random);
  std::string text = printed(
      time, random.one_in(2) ? "%04d-%02d-%02dT%02d:%02d:%02d" : "%04d-%02d-%02d %02d:%02d:%02d");
  if (random.one_in(2)) {
    text +=
        "." + std::to_string(1'000'000 + random.below(1'000'000)).substr(1, 1 + random.below(6));
  }
  if (random.one_in(2)) text += "Z";
  if (text.back() != 'Z' && random.one_in(2)) {
    text += random.one_in(2) ? "+" : "-";
    text += std::to_string(100 + random.below(25)).substr(1) + ":";
    text += std::to_string(100 + random.below(61)).substr(1);
  }
  return text;
}

TEST(CalendarText, DatesAreWrittenAndReadAsTheCLibraryWritesThem) {
  Random random;
  for (int i = 0; i < texts_tried; ++i) {
    const Timestamp time = arbitrary_time(random);
    const auto date = std::chrono::floor<std::chrono::days>(time);
    const std::string text = printed(time, "%04d-%02d-%02d");
    ASSERT_EQ(to_string(date), text);
    ASSERT_EQ(parse_date(text), date) << text;
    const std::string damaged = damaged_text(text, random);
    ASSERT_EQ(read_back(parse_date(damaged)), expected_date(damaged))
        << ::testing::PrintToString(damaged);
  }
}

TEST(CalendarText, TimesAreWrittenAndReadAsTheCLibraryWritesThem) {
  Random random;
  for (int i = 0; i < texts_tried; ++i) {
    const Timestamp time = arbitrary_time(random);
    const std::string text = printed(time, "%04d-%02d-%02dT%02d:%02d:%02d") +
                             printed_fraction(microseconds_of(time)) + "Z";
    ASSERT_EQ(to_string(time), text);
    ASSERT_EQ(parse_timestamp(text), time) << text;
  }
}

TEST(CalendarText, TimesOfEveryShapeAreReadAndNoOther) {
  Random random;
  int read = 0;
  for (int i = 0; i < 2 * texts_tried; ++i) {
    std::string text = arbitrary_time_text(random);
    if (random.one_in(2)) text = damaged_text(text, random);
    const std::string result = read_back(parse_timestamp(text));
    ASSERT_EQ(result, expected_time(text)) << ::testing::PrintToString(text);
    read += result != "refused";
  }
  EXPECT_GT(read, texts_tried / 2);
}

TEST(CalendarText, RefusesDaysAndTimesThatDoNotExist) {
  for (const std::string_view text : {"2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01",
                                      "2024-00-01", "2024-01-00", "0000-12-31", "10000-01-01"}) {
    EXPECT_EQ(read_back(parse_date(text)), "refused") << text;
  }
  EXPECT_EQ(read_back(parse_date("2000-02-29")), "2000-02-29");
  for (const std::string_view text :
       {"2024-02-29", "2024-02-29T12:34", "2024-02-29T24:00:00", "2024-02-29T12:60:00",
        "2016-12-31T23:59:60", "2024-02-29T12:34:56.", "2024-02-29T12:34:56.1234567",
        "2024-02-29t12:34:56", "2024-02-29T12:34:56z", "2024-02-29T12:34:56+02",
        "2024-02-29T12:34:56+0200", "2024-02-29T12:34:56+24:00", "2024-02-29T12:34:56Z ",
        "2024-02-29T12:34:56 Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"}) {
    EXPECT_EQ(read_back(parse_timestamp(text)), "refused") << text;
  }
  EXPECT_EQ(parse_date("yesterday").error().detail(),
            "date 'yesterday': expected a day of the calendar, as 2024-02-29, from 0001-01-01 to "
            "9999-12-31");
}

TEST(CalendarText, OffsetsAreTakenOff) {
  EXPECT_EQ(read_back(parse_timestamp("2024-03-01T01:00:00.25+02:30")), "2024-02-29T22:30:00.25Z");
  EXPECT_EQ(read_back(parse_timestamp("1969-12-31 20:00:00-04:00")), "1970-01-01T00:00:00Z");
  EXPECT_EQ(read_back(parse_timestamp("1969-12-31 23:59:59.999999")),
            "1969-12-31T23:59:59.999999Z");
}

// A sum of the parts in 128 bits.
std::string expected_duration(const std::string& text) {
  static const std::regex shape(
      "([+-]?)P(?=.)(([0-9]+)W)?(([0-9]+)D)?"
      "(T(?=.)(([0-9]+)H)?(([0-9]+)M)?(([0-9]+)(\\.([0-9]{1,6}))?S)?)?");
  std::smatch parts;
  if (!std::regex_match(text, parts, shape)) return "refused";
  const auto part = [&](std::size_t index) {
    if (parts[index].length() > 18) return powers_of_ten[18];  // too many, of any unit
    return Int128{parts[index].matched ? std::stoll(parts[index]) : 0};
  };
  Int128 seconds = (part(3) * 7 + part(5)) * 86'400 + part(8) * 3'600 + part(10) * 60 + part(12);
  Int128 count = seconds * 1'000'000 + std::stoi((parts[14].str() + "000000").substr(0, 6));
  if (parts[1] == "-") count = -count;
  const Int128 limit = std::numeric_limits<std::int64_t>::max();
  return count > limit || count < -limit - 1 ? "overflow" : to_string(count);
}

std::string counted(const Result<microseconds>& result) {
  if (result) return std::to_string(result->count());
  if (result.error() == Errc::overflow) return "overflow";
  EXPECT_EQ(result.error(), Errc::invalid_value);
  return "refused";
}

TEST(CalendarText, DurationsAreReadAsTheyWereWritten) {
  Random random;
  for (int i = 0; i < texts_tried; ++i) {
    const microseconds duration{arbitrary<std::int64_t>(random)};
    const std::string text = to_string(duration);
    ASSERT_EQ(parse_duration(text), duration) << text;
    ASSERT_EQ(expected_duration(text), std::to_string(duration.count())) << text;
  }
}

std::string arbitrary_duration_text(Random& random) {
  const auto amount = [&](const char* unit) {
    if (random.one_in(3)) return std::string();
    return std::to_string(random.bits() >> (20 + random.below(44))) + unit;
  };
  static constexpr const char* signs[] = {"", "-", "+"};
  std::string text = signs[random.below(3)] + std::string("P") + amount("W") + amount("D");
  if (random.one_in(3)) return text;
  text += "T" + amount("H") + amount("M");
  const std::string fraction = std::to_string(random.below(10'000'000));
  return text + amount(random.one_in(2) ? "S" : ("." + fraction + "S").c_str());
}

TEST(CalendarText, DurationsOfEveryShapeAreReadAndNoOther) {
  Random random;
  int read = 0;
  for (int i = 0; i < 2 * texts_tried; ++i) {
    std::string text = arbitrary_duration_text(random);
    if (random.one_in(3)) text = damaged_text(text, random);
    const std::string result = counted(parse_duration(text));
    ASSERT_EQ(result, expected_duration(text)) << ::testing::PrintToString(text);
    read += result != "refused";
  }
  EXPECT_GT(read, texts_tried / 2);
}

TEST(CalendarText, DurationsAreWrittenShortly) {
  EXPECT_EQ(to_string(microseconds(0)), "PT0S");
  EXPECT_EQ(to_string(microseconds(-1)), "-PT0.000001S");
  EXPECT_EQ(to_string(microseconds(93'784'500'000)), "P1DT2H3M4.5S");
  EXPECT_EQ(to_string(std::chrono::days(14)), "P14D");
  EXPECT_EQ(to_string(std::chrono::hours(-25)), "-P1DT1H");
  EXPECT_EQ(to_string(microseconds::min()), "-P106751991DT4H54.775808S");
  EXPECT_EQ(to_string(microseconds::max()), "P106751991DT4H54.775807S");
}

TEST(CalendarText, YearsAndMonthsHaveNoFixedLength) {
  for (const std::string text : {"P1Y", "P1M", "-P1Y2M3DT4H", "+P2M1D", "P0Y"}) {
    EXPECT_EQ(counted(parse_duration(text)), "refused");
    EXPECT_EQ(parse_duration(text).error().detail(),
              "duration '" + text + "': years and months have no fixed length; use weeks or days");
  }
  EXPECT_EQ(parse_duration("PT1Y").error().detail(),
            "duration 'PT1Y': expected ISO 8601, as P1DT2H3M4.5S");
  EXPECT_EQ(counted(parse_duration("PT1M")), "60000000");
}

TEST(CalendarText, DurationsBeyond64BitsOverflow) {
  EXPECT_EQ(counted(parse_duration("PT9223372036854.775807S")), "9223372036854775807");
  EXPECT_EQ(counted(parse_duration("PT9223372036854.775808S")), "overflow");
  EXPECT_EQ(counted(parse_duration("-PT9223372036854.775808S")), "-9223372036854775808");
  EXPECT_EQ(counted(parse_duration("-PT9223372036854.775809S")), "overflow");
  EXPECT_EQ(counted(parse_duration("P" + std::string(1'000, '9') + "W")), "overflow");
  EXPECT_EQ(counted(parse_duration("P" + std::string(1'000, '0') + "1D")), "86400000000");
}

}  // namespace
}  // namespace weir::flow::data
