#pragma once

#include <map>
#include <string>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/tests/flow/data/support/random_data.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {

/// A table with a primary key `id` that changes at random.
class RandomTable {
 public:
  RandomTable(std::string name, data::SchemaRef schema)
      : name_(std::move(name)), schema_(std::move(schema)) {}

  /// `id` and up to `columns_max` columns of random types, named after `letter`.
  static RandomTable make(std::string name, char letter, std::size_t columns_max,
                          data::test::RandomData& random);

  const std::string& name() const noexcept { return name_; }
  const data::SchemaRef& schema() const noexcept { return schema_; }
  Rows rows() const;

  /// Inserts, updates and deletes of up to `changes_max` rows; some rows more than once.
  data::ChangeBatch change(std::size_t changes_max, data::test::RandomData& random);

 private:
  Row random_row(const data::Value& id, data::test::RandomData& random) const;

  std::string name_;
  data::SchemaRef schema_;
  std::map<data::Value, Row> by_id_;
};

}  // namespace weir::flow::operators::test
