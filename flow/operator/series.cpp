#include <weir/flow/operator/series.hpp>

#include <cstdint>
#include <vector>

#include <weir/flow/data/errc.hpp>
#include <weir/flow/operator/internal/arrivals.hpp>
#include <weir/flow/operator/internal/projection.hpp>

namespace weir::flow::operators {
namespace {

class SeriesOperator final : public Operator {
 public:
  SeriesOperator(data::SchemaRef schema, data::SchemaRef input, std::size_t key)
      : Operator(std::move(schema)), key_(key), arrivals_(std::move(input)) {}

  void open(State& state) override { arrivals_.open(state); }
  bool needs_each_version() const override { return true; }

  Result<> apply(const Input& input, Output& out) override {
    auto batch = with_keys(input.batch.consolidated(), out);
    if (!batch) return std::move(batch).error();
    if (batch->is_empty()) return {};
    if (auto taken = arrivals_.take(*batch); !taken) return taken;
    data::BatchBuilder changes(schema());
    for (const Arrivals::Change& change : arrivals_.changes()) give(*batch, change, changes);
    Arrivals::Totals totals = arrivals_.totals();
    for (const std::uint32_t row : arrivals_.coming()) {
      const std::uint64_t number = ++totals.given;
      ++totals.rows;
      arrivals_.keep(row, number);
      give(*batch, {row, 1, number}, changes);
    }
    if (auto set = arrivals_.set_totals(totals); !set) return set;
    out.emit(changes.finish());
    return {};
  }

 private:
  using Arrivals = internal::Arrivals;

  /// The rows that have a key.
  Result<data::ChangeBatch> with_keys(data::ChangeBatch batch, Output& out) const {
    const data::Column& keys = batch.column(key_);
    if (!keys.has_nulls()) return batch;
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < batch.size(); ++row) {
      if (!keys.is_null(row)) {
        rows.push_back(row);
      } else if (out.row_error_policy() == RowErrorPolicy::fail) {
        return Error(Errc::row_error, "'" + (*schema())[key_].name + "': " +
                                          make_error_code(data::Errc::null_not_allowed).message() +
                                          " in row " + internal::describe_row(batch, row));
      } else {
        ++out.counts().row_errors;
      }
    }
    return batch.take(rows);
  }

  static void give(const data::ChangeBatch& batch, const Arrivals::Change& change,
                   data::BatchBuilder& changes) {
    const std::size_t columns = batch.columns().size();
    for (std::size_t index = 0; index < columns; ++index)
      changes.column(index).append_from(batch.column(index), change.row);
    changes.column(columns).push(change.number);
    changes.add_weight(change.weight);
  }

  std::size_t key_;
  Arrivals arrivals_;
};

bool can_be_key(data::Kind kind) {
  return kind == data::Kind::int64 || kind == data::Kind::uint64 || kind == data::Kind::timestamp ||
         kind == data::Kind::date;
}

}  // namespace

Result<std::unique_ptr<Operator>> Series::make(std::span<const data::SchemaRef> inputs,
                                               const Library& /*library*/) const {
  auto column = inputs[0]->index_of(key);
  if (!column) return std::move(column).error();
  std::vector<data::Field> fields = inputs[0]->fields();
  if (!can_be_key(fields[*column].type.kind)) {
    return Error(data::Errc::type_mismatch,
                 "'" + key +
                     "' is the key of a series, so it must be int64, uint64, timestamp or "
                     "date, not " +
                     to_string(fields[*column].type));
  }
  fields[*column].is_nullable = false;
  fields.push_back({options.sequence, data::Kind::uint64, false});
  auto schema = data::Schema::make(std::move(fields), {key, options.sequence});
  if (!schema) return std::move(schema).error();
  return std::make_unique<SeriesOperator>(std::make_shared<const data::Schema>(*std::move(schema)),
                                          inputs[0], *column);
}

}  // namespace weir::flow::operators
