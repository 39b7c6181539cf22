#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <weir/flow/data/column.hpp>
#include <weir/flow/data/schema.hpp>
#include <weir/runtime/result.hpp>
#include <weir/storage/version.hpp>

namespace weir::flow::data {

/// How often a row came, less how often it went.
using Weight = std::int64_t;
using Weights = Values<Weight>;

/// Rows that came and went, in columns: what operators take and give. An update is the old row with
/// weight -1 and the new one with +1. Cheap to copy; immutable.
class ChangeBatch {
 public:
  /// Each column is as long as `weights`, and has the type of its field.
  ChangeBatch(SchemaRef schema, Columns columns, Weights weights);
  explicit ChangeBatch(SchemaRef schema);

  std::size_t size() const noexcept { return weights_->size(); }
  bool is_empty() const noexcept { return weights_->empty(); }
  const SchemaRef& schema() const noexcept { return schema_; }
  const Columns& columns() const noexcept { return columns_; }
  const Column& column(std::size_t index) const noexcept { return *columns_[index]; }
  std::span<const Weight> weights() const noexcept { return *weights_; }
  std::vector<Value> row(std::size_t index) const;
  /// About what it takes in memory.
  std::size_t bytes() const noexcept;

  /// The same changes to other columns, one for each row: what an expression makes of it.
  ChangeBatch with_columns(SchemaRef schema, Columns columns) const;
  /// These rows, in this order.
  ChangeBatch take(std::span<const std::uint32_t> rows) const;
  /// These changes and others of the same schema, each row once.
  ChangeBatch with(const ChangeBatch& other) const;
  /// What undoes it.
  ChangeBatch negated() const;
  /// The same changes with each row once, in the order they first appear; rows that came as often
  /// as they went are gone.
  ChangeBatch consolidated() const;
  /// Who made it knows that no two of its rows are equal, and no weight is zero.
  void note_consolidated() noexcept { is_consolidated_ = true; }
  /// Whether that is known.
  bool is_consolidated() const noexcept { return is_consolidated_; }

  /// The commit that made these changes.
  storage::Version version = {};
  /// The table or view that changed: its key space.
  std::uint32_t origin = 0;

 private:
  ChangeBatch(SchemaRef schema, Columns columns, std::shared_ptr<const Weights> weights);
  /// The weights of equal rows at the first of them; zero at the others, which are the rows to be
  /// left out.
  struct Sums {
    Weights weights;
    Values<std::uint32_t> zero;
  };
  Sums sums() const;

  SchemaRef schema_;
  Columns columns_;
  std::shared_ptr<const Weights> weights_;
  bool is_consolidated_ = false;
};

/// Makes a batch row by row.
class BatchBuilder {
 public:
  explicit BatchBuilder(SchemaRef schema);

  std::size_t size() const noexcept { return weights_.size(); }
  /// Refused if the values are not a row of the schema.
  Result<> add(std::span<const Value> row, Weight weight = 1);
  Result<> add(std::initializer_list<Value> row, Weight weight = 1) {
    return add(std::span(row.begin(), row.size()), weight);
  }
  /// A row of another batch with the same types.
  void add_from(const ChangeBatch& batch, std::size_t row, Weight weight);
  /// For who fills columns directly: one value for each must follow.
  Column& column(std::size_t index) noexcept { return *columns_[index]; }
  void add_weight(Weight weight) { weights_.push_back(weight); }

  /// All that was added; the builder is empty afterwards.
  ChangeBatch finish();

 private:
  void reset();

  SchemaRef schema_;
  std::vector<std::shared_ptr<Column>> columns_;
  Weights weights_;
};

/// Table of changes for people and tests: a line for each row, `+1 (5, 'text', null)`.
std::string to_string(const ChangeBatch& batch);

}  // namespace weir::flow::data
