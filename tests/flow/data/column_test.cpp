#include <weir/flow/data/column.hpp>

#include <gtest/gtest.h>

#include <weir/tests/flow/data/support/random_data.hpp>

namespace weir::flow::data {
namespace {

using test::RandomData;

struct Sample {
  ColumnRef column;
  std::vector<Value> values;
};

Sample random_column(RandomData& random, DataType type, std::size_t rows) {
  auto column = std::make_shared<Column>(type);
  std::vector<Value> values;
  for (std::size_t i = 0; i < rows; ++i) {
    values.push_back(random.value(type));
    column->append(values.back());
  }
  return {std::move(column), std::move(values)};
}

TEST(Column, GivesBackWhatWasAppended) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomData random(seed);
    const DataType type = random.type();
    const Sample sample = random_column(random, type, random.below(200));
    ASSERT_EQ(sample.column->size(), sample.values.size());
    Column copy(type);
    for (std::size_t i = 0; i < sample.values.size(); ++i) {
      ASSERT_EQ(sample.column->value(i), sample.values[i]) << "seed " << seed;
      ASSERT_EQ(sample.column->is_null(i), sample.values[i].is_null());
      copy.append_from(*sample.column, i);
      ASSERT_EQ(copy.value(i), sample.values[i]) << "seed " << seed;
    }
  }
}

TEST(Column, TakesRowsInAnyOrder) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomData random(seed);
    const Sample sample = random_column(random, random.type(), 100);
    std::vector<std::uint32_t> rows(random.below(150));
    for (auto& row : rows) row = static_cast<std::uint32_t>(random.below(100));
    const Column taken = sample.column->take(rows);
    ASSERT_EQ(taken.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(taken.value(i), sample.values[rows[i]]) << "seed " << seed;
    }
  }
}

TEST(Column, LeavesOutRowsAnywhere) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomData random(seed);
    const std::size_t rows = random.below(150);
    const Sample sample = random_column(random, random.type(), rows);
    std::vector<std::uint32_t> gone;
    std::vector<Value> expected;
    const std::uint64_t part = 1 + random.below(20);
    for (std::uint32_t row = 0; row < rows; ++row) {
      if (random.one_in(part)) {
        gone.push_back(row);
      } else {
        expected.push_back(sample.values[row]);
      }
    }
    const Column left = sample.column->without(gone);
    ASSERT_EQ(left.size(), expected.size()) << "seed " << seed;
    for (std::size_t row = 0; row < left.size(); ++row) {
      ASSERT_EQ(left.value(row), expected[row]) << "seed " << seed;
    }
  }
}

TEST(Column, HashesEqualRowsAlikeAndComparesThemAsValues) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomData random(seed);
    const Sample first = random_column(random, random.type(), 60);
    const Sample second = random_column(random, random.type(), 60);
    const Columns columns{first.column, second.column};
    std::vector<std::uint64_t> hashes;
    hash_rows(columns, 60, hashes);
    for (std::size_t a = 0; a < 60; ++a) {
      for (std::size_t b = 0; b < 60; ++b) {
        const bool is_equal =
            first.values[a] == first.values[b] && second.values[a] == second.values[b];
        ASSERT_EQ(equal_rows(columns, a, columns, b), is_equal) << "seed " << seed;
        if (is_equal) ASSERT_EQ(hashes[a], hashes[b]) << "seed " << seed;
      }
    }
  }
}

TEST(Nulls, AreNoneUntilOneIsAdded) {
  Nulls nulls;
  EXPECT_TRUE(nulls.is_empty());
  nulls.add(70);
  EXPECT_FALSE(nulls.contains(69));
  EXPECT_TRUE(nulls.contains(70));
  EXPECT_FALSE(nulls.contains(1000));
  Nulls first;
  first.add_first(65);
  EXPECT_TRUE(first.contains(0));
  EXPECT_TRUE(first.contains(64));
  EXPECT_FALSE(first.contains(65));
  first.add_all(nulls);
  EXPECT_TRUE(first.contains(70));
}

}  // namespace
}  // namespace weir::flow::data
