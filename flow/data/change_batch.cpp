#include <weir/flow/data/change_batch.hpp>

#include <bit>
#include <numeric>
#include <utility>

#include <weir/runtime/check.hpp>

namespace weir::flow::data {
namespace {

/// Finds the first row equal to another one.
class FirstRows {
 public:
  explicit FirstRows(const Columns& columns, std::size_t rows)
      : columns_(columns), slots_(std::bit_ceil(rows * 2 + 1), none) {
    hash_rows(columns, rows, hashes_);
  }

  /// The row itself, if no equal one was asked for before.
  std::uint32_t first_like(std::uint32_t row) noexcept {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hashes_[row] & mask;; slot = (slot + 1) & mask) {
      if (slots_[slot] == none) return slots_[slot] = row;
      const std::uint32_t other = slots_[slot];
      const bool is_equal =
          hashes_[other] == hashes_[row] && equal_rows(columns_, other, columns_, row);
      if (is_equal) return other;
    }
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  const Columns& columns_;
  std::vector<std::uint32_t> slots_;
  std::vector<std::uint64_t> hashes_;
};

Columns take_rows(const Columns& columns, std::span<const std::uint32_t> rows) {
  Columns taken;
  taken.reserve(columns.size());
  for (const ColumnRef& column : columns) {
    taken.push_back(std::make_shared<const Column>(column->take(rows)));
  }
  return taken;
}

}  // namespace

ChangeBatch::ChangeBatch(SchemaRef schema, Columns columns, std::vector<Weight> weights)
    : schema_(std::move(schema)),
      columns_(std::move(columns)),
      weights_(std::make_shared<const std::vector<Weight>>(std::move(weights))) {
  check(columns_.size() == schema_->size(), "a batch has a column for each field of its schema");
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    check(columns_[i]->size() == weights_->size(), "columns of a batch are of one length");
    check(columns_[i]->type() == (*schema_)[i].type, "a column has the type of its field");
  }
}

ChangeBatch::ChangeBatch(SchemaRef schema)
    : ChangeBatch(BatchBuilder(std::move(schema)).finish()) {}

std::vector<Value> ChangeBatch::row(std::size_t index) const {
  std::vector<Value> values;
  values.reserve(columns_.size());
  for (const ColumnRef& column : columns_) values.push_back(column->value(index));
  return values;
}

std::size_t ChangeBatch::bytes() const noexcept {
  std::size_t sum = size() * sizeof(Weight);
  for (const ColumnRef& column : columns_) sum += column->bytes();
  return sum;
}

ChangeBatch ChangeBatch::with_columns(SchemaRef schema, Columns columns) const {
  ChangeBatch changed(std::move(schema), std::move(columns), *weights_);
  changed.version = version;
  changed.origin = origin;
  return changed;
}

ChangeBatch ChangeBatch::take(std::span<const std::uint32_t> rows) const {
  std::vector<Weight> weights;
  weights.reserve(rows.size());
  for (const std::uint32_t row : rows) weights.push_back((*weights_)[row]);
  ChangeBatch taken(schema_, take_rows(columns_, rows), std::move(weights));
  taken.version = version;
  taken.origin = origin;
  return taken;
}

ChangeBatch ChangeBatch::with(const ChangeBatch& other) const {
  if (other.is_empty()) return consolidated();
  BatchBuilder builder(schema_);
  for (const ChangeBatch* batch : {this, &other})
    for (std::size_t row = 0; row < batch->size(); ++row)
      builder.add_from(*batch, row, batch->weights()[row]);
  return builder.finish().consolidated();
}

ChangeBatch ChangeBatch::negated() const {
  ChangeBatch negated = *this;
  std::vector<Weight> weights(*weights_);
  for (Weight& weight : weights) weight = -weight;
  negated.weights_ = std::make_shared<const std::vector<Weight>>(std::move(weights));
  return negated;
}

ChangeBatch ChangeBatch::consolidated() const {
  if (is_consolidated_) return *this;
  FirstRows first(columns_, size());
  std::vector<Weight> sums(size(), 0);
  for (std::uint32_t row = 0; row < size(); ++row) sums[first.first_like(row)] += (*weights_)[row];
  std::vector<std::uint32_t> kept;
  std::vector<Weight> weights;
  for (std::uint32_t row = 0; row < size(); ++row) {
    if (sums[row] == 0) continue;
    kept.push_back(row);
    weights.push_back(sums[row]);
  }
  ChangeBatch batch = *this;
  if (kept.size() != size()) {
    batch = ChangeBatch(schema_, take_rows(columns_, kept), std::move(weights));
    batch.version = version;
    batch.origin = origin;
  }
  batch.note_consolidated();
  return batch;
}

BatchBuilder::BatchBuilder(SchemaRef schema) : schema_(std::move(schema)) { reset(); }

void BatchBuilder::reset() {
  columns_.clear();
  for (const Field& field : schema_->fields()) {
    columns_.push_back(std::make_shared<Column>(field.type));
  }
  weights_.clear();
}

Result<> BatchBuilder::add(std::span<const Value> row, Weight weight) {
  if (auto checked = schema_->check_row(row); !checked) return checked;
  for (std::size_t i = 0; i < row.size(); ++i) columns_[i]->append(row[i]);
  weights_.push_back(weight);
  return {};
}

void BatchBuilder::add_from(const ChangeBatch& batch, std::size_t row, Weight weight) {
  for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i]->append_from(batch.column(i), row);
  weights_.push_back(weight);
}

ChangeBatch BatchBuilder::finish() {
  ChangeBatch batch(schema_, Columns(columns_.begin(), columns_.end()), std::move(weights_));
  reset();
  return batch;
}

std::string to_string(const ChangeBatch& batch) {
  std::string out;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Weight weight = batch.weights()[i];
    out += (weight > 0 ? "+" : "") + std::to_string(weight) + " (";
    const std::vector<Value> row = batch.row(i);
    for (std::size_t column = 0; column < row.size(); ++column) {
      out += (column == 0 ? "" : ", ") + to_string(row[column]);
    }
    out += ")\n";
  }
  return out;
}

}  // namespace weir::flow::data
