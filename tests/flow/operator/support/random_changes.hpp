#pragma once

#include <weir/tests/flow/data/support/random_data.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {

/// Changes of a table, at random: rows come, more often than once, become others and go. Rows are
/// made of few values, so that many are equal.
class RandomChanges {
 public:
  RandomChanges(data::test::RandomData& random, data::SchemaRef schema, std::size_t values_max = 4);

  /// A column takes the values of another table's, and null, if it may.
  void share_values(const RandomChanges& other, std::size_t column);
  /// The next changes; what has gone had come.
  data::ChangeBatch next(std::size_t changes_max);
  /// The rows that there are.
  const Rows& rows() const noexcept { return rows_; }
  const data::SchemaRef& schema() const noexcept { return schema_; }

 private:
  Row new_row();
  Row some_row();

  data::test::RandomData& random_;
  data::SchemaRef schema_;
  std::vector<std::vector<data::Value>> values_;  // for each column
  Rows rows_;
};

}  // namespace weir::flow::operators::test
