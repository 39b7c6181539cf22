#include <weir/flow/data/schema.hpp>

#include <gtest/gtest.h>

#include <weir/flow/data/errc.hpp>

namespace weir::flow::data {
namespace {

Schema orders() {
  return Schema::make({{"id", Kind::int64}, {"note", Kind::text}, {"price", DataType::decimal(2)}},
                      {"id"})
      .value();
}

TEST(Schema, FindsItsColumnsAndKey) {
  const Schema schema = orders();
  EXPECT_EQ(schema.find("note"), 1u);
  EXPECT_EQ(schema.find("nota"), std::nullopt);
  ASSERT_EQ(schema.primary_key().size(), 1u);
  EXPECT_EQ(schema.primary_key()[0], 0u);
  EXPECT_FALSE(schema[0].is_nullable) << "as part of the key";
  EXPECT_EQ(to_string(schema), "(id int64 not null, note text, price decimal(2), primary key id)");
}

TEST(Schema, RefusesBadColumnsAndKeysWithTheirNames) {
  const auto refused = [](const Result<Schema>& made, Errc code, const std::string& name) {
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error(), code);
    EXPECT_NE(made.error().detail().find(name), std::string::npos) << made.error().detail();
  };
  refused(Schema::make({{"a", Kind::int64}, {"a", Kind::text}}), Errc::duplicate_column, "a");
  refused(Schema::make({{"", Kind::int64}}), Errc::invalid_argument, "name");
  refused(Schema::make({{"a", Kind::int64}}, {"b"}), Errc::unknown_column, "'b'; there are: a");
  refused(Schema::make({{"a", Kind::int64}}, {"a", "a"}), Errc::duplicate_column, "a");
  refused(Schema::make({{"a", DataType::decimal(39)}}), Errc::invalid_argument, "decimal(39)");
  DataType scaled = Kind::int64;
  scaled.scale = 2;
  refused(Schema::make({{"a", scaled}}), Errc::invalid_argument, "a: int64");
}

TEST(Schema, ChecksRows) {
  const Schema schema = orders();
  const auto code = [&](std::vector<Value> row) {
    const auto checked = schema.check_row(row);
    return checked ? std::error_code() : checked.error().code();
  };
  EXPECT_FALSE(code({1, "a", Decimal{5, 2}}));
  EXPECT_FALSE(code({1, Value(), Value()}));
  EXPECT_EQ(code({1, "a"}), Errc::invalid_argument);
  EXPECT_EQ(code({Value(), "a", Value()}), Errc::null_not_allowed);
  EXPECT_EQ(code({1, 2, Value()}), Errc::type_mismatch);
  EXPECT_EQ(code({1, "a", Decimal{5, 1}}), Errc::type_mismatch);
}

TEST(Schema, RefusesValuesThatNoColumnCanHold) {
  const Schema schema = Schema::make({{"note", Kind::text},
                                      {"price", DataType::decimal(2)},
                                      {"at", Kind::timestamp},
                                      {"day", Kind::date}})
                            .value();
  const auto refusal = [&](std::size_t column, Value value) {
    std::vector<Value> row(4);
    row[column] = std::move(value);
    const auto checked = schema.check_row(row);
    return checked ? "none" : checked.error().message();
  };
  EXPECT_EQ(refusal(0, "\xC3\xA9"), "none");
  EXPECT_EQ(refusal(0, "\xC3"), "invalid value: note: '\\xC3' is not UTF-8");
  EXPECT_EQ(refusal(1, Decimal{coefficient_max, 2}), "none");
  for (const Int128 coefficient : {coefficient_max + 1, -coefficient_max - 1})
    EXPECT_EQ(refusal(1, Decimal{coefficient, 2}).substr(0, 16), "overflow: price:");
  EXPECT_EQ(refusal(2, timestamp_max), "none");
  for (const Timestamp at : {timestamp_max + std::chrono::microseconds(1), Timestamp::min()})
    EXPECT_EQ(refusal(2, at), "overflow: at: dates and times are from year 1 to 9999");
  EXPECT_EQ(refusal(3, date_min), "none");
  for (const Date day : {date_min - std::chrono::days(1), date_max + std::chrono::days(1)})
    EXPECT_EQ(refusal(3, day), "overflow: day: dates and times are from year 1 to 9999");
}

}  // namespace
}  // namespace weir::flow::data
