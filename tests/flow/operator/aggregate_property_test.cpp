#include <weir/flow/operator/aggregate.hpp>

#include <gtest/gtest.h>

#include <weir/flow/operator/harness.hpp>
#include <weir/tests/flow/data/support/random_data.hpp>
#include <weir/tests/flow/operator/support/oracle_aggregate.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>
#include <weir/tests/runtime/support/scaled.hpp>

namespace weir::flow::operators {
namespace {

using data::col;
using data::Kind;
using data::SchemaRef;
using data::test::RandomData;
using test::Row;
using test::Rows;

/// Some rows that are there, and aggregates over them.
class RandomAggregate {
 public:
  explicit RandomAggregate(std::uint64_t seed) : random_(seed), schema_(random_schema()) {
    for (std::uint64_t i = random_.below(3); i > 0; --i) {
      const std::string column = random_column();
      groups_.push_back({"g" + std::to_string(groups_.size()), col(column)});
    }
    if (random_.one_in(4)) groups_.push_back({"k", is_null(col(random_column()))});
    std::uint64_t columns = random_.below(6);
    if (groups_.empty()) ++columns;
    for (; columns > 0; --columns)
      columns_.push_back(random_aggregate().as("a" + std::to_string(columns_.size())));
    // Some have so many values that they do not stay with their group.
    if (random_.one_in(4)) changes_max_ = 60;
    for (std::uint64_t i = 1 + random_.below(changes_max_); i > 0; --i)
      pool_.push_back(random_.row(*schema_));
  }

  const SchemaRef& schema() const { return schema_; }
  Aggregate spec() const { return Aggregate(groups_, columns_); }
  Plan plan() const { return Plan::make(spec(), {from("in", schema_)}); }
  const Rows& rows() const { return rows_; }

  /// Rows that come, go and change, in any order.
  data::ChangeBatch next_batch() {
    std::vector<std::pair<Row, data::Weight>> changes;
    const std::uint64_t removals =
        random_.one_in(3) ? 1 : 3;  // one time it shrinks, one time it grows
    for (std::uint64_t step = 1 + random_.below(changes_max_); step > 0; --step) {
      if (!rows_.empty() && random_.one_in(removals)) {
        auto gone = rows_.begin();
        std::advance(gone, random_.below(rows_.size()));
        const Row row = gone->first;
        const data::Weight weight = random_.one_in(2) ? -gone->second : -1;
        changes.emplace_back(row, weight);
        test::add(rows_, row, weight);
      }
      if (random_.one_in(3)) continue;
      const Row row = random_row();
      const data::Weight weight = 1 + static_cast<data::Weight>(random_.below(2));
      changes.emplace_back(row, weight);
      test::add(rows_, row, weight);
    }
    for (std::size_t i = changes.size(); i > 1; --i)
      std::swap(changes[i - 1], changes[random_.below(i)]);
    return test::make_batch(schema_, changes);
  }

 private:
  SchemaRef random_schema() {
    std::vector<data::Field> fields;
    for (std::uint64_t i = 2 + random_.below(4); i > 0; --i)
      fields.push_back({"c" + std::to_string(fields.size()), random_.type(), !random_.one_in(3)});
    return test::make_schema(std::move(fields));
  }
  std::string random_column() { return (*schema_)[random_.below(schema_->size())].name; }
  AggregateColumn random_aggregate() {
    const AggregateColumn column = random_function();
    if (!random_.one_in(3)) return column;
    const std::string by = random_column();
    const Row row = random_.row(*schema_);
    const data::Value limit = row[*schema_->find(by)];
    return column.filter(limit.is_null() ? is_null(col(by)) : col(by) >= limit);
  }
  AggregateColumn random_function() {
    const std::string name = random_column();
    const Kind kind = (*schema_)[*schema_->find(name)].type.kind;
    const bool can_sum = data::is_numeric(kind) || kind == Kind::duration;
    switch (random_.below(can_sum ? 12 : 7)) {
      case 0: return count();
      case 1: return count(col(name));
      case 2: return count_distinct(col(name));
      case 3: return min(col(name));
      case 4: return max(col(name));
      case 5: return first(col(name), by(col(random_column())));
      case 6: return last(col(name), by(col(random_column())));
      case 7:
      case 8: return avg(col(name));
      default: return sum(col(name));
    }
  }
  /// Mostly of a few rows, or of mixtures of them, so that groups meet.
  Row random_row() {
    Row row = pool_[random_.below(pool_.size())];
    const Row& other = pool_[random_.below(pool_.size())];
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (random_.one_in(3)) row[column] = other[column];
      if (random_.one_in(8)) {
        const data::Field& field = (*schema_)[column];
        row[column] = random_.value(field.type, field.is_nullable);
      }
    }
    return row;
  }

  RandomData random_;
  SchemaRef schema_;
  std::vector<NamedExpression> groups_;
  std::vector<AggregateColumn> columns_;
  std::uint64_t changes_max_ = 8;
  std::vector<Row> pool_;
  Rows rows_;
};

TEST(AggregateProperty, IsWhatRecomputingItGives) {
  for (int seed = 0; seed < weir::testing::scaled(800); ++seed) {
    RandomAggregate random(static_cast<std::uint64_t>(seed));
    auto graph = Graph::make(random.plan(), {.row_errors = RowErrorPolicy::null}).value();
    Rows found;
    for (int cycle = 0; cycle < 8; ++cycle) {
      auto changes = graph->run({{"in", random.next_batch()}});
      ASSERT_TRUE(changes) << "seed " << seed << ": " << changes.error().message();
      graph->commit();
      test::add(found, *changes);
      const Rows expected = test::evaluate(random.spec(), random.rows(), random.schema());
      ASSERT_EQ(found, expected) << "seed " << seed << ", cycle " << cycle << "\n"
                                 << test::to_string(found) << "instead of\n"
                                 << test::to_string(expected);
    }
  }
}

TEST(AggregateProperty, KeepsThePromisesOfOperators) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    RandomAggregate random(seed);
    const auto policy = seed % 2 == 0 ? RowErrorPolicy::null : RowErrorPolicy::drop;
    OperatorHarness harness(random.plan(), {.row_errors = policy});
    for (int cycle = 0; cycle < 6; ++cycle) harness.add("in", random.next_batch());
    const auto checked = harness.check();
    ASSERT_TRUE(checked) << "seed " << seed << ": " << checked.error().message();
  }
}

}  // namespace
}  // namespace weir::flow::operators
