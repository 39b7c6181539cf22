#include <weir/flow/data/change_batch.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <weir/flow/data/internal/equal_rows.hpp>
#include <weir/flow/data/internal/select_rows.hpp>
#include <weir/runtime/check.hpp>

namespace weir::flow::data {
namespace {

/// The numbers of a column that are its codes as they are; none if it has others.
std::span<const std::uint64_t> numbers_of(const Column& column) {
  if (column.has_nulls()) return {};
  return visit_kind(column.type().kind, [&](auto kind) -> std::span<const std::uint64_t> {
    using T = StoredType<kind()>;
    if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint64_t>) {
      return {reinterpret_cast<const std::uint64_t*>(column.values<T>().data()), column.size()};
    } else {
      return {};
    }
  });
}

/// While one column is gone through the next is fetched, or what is gone through last.
Columns take_rows(const Columns& columns, std::span<const std::uint32_t> rows,
                  internal::Upcoming last = {}) {
  Columns taken;
  taken.reserve(columns.size());
  for (std::size_t index = 0; index < columns.size(); ++index) {
    const bool is_last = index + 1 == columns.size();
    const internal::Upcoming upcoming = is_last ? last : columns[index + 1]->upcoming();
    taken.push_back(std::make_shared<const Column>(columns[index]->take(rows, upcoming)));
  }
  return taken;
}

Columns without_rows(const Columns& columns, std::span<const std::uint32_t> rows) {
  Columns left;
  left.reserve(columns.size());
  for (const ColumnRef& column : columns) {
    left.push_back(std::make_shared<const Column>(column->without(rows)));
  }
  return left;
}

bool has_zero(std::span<const Weight> weights) noexcept {
  // Of a number and its negative, at least one has the highest bit, unless both are zero. Whoever
  // compares instead has a loop that takes one number at a time.
  constexpr std::uint64_t highest = std::uint64_t{1} << 63;
  std::uint64_t bits = highest;
  for (const Weight weight : weights) {
    const auto number = static_cast<std::uint64_t>(weight);
    bits &= number | -number;
  }
  return bits == 0;
}

/// The rows whose weight is zero, or is not, in order.
template <bool AreZero>
Values<std::uint32_t> select_weights(std::span<const Weight> weights) {
  Values<std::uint32_t> rows(weights.size());
  rows.resize(internal::select_rows(
      weights.size(), rows.data(),
      [from = weights.data()](std::uint32_t row) { return (from[row] == 0) == AreZero; }));
  return rows;
}

}  // namespace

ChangeBatch::ChangeBatch(SchemaRef schema, Columns columns, Weights weights)
    : ChangeBatch(std::move(schema), std::move(columns),
                  std::make_shared<const Weights>(std::move(weights))) {}

ChangeBatch::ChangeBatch(SchemaRef schema, Columns columns, std::shared_ptr<const Weights> weights)
    : schema_(std::move(schema)), columns_(std::move(columns)), weights_(std::move(weights)) {
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
  ChangeBatch changed(std::move(schema), std::move(columns), weights_);
  changed.version = version;
  changed.origin = origin;
  return changed;
}

ChangeBatch ChangeBatch::take(std::span<const std::uint32_t> rows) const {
  const internal::Upcoming last{reinterpret_cast<const char*>(weights_->data()), sizeof(Weight)};
  Columns columns = take_rows(columns_, rows, last);
  Weights weights(rows.size());
  internal::gather(weights_->data(), rows, weights.data());
  ChangeBatch taken(schema_, std::move(columns), std::move(weights));
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
  Weights weights(*weights_);
  for (Weight& weight : weights) weight = -weight;
  negated.weights_ = std::make_shared<const Weights>(std::move(weights));
  return negated;
}

/// Equal rows have equal keys, which take less to compare. But a key may have changed often.
ChangeBatch::Sums ChangeBatch::sums() const {
  constexpr std::size_t versions_of_a_key = 8;
  Weights sums = *weights_;
  std::vector<std::uint64_t> hashes;
  Columns key;
  for (const std::size_t column : schema_->primary_key()) key.push_back(columns_[column]);
  if (!key.empty()) {
    std::span<const std::uint64_t> codes = key.size() == 1 ? numbers_of(*key[0]) : hashes;
    if (codes.empty()) {
      hash_rows(key, size(), hashes);
      codes = hashes;
    }
    const std::size_t alike_max = size() * versions_of_a_key;
    if (auto zero = internal::sum_equal_rows({columns_, codes, alike_max}, sums))
      return {std::move(sums), *std::move(zero)};
    sums = *weights_;
  }
  hash_rows(columns_, size(), hashes);
  constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
  auto zero = internal::sum_equal_rows({columns_, hashes, unlimited}, sums);
  check(zero.has_value(), "rows are told apart by all of their columns");
  return {std::move(sums), *std::move(zero)};
}

ChangeBatch ChangeBatch::consolidated() const {
  if (is_consolidated_) return *this;
  auto [sums, gone] = this->sums();
  // Rows that came with a weight of zero are seldom: most often it is enough to look for any.
  if (has_zero(*weights_)) gone = select_weights<true>(sums);
  ChangeBatch batch = *this;
  if (!gone.empty()) {
    // What is between few rows that go is copied as it lies there.
    const bool are_few = gone.size() <= size() / 8;
    Columns columns =
        are_few ? without_rows(columns_, gone) : take_rows(columns_, select_weights<false>(sums));
    Weight* to = sums.data();
    for_each_run(size(), gone, [&](std::size_t from, std::size_t rows) {
      to = std::copy_n(sums.data() + from, rows, to);
    });
    sums.resize(static_cast<std::size_t>(to - sums.data()));
    batch = ChangeBatch(schema_, std::move(columns), std::move(sums));
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
