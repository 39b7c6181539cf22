#include <weir/flow/operator/ring_buffer.hpp>

#include <algorithm>
#include <vector>

#include <weir/flow/operator/internal/arrivals.hpp>
#include <weir/flow/operator/internal/row_bytes.hpp>

namespace weir::flow::operators {
namespace {

/// State, besides that of `Arrivals`:
///
///     rows   one group; item: the position, 8 bytes, the greatest first; value: all columns
class RingBufferOperator final : public Operator {
 public:
  RingBufferOperator(data::SchemaRef schema, data::SchemaRef input, std::uint64_t capacity)
      : Operator(std::move(schema)),
        input_(std::move(input)),
        capacity_(capacity),
        arrivals_(input_) {}

  void open(State& state) override {
    arrivals_.open(state);
    rows_ = &state.add_groups();
  }
  bool needs_each_version() const override { return true; }

  Result<> apply(const Input& input, Output& out) override {
    const data::ChangeBatch batch = input.batch.consolidated();
    if (batch.is_empty()) return {};
    if (auto taken = arrivals_.take(batch); !taken) return taken;
    data::BatchBuilder changes(schema());
    GroupTable::Group rows = rows_->find({});
    change(batch, rows, changes);
    Arrivals::Totals totals = arrivals_.totals();
    const std::span<const std::uint32_t> coming = arrivals_.coming();
    const std::uint64_t all = totals.rows + coming.size();
    const std::uint64_t excess = all > capacity_ ? all - capacity_ : 0;
    const std::uint64_t evicted = std::min(excess, totals.rows);
    if (auto done = evict(rows, evicted, changes); !done) return done;
    // Those that would have gone at once have had their positions.
    totals.given += excess - evicted;
    totals.rows = std::min(all, capacity_);
    for (const std::uint32_t row : coming.subspan(excess - evicted)) {
      const std::uint64_t position = ++totals.given;
      arrivals_.keep(row, position);
      keep(batch, {row, 1, position}, rows);
      give(batch.columns(), {row, 1, position}, changes);
    }
    if (auto set = arrivals_.set_totals(totals); !set) return set;
    out.emit(changes.finish().consolidated());
    return {};
  }

 private:
  using Arrivals = internal::Arrivals;

  /// What goes, and what becomes another.
  void change(const data::ChangeBatch& batch, GroupTable::Group& rows,
              data::BatchBuilder& changes) {
    const auto all = arrivals_.changes();
    for (std::size_t index = 0; index < all.size(); ++index) {
      const Arrivals::Change& one = all[index];
      give(batch.columns(), one, changes);
      const bool stays = index + 1 < all.size() && all[index + 1].number == one.number;
      if (one.weight > 0) {
        keep(batch, one, rows);
      } else if (!stays) {
        item_.clear();
        internal::append_number(one.number, item_);
        rows.remove(item_);
      }
    }
  }

  /// The oldest.
  Result<> evict(GroupTable::Group& rows, std::uint64_t count, data::BatchBuilder& changes) {
    std::vector<std::uint64_t> positions;
    data::BatchBuilder builder(input_);
    auto cursor = rows.scan();
    while (positions.size() < count) {
      auto more = cursor.next();
      if (!more) return std::move(more).error();
      std::string_view item = *more ? cursor.item() : std::string_view();
      std::string_view row = *more ? cursor.value() : std::string_view();
      const bool is_row = internal::take_number(item, positions.emplace_back()) && item.empty() &&
                          internal::take_row(row, input_->size(), builder) && row.empty();
      if (!is_row) return Error(Errc::corruption, "state: a row of a ring buffer");
      builder.add_weight(-1);
    }
    const data::ChangeBatch gone = builder.finish();
    for (std::uint32_t row = 0; row < positions.size(); ++row) {
      item_.clear();
      internal::append_number(positions[row], item_);
      rows.remove(item_);
      arrivals_.forget(gone.columns(), row, positions[row]);
      give(gone.columns(), {row, -1, positions[row]}, changes);
    }
    return {};
  }

  void keep(const data::ChangeBatch& batch, const Arrivals::Change& row, GroupTable::Group& rows) {
    item_.clear();
    internal::append_number(row.number, item_);
    bytes_.clear();
    internal::append_columns(batch.columns(), row.row, bytes_);
    rows.put(item_, bytes_);
  }

  static void give(const data::Columns& columns, const Arrivals::Change& row,
                   data::BatchBuilder& changes) {
    changes.column(0).push(row.number);
    for (std::size_t index = 0; index < columns.size(); ++index)
      changes.column(index + 1).append_from(*columns[index], row.row);
    changes.add_weight(row.weight);
  }

  data::SchemaRef input_;
  std::uint64_t capacity_;
  Arrivals arrivals_;
  GroupTable* rows_ = nullptr;
  // To use their memory again.
  std::string item_;
  std::string bytes_;
};

}  // namespace

Result<std::unique_ptr<Operator>> RingBuffer::make(std::span<const data::SchemaRef> inputs,
                                                   const Library& /*library*/) const {
  if (capacity == 0) return Error(Errc::invalid_argument, "there must be room for a row");
  std::vector<data::Field> fields{{options.position, data::Kind::uint64, false}};
  fields.insert(fields.end(), inputs[0]->fields().begin(), inputs[0]->fields().end());
  auto schema = data::Schema::make(std::move(fields), {options.position});
  if (!schema) return std::move(schema).error();
  return std::make_unique<RingBufferOperator>(
      std::make_shared<const data::Schema>(*std::move(schema)), inputs[0], capacity);
}

}  // namespace weir::flow::operators
