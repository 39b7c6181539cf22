#include <weir/flow/data/row_codec.hpp>

#include <gtest/gtest.h>

#include <weir/flow/data/errc.hpp>
#include <weir/tests/flow/data/support/random_data.hpp>

namespace weir::flow::data {
namespace {

using test::RandomData;

std::string ordered(const Column& column, std::size_t row) {
  std::string bytes;
  append_ordered(column, row, bytes);
  return bytes;
}

TEST(OrderedBytes, AreInTheOrderOfTheValues) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomData random(seed);
    const DataType type = random.type();
    Column column(type);
    for (int i = 0; i < 40; ++i) column.append(random.value(type));
    for (std::size_t a = 0; a < column.size(); ++a) {
      for (std::size_t b = 0; b < column.size(); ++b) {
        const std::string left = ordered(column, a);
        const std::string right = ordered(column, b);
        const auto order = column.value(a) <=> column.value(b);
        ASSERT_EQ(left < right, order < 0) << to_string(type) << " seed " << seed;
        ASSERT_EQ(left == right, order == 0) << to_string(type) << " seed " << seed;
        if (left != right) ASSERT_FALSE(left.starts_with(right)) << "seed " << seed;
      }
    }
  }
}

TEST(OrderedBytes, AreTheSameColumnByColumn) {
  std::size_t tried = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    RandomData random(seed);
    const DataType type = random.type();
    Column column(type);
    for (int i = 0; i < 20; ++i) {
      Value value = random.value(type);
      if (!value.is_null() || seed % 4 == 0) column.append(value);
    }
    const auto width = ordered_width(column);
    if (!width) {
      EXPECT_TRUE(column.has_nulls() || type == Kind::text || type == Kind::bytes);
      continue;
    }
    ++tried;
    constexpr std::size_t gap = 3;
    std::string all(column.size() * (*width + gap), '.');
    put_ordered(column, all.data(), *width + gap);
    std::string expected;
    for (std::size_t row = 0; row < column.size(); ++row)
      expected += ordered(column, row) + std::string(gap, '.');
    ASSERT_EQ(all, expected) << to_string(type) << " seed " << seed;
  }
  EXPECT_GT(tried, 50u);
}

struct Encoded {
  std::string key;
  std::string value;
};

Encoded encode(const RowCodec& codec, const ChangeBatch& batch, std::size_t row) {
  Encoded encoded;
  codec.encode_key(batch.columns(), row, encoded.key);
  codec.encode_value(batch.columns(), row, encoded.value);
  return encoded;
}

TEST(OrderedBytes, AreTakenForManyRowsAsForEach) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    test::RandomData random(seed);
    const DataType type = random.type();
    Column column(type);
    const bool has_nulls = random.one_in(2);
    for (std::size_t row = 0; row < 40; ++row) {
      const Value value = random.value(type);
      if (has_nulls || !value.is_null()) column.append(value);
    }
    std::vector<std::string> bytes;
    for (std::size_t row = 0; row < column.size(); ++row)
      bytes.push_back(ordered(column, row) + "+");
    std::vector<std::string_view> rest(bytes.begin(), bytes.end());
    Column taken(type);
    ASSERT_TRUE(take_ordered(rest, taken)) << "seed " << seed;
    ASSERT_EQ(taken.size(), column.size());
    for (std::size_t row = 0; row < column.size(); ++row) {
      ASSERT_EQ(taken.value(row), column.value(row)) << "seed " << seed;
      ASSERT_EQ(rest[row], "+") << "seed " << seed;
    }
    if (bytes.empty()) continue;
    // Cut off anywhere, the last row is none.
    rest.assign(bytes.begin(), bytes.end());
    rest.back() = rest.back().substr(0, random.below(bytes.back().size() - 1));
    Column refused(type);
    ASSERT_FALSE(take_ordered(rest, refused)) << "seed " << seed;
  }
}

TEST(RowCodec, GivesBackWhatItEncoded) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomData random(seed);
    const SchemaRef schema = random.schema(12);
    const RowCodec codec(schema);
    const ChangeBatch batch = random.batch(schema, 20);
    BatchBuilder builder(schema);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto [key, value] = encode(codec, batch, i);
      const auto decoded = codec.decode(key, value, batch.weights()[i], builder);
      ASSERT_TRUE(decoded) << decoded.error().message() << " seed " << seed;
    }
    const ChangeBatch decoded = builder.finish();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      ASSERT_EQ(decoded.row(i), batch.row(i)) << "seed " << seed;
      ASSERT_EQ(decoded.weights()[i], batch.weights()[i]) << "seed " << seed;
    }
  }
}

TEST(RowCodec, RefusesBytesThatAreCutOrTooMany) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomData random(seed);
    const SchemaRef schema = random.schema(6);
    const RowCodec codec(schema);
    const ChangeBatch batch = random.batch(schema, 1);
    const auto [key, value] = encode(codec, batch, 0);
    const auto code = [&](std::string_view some_key, std::string_view some_value) {
      BatchBuilder builder(schema);
      const auto decoded = codec.decode(some_key, some_value, 1, builder);
      return decoded ? std::error_code() : decoded.error().code();
    };
    ASSERT_FALSE(code(key, value));
    for (std::size_t size = 0; size < key.size(); ++size) {
      ASSERT_EQ(code(key.substr(0, size), value), Errc::corruption) << "seed " << seed;
    }
    for (std::size_t size = 0; size < value.size(); ++size) {
      ASSERT_EQ(code(key, value.substr(0, size)), Errc::corruption) << "seed " << seed;
    }
    ASSERT_EQ(code(key + "x", value), Errc::corruption);
    ASSERT_EQ(code(key, value + "x"), Errc::corruption);
  }
}

TEST(RowCodec, HasTheDocumentedBytes) {
  const auto schema = std::make_shared<const Schema>(Schema::make({{"id", Kind::int64},
                                                                   {"note", Kind::text},
                                                                   {"price", DataType::decimal(2)},
                                                                   {"paid", Kind::boolean, false}},
                                                                  {"id"})
                                                         .value());
  BatchBuilder builder(schema);
  ASSERT_TRUE(builder.add({1, Value(), Decimal{-3, 2}, true}));
  const auto [key, value] = encode(RowCodec(schema), builder.finish(), 0);
  EXPECT_EQ(key, std::string("\x01\x80\0\0\0\0\0\0\x01", 9));
  EXPECT_EQ(value, std::string("\x01\x05\x00\x01", 4)) << "note is null; -3 is 5; true";
}

}  // namespace
}  // namespace weir::flow::data
