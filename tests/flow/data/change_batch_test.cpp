#include <weir/flow/data/change_batch.hpp>

#include <gtest/gtest.h>

#include <map>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/data/internal/equal_rows.hpp>
#include <weir/tests/flow/data/support/random_data.hpp>

namespace weir::flow::data {
namespace {

using Bag = std::map<std::vector<Value>, Weight>;

/// What a batch means: how often each row is there.
Bag bag_of(const ChangeBatch& batch) {
  Bag bag;
  for (std::size_t i = 0; i < batch.size(); ++i) bag[batch.row(i)] += batch.weights()[i];
  std::erase_if(bag, [](const auto& entry) { return entry.second == 0; });
  return bag;
}

TEST(ChangeBatch, ConsolidatedHasEachRowOnceAndMeansTheSame) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    test::RandomData random(seed);
    const SchemaRef schema = random.schema(3);
    ChangeBatch batch = random.batch(schema, random.below(80));
    // Rows of it again, so that some cancel each other.
    BatchBuilder builder(schema);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      builder.add_from(batch, i, batch.weights()[i]);
      if (random.one_in(2)) builder.add_from(batch, random.below(batch.size()), -1);
    }
    batch = builder.finish();
    const ChangeBatch consolidated = batch.consolidated();
    ASSERT_EQ(bag_of(consolidated), bag_of(batch)) << "seed " << seed;
    ASSERT_EQ(consolidated.size(), bag_of(batch).size()) << "seed " << seed;
  }
}

// Rows with a key are told apart by it first: here by one that few rows or nearly all have.
TEST(ChangeBatch, ConsolidatedIsTheSameHoweverOftenAKeyChanged) {
  const auto schema = std::make_shared<const Schema>(
      Schema::make({{"note", Kind::int64}, {"id", Kind::int64, false}}, {"id"}).value());
  for (const std::uint64_t keys : {1, 3, 1000}) {
    test::RandomData random(keys);
    BatchBuilder builder(schema);
    for (int row = 0; row < 2000; ++row) {
      const auto id = static_cast<std::int64_t>(random.below(keys));
      const Value note = random.one_in(5) ? Value() : Value(std::int64_t(random.below(300)));
      ASSERT_TRUE(builder.add(std::vector<Value>{note, Value(id)}, random.one_in(2) ? 1 : -1));
    }
    const ChangeBatch batch = builder.finish();
    const ChangeBatch consolidated = batch.consolidated();
    ASSERT_EQ(bag_of(consolidated), bag_of(batch)) << keys;
    ASSERT_EQ(consolidated.size(), bag_of(batch).size()) << keys;
  }
}

// A batch with each key once is left as it is: not one with a key twice among many.
TEST(ChangeBatch, ConsolidatedSeesTheOnlyKeyThatIsThereTwice) {
  for (const Kind kind : {Kind::int64, Kind::uint64}) {
    const auto schema = std::make_shared<const Schema>(
        Schema::make({{"id", kind, false}, {"note", Kind::int64}}, {"id"}).value());
    for (const std::uint64_t step : {std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{1} << 40}) {
      for (const Weight last : {-1, 1, 0}) {
        BatchBuilder builder(schema);
        const auto add = [&](std::uint64_t row, Weight weight) {
          const std::uint64_t id = row * step;
          const Value key = kind == Kind::int64 ? Value(static_cast<std::int64_t>(id)) : Value(id);
          ASSERT_TRUE(builder.add(std::vector<Value>{key, Value(7)}, weight));
        };
        for (std::uint64_t row = 0; row < 300; ++row) add(row * 7 % 300, 1);
        add(last == 0 ? 300 : 77, last);
        const ChangeBatch batch = builder.finish();
        const ChangeBatch consolidated = batch.consolidated();
        ASSERT_EQ(bag_of(consolidated), bag_of(batch));
        ASSERT_EQ(consolidated.size(), bag_of(batch).size());
      }
    }
  }
}

// What is between few rows that go is not looked at row by row.
TEST(ChangeBatch, ConsolidatedKeepsTheOrderOfRowsWhetherFewGoOrMany) {
  const auto schema = std::make_shared<const Schema>(
      Schema::make({{"id", Kind::int64, false}, {"note", Kind::text}}, {"id"}).value());
  for (const std::uint64_t part : {2, 5, 50, 400}) {
    test::RandomData random(part);
    BatchBuilder builder(schema);
    std::string expected;
    std::vector<std::int64_t> going;
    const auto add = [&](std::int64_t id, Weight weight) {
      const Value note = id % 3 == 0 ? Value() : Value(std::string(id % 7, 'x'));
      ASSERT_TRUE(builder.add(std::vector<Value>{Value(id), note}, weight));
    };
    for (std::int64_t id = 0; id < 1000; ++id) {
      add(id, 1);
      if (random.one_in(part)) {
        going.push_back(id);
      } else {
        expected += std::to_string(id) + " ";
      }
    }
    for (const std::int64_t id : going) add(id, -1);
    const ChangeBatch consolidated = builder.finish().consolidated();
    std::string left;
    for (std::size_t row = 0; row < consolidated.size(); ++row) {
      const auto id = consolidated.row(row)[0].as<std::int64_t>();
      left += std::to_string(id) + " ";
      ASSERT_EQ(consolidated.column(1).is_null(row), id % 3 == 0);
      ASSERT_EQ(consolidated.weights()[row], 1);
    }
    EXPECT_EQ(left, expected) << "one of " << part;
  }
}

TEST(ChangeBatch, NegatedUndoesIt) {
  test::RandomData random(1);
  const SchemaRef schema = random.schema(4);
  const ChangeBatch batch = random.batch(schema, 50);
  const ChangeBatch negated = batch.negated();
  BatchBuilder both(schema);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    both.add_from(batch, i, batch.weights()[i]);
    both.add_from(negated, i, negated.weights()[i]);
  }
  EXPECT_TRUE(both.finish().consolidated().is_empty());
}

TEST(ChangeBatch, KeepsWhereItCameFrom) {
  const auto schema = std::make_shared<const Schema>(Schema::make({{"a", Kind::int64}}).value());
  BatchBuilder builder(schema);
  ASSERT_TRUE(builder.add({1}));
  ASSERT_TRUE(builder.add({1}, -1));
  ASSERT_TRUE(builder.add({2}));
  ChangeBatch batch = builder.finish();
  batch.version = {7};
  batch.origin = 16;
  const std::uint32_t rows[] = {2};
  for (const ChangeBatch& made : {batch.consolidated(), batch.take(rows), batch.negated(),
                                  batch.with_columns(batch.schema(), batch.columns())}) {
    EXPECT_EQ(made.version, storage::Version{7});
    EXPECT_EQ(made.origin, 16u);
  }
  EXPECT_EQ(to_string(batch.consolidated()), "+1 (2)\n");
  EXPECT_EQ(batch.take(rows).row(0), std::vector<Value>{2});
  EXPECT_EQ(builder.size(), 0u);
}

TEST(BatchBuilder, RefusesWhatIsNoRowAndStaysAsItWas) {
  const auto schema =
      std::make_shared<const Schema>(Schema::make({{"a", Kind::int64}, {"b", Kind::text}}).value());
  BatchBuilder builder(schema);
  ASSERT_TRUE(builder.add({1, "x"}));
  EXPECT_EQ(builder.add({1, 2}).error(), Errc::type_mismatch);
  EXPECT_EQ(builder.add({1}).error(), Errc::invalid_argument);
  const ChangeBatch batch = builder.finish();
  EXPECT_EQ(batch.size(), 1u);
  EXPECT_EQ(batch.column(0).size(), 1u);
}

TEST(ChangeBatch, RowsThatAreOnlyAlikeAreComparedAsOftenAsAllowedAndNoMore) {
  constexpr std::size_t rows = 12;
  constexpr std::size_t comparisons = rows * (rows - 1) / 2;
  auto column = std::make_shared<Column>(DataType{Kind::int64});
  for (std::size_t row = 0; row < rows; ++row) column->append(static_cast<std::int64_t>(row));
  const Columns columns = {column};
  const std::vector<std::uint64_t> codes(rows, 7);
  for (std::size_t allowed = 0; allowed <= comparisons; ++allowed) {
    Weights weights(rows, 1);
    const auto zero = internal::sum_equal_rows({columns, codes, allowed}, weights);
    EXPECT_EQ(zero.has_value(), allowed == comparisons) << allowed;
  }
}

}  // namespace
}  // namespace weir::flow::data
