#include <weir/flow/data/change_batch.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include <weir/runtime/check.hpp>

namespace weir::flow::data {
namespace {

constexpr std::uint32_t no_row = ~std::uint32_t{0};

/// Finds the first row equal to another one.
class FirstRows {
 public:
  /// `hashed` are all columns, or some of them. Rows that have these in common are told apart one
  /// by one, `alike_max` times in all.
  FirstRows(const Columns& columns, std::size_t rows, std::span<const ColumnRef> hashed,
            std::size_t alike_max)
      : columns_(columns), alike_left_(alike_max), slots_(std::bit_ceil(rows * 3 / 2 + 1), no_row) {
    hash_rows(hashed, rows, hashes_);
  }

  /// The row itself, if no equal one was asked for before. `no_row` if too many are alike.
  std::uint32_t first_like(std::uint32_t row) noexcept {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hashes_[row] & mask;; slot = (slot + 1) & mask) {
      const std::uint32_t other = slots_[slot];
      if (other == no_row) return slots_[slot] = row;
      if (hashes_[other] != hashes_[row]) continue;
      if (equal_rows(columns_, other, columns_, row)) return other;
      if (alike_left_-- == 0) return no_row;
    }
  }

 private:
  const Columns& columns_;
  std::size_t alike_left_;
  std::vector<std::uint32_t> slots_;
  std::vector<std::uint64_t> hashes_;
};

/// The weights of equal rows at the first of them, zero at the others. False if too many are alike.
bool sum_equal(std::span<const Weight> weights, FirstRows first, std::vector<Weight>& sums) {
  sums.assign(weights.size(), 0);
  for (std::uint32_t row = 0; row < weights.size(); ++row) {
    const std::uint32_t place = first.first_like(row);
    if (place == no_row) return false;
    sums[place] += weights[row];
  }
  return true;
}

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

/// Equal rows have equal keys, which take less to hash. But a key may have changed often.
std::vector<Weight> ChangeBatch::sums() const {
  constexpr std::size_t versions_of_a_key = 8;
  std::vector<Weight> sums;
  Columns key;
  for (const std::size_t column : schema_->primary_key()) key.push_back(columns_[column]);
  const bool is_summed =
      !key.empty() &&
      sum_equal(*weights_, FirstRows(columns_, size(), key, size() * versions_of_a_key), sums);
  if (!is_summed) {
    constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
    check(sum_equal(*weights_, FirstRows(columns_, size(), columns_, unlimited), sums),
          "rows are told apart by all of their columns");
  }
  return sums;
}

ChangeBatch ChangeBatch::consolidated() const {
  if (is_consolidated_) return *this;
  std::vector<Weight> sums = this->sums();
  ChangeBatch batch = *this;
  if (std::ranges::find(sums, 0) != sums.end()) {
    std::vector<std::uint32_t> kept;
    for (std::uint32_t row = 0; row < size(); ++row)
      if (sums[row] != 0) kept.push_back(row);
    std::erase(sums, 0);
    batch = ChangeBatch(schema_, take_rows(columns_, kept), std::move(sums));
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
