#include <weir/flow/operator/keep.hpp>

#include <optional>
#include <string>
#include <vector>

#include <weir/flow/operator/internal/ordered_rows.hpp>
#include <weir/flow/operator/internal/row_bytes.hpp>
#include <weir/flow/operator/internal/window_order.hpp>

namespace weir::flow::operators {
namespace {

using std::chrono::microseconds;

constexpr std::int64_t time_min = data::timestamp_min.time_since_epoch().count();
constexpr std::int64_t time_max = data::timestamp_max.time_since_epoch().count();

/// State:
///
///     gone   no key: the time up to which rows have gone, a timestamp as in a key
///     rows   one group; item: the time, then all columns; value: how often it is there
class KeepOperator final : public Operator {
 public:
  KeepOperator(data::SchemaRef schema, internal::WindowOrder time, const Keep& keep)
      : Operator(std::move(schema)),
        time_(std::move(time)),
        age_(keep.age),
        options_(keep.options) {}

  void open(State& state) override {
    gone_ = &state.add_table();
    rows_ = &state.add_groups();
  }
  std::optional<microseconds> tick_period() const override { return options_.tick_period; }

  Result<> apply(const Input& input, Output& out) override {
    auto timed = time_.compute(input.batch.consolidated(), out);
    if (!timed) return std::move(timed).error();
    auto gone_until = current();
    if (!gone_until) return std::move(gone_until).error();
    const data::ChangeBatch& batch = timed->batch;
    GroupTable::Group rows = rows_->find({});
    std::vector<std::uint32_t> young;
    for (std::uint32_t row = 0; row < batch.size(); ++row) {
      if (timed->order->values<std::int64_t>()[row] <= *gone_until) {
        if (batch.weights()[row] > 0) ++out.counts().late_rows;
        continue;
      }
      bytes_.clear();
      data::append_ordered(*timed->order, row, bytes_);
      internal::append_columns(batch.columns(), row, bytes_);
      if (auto kept = internal::add_weight(rows, bytes_, batch, row); !kept) return kept;
      young.push_back(row);
    }
    out.emit(young.size() == batch.size() ? batch : batch.take(young));
    return {};
  }
  Result<> tick(data::Timestamp now, Output& out) override {
    return expire((now.time_since_epoch() - age_).count(), out);
  }
  Result<> watermark(data::Timestamp time, Output& out) override { return tick(time, out); }

 private:
  Result<std::int64_t> current() {
    auto slot = gone_->find({});
    if (!slot) return std::move(slot).error();
    if (!slot->exists()) return time_min - 1;
    std::string_view bytes = slot->value();
    data::Column time(data::Kind::timestamp);
    if (!data::take_ordered(bytes, time) || !bytes.empty() || time.has_nulls())
      return Error(Errc::corruption, "state: the time up to which rows have gone");
    return time.values<std::int64_t>()[0];
  }

  /// Rows whose time is not after `until`, the oldest first, as many as may go at once.
  Result<> expire(std::int64_t until, Output& out) {
    data::BatchBuilder given(schema());
    std::vector<std::string> gone;
    std::optional<std::int64_t> last;
    GroupTable::Group rows = rows_->find({});
    auto cursor = rows.scan();
    for (;;) {
      auto more = cursor.next();
      if (!more) return std::move(more).error();
      if (!*more) break;
      std::string_view item = cursor.item();
      data::Column time(data::Kind::timestamp);
      if (!data::take_ordered(item, time)) return Error(Errc::corruption, "state: a time");
      const std::int64_t at = time.values<std::int64_t>()[0];
      if (at > until || (gone.size() >= options_.rows_max && at != last)) break;
      auto weight = internal::weight_of(cursor.value());
      if (!weight) return std::move(weight).error();
      if (!internal::take_row(item, schema()->size(), given) || !item.empty())
        return Error(Errc::corruption, "state: a row that is kept");
      given.add_weight(-*weight);
      gone.emplace_back(cursor.item());
      last = at;
    }
    if (!last) return {};
    for (const std::string& item : gone) rows.remove(item);
    out.emit(given.finish());
    return set_gone(*last);
  }

  Result<> set_gone(std::int64_t until) {
    auto slot = gone_->find({});
    if (!slot) return std::move(slot).error();
    std::string& bytes = slot->edit();
    bytes = internal::time_bytes(until);
    return {};
  }

  internal::WindowOrder time_;
  microseconds age_;
  KeepOptions options_;
  StateTable* gone_ = nullptr;
  GroupTable* rows_ = nullptr;
  std::string bytes_;  // to use its memory again
};

}  // namespace

Result<std::unique_ptr<Operator>> Keep::make(std::span<const data::SchemaRef> inputs,
                                             const Library& library) const {
  if (auto checked = internal::check_length("the age of rows", age); !checked)
    return std::move(checked).error();
  if (auto checked = internal::check_length("the period of ticks", options.tick_period); !checked)
    return std::move(checked).error();
  if (options.rows_max == 0) return Error(Errc::invalid_argument, "a row at least must go at once");
  auto checked = internal::WindowOrder::make_time(time, {time_min, time_max}, *inputs[0], library);
  if (!checked) return std::move(checked).error();
  return std::make_unique<KeepOperator>(inputs[0], *std::move(checked), *this);
}

}  // namespace weir::flow::operators
