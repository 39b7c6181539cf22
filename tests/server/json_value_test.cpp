#include <weir/server/internal/json_value.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <weir/flow/data/errc.hpp>
#include <weir/server/internal/base64.hpp>
#include <weir/server/internal/target.hpp>

namespace weir::server::internal {
namespace {

namespace data = flow::data;
using data::DataType;
using data::Kind;
using data::Value;

std::string written(const Value& value) {
  std::string text;
  JsonWriter json(&text);
  write_value(json, value);
  return text;
}

Outcome<Value> read(std::string_view text, DataType type) {
  auto document = JsonDocument::parse(text, 32);
  if (!document) return std::move(document).error();
  return read_value(document->root(), type);
}

/// The code of the problem, or what was read.
std::string refusal(std::string_view text, DataType type) {
  auto value = read(text, type);
  return value ? to_string(*value) : value.error().code;
}

struct Form {
  DataType type;
  Value value;
  std::string json;
};

std::vector<Form> forms() {
  using namespace std::chrono_literals;
  using Limit = std::numeric_limits<double>;
  const data::Timestamp time(1709210096123456us);
  return {
      {Kind::boolean, true, "true"},
      {Kind::boolean, false, "false"},
      {Kind::int64, 0, "0"},
      {Kind::int64, -7, "-7"},
      {Kind::int64, std::int64_t{9007199254740991}, "9007199254740991"},
      {Kind::int64, std::int64_t{9007199254740992}, "\"9007199254740992\""},
      {Kind::int64, std::int64_t{-9007199254740991}, "-9007199254740991"},
      {Kind::int64, std::numeric_limits<std::int64_t>::min(), "\"-9223372036854775808\""},
      {Kind::int64, std::numeric_limits<std::int64_t>::max(), "\"9223372036854775807\""},
      {Kind::uint64, std::uint64_t{7}, "7"},
      {Kind::uint64, std::numeric_limits<std::uint64_t>::max(), "\"18446744073709551615\""},
      {Kind::float64, 0.1, "0.1"},
      {Kind::float64, -2.0, "-2"},
      {Kind::float64, Limit::max(), "1.7976931348623157e+308"},
      {Kind::float64, Limit::denorm_min(), "5e-324"},
      {Kind::float64, Limit::quiet_NaN(), "\"NaN\""},
      {Kind::float64, Limit::infinity(), "\"Infinity\""},
      {Kind::float64, -Limit::infinity(), "\"-Infinity\""},
      {DataType::decimal(2), data::Decimal{1999, 2}, "\"19.99\""},
      {DataType::decimal(2), data::Decimal{-50, 2}, "\"-0.50\""},
      {Kind::text, "", "\"\""},
      {Kind::text, "a \"quote\", a \\ and\na line", R"("a \"quote\", a \\ and\na line")"},
      {Kind::text, std::string("nul\0byte", 8), R"("nul\u0000byte")"},
      {Kind::text, "größe 🦉", "\"größe 🦉\""},
      {Kind::bytes, data::Bytes{std::string("\0\1\2", 3)}, "\"AAEC\""},
      {Kind::bytes, data::Bytes{"\xff\xfe"}, "\"//4=\""},
      {Kind::bytes, data::Bytes{""}, "\"\""},
      {Kind::timestamp, time, "\"2024-02-29T12:34:56.123456Z\""},
      {Kind::date, data::Date(std::chrono::days(19782)), "\"2024-02-29\""},
      {Kind::duration, std::chrono::microseconds(90s), "\"PT1M30S\""},
      {Kind::uuid, data::parse_uuid("123e4567-e89b-12d3-a456-426614174000").value(),
       "\"123e4567-e89b-12d3-a456-426614174000\""},
      {Kind::timestamp, Value(), "null"},
  };
}

TEST(JsonValue, EveryTypeHasOneFormAndIsReadAsTheSameValue) {
  for (const Form& form : forms()) {
    EXPECT_EQ(written(form.value), form.json);
    auto back = read(form.json, form.type);
    ASSERT_TRUE(back) << form.json << ": " << back.error().detail;
    EXPECT_EQ(*back, form.value) << form.json;
  }
}

TEST(JsonValue, RandomNumbersComeBackAsTheyWere) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int index = 0; index < 20'000; ++index) {
    const std::uint64_t bits = random() >> (random() % 64);
    const double number = std::bit_cast<double>(bits);
    for (const auto& [type, value] : std::vector<std::pair<DataType, Value>>{
             {Kind::uint64, bits},
             {Kind::int64, static_cast<std::int64_t>(bits)},
             {Kind::float64, number},
             {Kind::bytes,
              data::Bytes{std::string(reinterpret_cast<const char*>(&bits), index % 9)}}}) {
      auto back = read(written(value), type);
      ASSERT_TRUE(back) << written(value) << ": " << back.error().detail;
      ASSERT_EQ(*back, value) << written(value);
    }
  }
}

TEST(JsonValue, ReadsIntegersAsStringsAndAsDecimalsToo) {
  EXPECT_EQ(refusal("\"7\"", Kind::int64), "7");
  EXPECT_EQ(refusal("\"18446744073709551615\"", Kind::uint64), "18446744073709551615");
  EXPECT_EQ(refusal("18446744073709551615", Kind::uint64), "18446744073709551615");
  EXPECT_EQ(refusal("19", DataType::decimal(2)), "19.00");
  EXPECT_EQ(refusal("\"1.5\"", DataType::decimal(2)), "1.50");
  EXPECT_EQ(refusal("3", Kind::float64), "3");
}

TEST(JsonValue, WhatDoesNotFitIsRefusedAndNeverRounded) {
  EXPECT_EQ(refusal("\"a\"", Kind::int64), "invalid_value");
  EXPECT_EQ(refusal("true", Kind::int64), "wrong_type");
  EXPECT_EQ(refusal("[]", Kind::int64), "wrong_type");
  EXPECT_EQ(refusal("{}", Kind::text), "wrong_type");
  EXPECT_EQ(refusal("1", Kind::text), "wrong_type");
  EXPECT_EQ(refusal("1.5", Kind::int64), "wrong_type");
  EXPECT_EQ(refusal("1e3", Kind::int64), "out_of_range");
  EXPECT_EQ(refusal("9223372036854775808", Kind::int64), "out_of_range");
  EXPECT_EQ(refusal("99999999999999999999999", Kind::int64), "out_of_range");
  EXPECT_EQ(refusal("1e999", Kind::int64), "out_of_range");
  EXPECT_EQ(refusal("-1", Kind::uint64), "out_of_range");
  EXPECT_EQ(refusal("18446744073709551616", Kind::uint64), "out_of_range");
  EXPECT_EQ(refusal("1e999", Kind::float64), "out_of_range");
  EXPECT_EQ(refusal("\"0.1\"", Kind::float64), "invalid_value");
  EXPECT_EQ(refusal("0.1", DataType::decimal(2)), "wrong_type");
  EXPECT_EQ(refusal("\"0.001\"", DataType::decimal(2)), "out_of_range");
  EXPECT_EQ(refusal("\"" + std::string(40, '9') + "\"", DataType::decimal(2)), "out_of_range");
  EXPECT_EQ(refusal("\"AAE\"", Kind::bytes), "invalid_value");
  EXPECT_EQ(refusal("\"AA=E\"", Kind::bytes), "invalid_value");
  EXPECT_EQ(refusal("\"AAF=\"", Kind::bytes), "invalid_value");  // lost bits
  EXPECT_EQ(refusal("\"2024-02-30\"", Kind::date), "invalid_value");
  EXPECT_EQ(refusal("\"yesterday\"", Kind::timestamp), "invalid_value");
  EXPECT_EQ(refusal("\"P1Y\"", Kind::duration), "invalid_value");
  EXPECT_EQ(refusal("\"123\"", Kind::uuid), "invalid_value");
  EXPECT_EQ(refusal("0", Kind::boolean), "wrong_type");
}

data::Schema every_kind() {
  return data::Schema::make({{"name", Kind::text, false},
                             {"at", Kind::timestamp, false},
                             {"raw", Kind::bytes, false},
                             {"note", Kind::text}},
                            {"name", "at", "raw"})
      .value();
}

TEST(JsonValue, AKeyInAPathComesBackWhateverIsInIt) {
  const data::Schema schema = every_kind();
  const data::Timestamp time(std::chrono::microseconds(1));
  for (const std::string& name : {"plain", "a,b", "a/b", "../..", "%2F", "ü b", "+", ""}) {
    const Row row = {name, time, data::Bytes{std::string("\xff,/\0", 4)}, Value()};
    const std::string text = print_key(schema, row);
    EXPECT_EQ(text.find('/'), std::string::npos) << text;
    auto key = parse_key(text, schema);
    ASSERT_TRUE(key) << text << ": " << key.error().detail;
    EXPECT_EQ(*key, Row(row.begin(), row.begin() + 3)) << text;
  }
}

TEST(JsonValue, AKeyWithTheWrongValuesIsRefused) {
  const data::Schema schema = every_kind();
  for (const std::string& text :
       {"", "a", "a,2024-02-29T12:00:00Z", "a,b,AA", "a,2024-02-29T12:00:00Z,AA,more",
        "%zz,2024-02-29T12:00:00Z,AA", "%ff,2024-02-29T12:00:00Z,AA", "a,2024-02-29T12:00:00Z,A"}) {
    auto key = parse_key(text, schema);
    EXPECT_FALSE(key) << text;
    if (!key) EXPECT_EQ(key.error().code, "malformed_key") << text;
  }
}

std::string row_refusal(std::string_view text) {
  auto document = JsonDocument::parse(text, 32);
  auto row = read_row(document->root(), every_kind());
  return row ? "taken" : row.error().code + " " + row.error().pointer.value_or("-");
}

TEST(JsonValue, ARowSaysWhereItIsWrong) {
  EXPECT_EQ(row_refusal(R"({"name":"a","at":"2024-01-01T00:00:00Z","raw":""})"), "taken");
  EXPECT_EQ(row_refusal(R"({"name":"a","raw":""})"), "missing_field /at");
  EXPECT_EQ(row_refusal(R"({"name":null,"at":"2024-01-01T00:00:00Z","raw":""})"),
            "null_not_allowed /name");
  EXPECT_EQ(row_refusal(R"({"name":"a","at":1,"raw":""})"), "wrong_type /at");
  EXPECT_EQ(row_refusal(R"({"a/b~c":1})"), "unknown_field /a~1b~0c");
  EXPECT_EQ(row_refusal("[]"), "wrong_type ");
}

TEST(JsonDocument, SaysAtWhichByteItIsNoJson) {
  const auto offset = [](std::string_view text) {
    auto document = JsonDocument::parse(text, 3);
    if (document) return std::string("taken");
    return document.error().code + " " + std::to_string(document.error().offset.value_or(999));
  };
  EXPECT_EQ(offset("[[[1]]]"), "taken");
  EXPECT_EQ(offset("[[[[1]]]]"), "too_deep 3");
  EXPECT_EQ(offset("{\"a\":}"), "malformed_json 5");
  EXPECT_EQ(offset("{} x"), "malformed_json 3");
  EXPECT_EQ(offset("[1,"), "malformed_json 3");
  EXPECT_EQ(offset(""), "malformed_json 0");
  EXPECT_EQ(offset("\"\xff\""), "malformed_json 1");
  EXPECT_EQ(offset("// comment\n1"), "malformed_json 0");
  EXPECT_EQ(offset("NaN"), "malformed_json 0");
}

TEST(Base64Text, ComesBackAndHasOneForm) {
  for (std::size_t size = 0; size < 20; ++size) {
    std::string bytes;
    for (std::size_t index = 0; index < size; ++index)
      bytes += static_cast<char>(index * 37 + size);
    for (const Base64 form : {Base64::standard, Base64::url})
      EXPECT_EQ(decode_base64(encode_base64(bytes, form), form), bytes);
    EXPECT_EQ(decode_hex(encode_hex(bytes)), bytes);
  }
  EXPECT_FALSE(decode_base64("AA", Base64::standard));
  EXPECT_FALSE(decode_base64("AA==", Base64::url));
  EXPECT_FALSE(decode_base64("A", Base64::url));
  EXPECT_FALSE(decode_base64("AAEC\n", Base64::standard));
  EXPECT_FALSE(decode_hex("0"));
  EXPECT_FALSE(decode_hex("0G"));
}

TEST(TargetText, IsSplitAndDecoded) {
  auto target = parse_target("/a/b%20c?x=1&y=a+b%2B&z&&w=");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->segments, (std::vector<std::string_view>{"a", "b%20c"}));
  const std::vector<std::pair<std::string, std::string>> query = {
      {"x", "1"}, {"y", "a b+"}, {"z", ""}, {"w", ""}};
  EXPECT_EQ(target->query, query);
  EXPECT_EQ(parse_target("http://host:1/a?b=c")->segments, (std::vector<std::string_view>{"a"}));
  EXPECT_EQ(parse_target("https://host")->segments, (std::vector<std::string_view>{""}));
  EXPECT_EQ(parse_target("//a/../b/")->segments,
            (std::vector<std::string_view>{"", "a", "..", "b", ""}));
  for (const char* text : {"", "a", "*", "/a#b", "/?%", "/?%4", "/?%4g", "/?a=%ff", "/?a=1&a=2"})
    EXPECT_FALSE(parse_target(text)) << text;
}

}  // namespace
}  // namespace weir::server::internal
