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

}  // namespace
}  // namespace weir::flow::data
