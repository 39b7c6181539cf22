#include <weir/flow/operator/internal/window_order.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>

#include <weir/flow/operator/internal/projection.hpp>

namespace weir::flow::operators::internal {
namespace {

data::ColumnRef midnights(const data::Column& dates) {
  auto times = std::make_shared<data::Column>(data::Kind::timestamp);
  const auto from = dates.values<std::int32_t>();
  const auto to = times->resize<std::int64_t>(from.size());
  constexpr std::int64_t day = std::chrono::microseconds(std::chrono::days(1)).count();
  for (std::size_t row = 0; row < from.size(); ++row) to[row] = from[row] * day;
  times->nulls() = dates.nulls();
  return times;
}

}  // namespace

Result<> check_length(const char* what, std::chrono::microseconds length) {
  if (length.count() > 0 && length <= data::timestamp_max - data::timestamp_min) return {};
  return Error(Errc::invalid_argument,
               std::string(what) + " must be more than nothing and less than 10'000 years, not " +
                   data::to_string(length));
}

Result<WindowOrder> WindowOrder::make_time(const data::Expression& time, TimeRange range,
                                           const data::Schema& schema, const Library& library) {
  auto compiled = data::CompiledExpression::compile(time, schema, *library.functions);
  if (!compiled) return std::move(compiled).error();
  const data::DataType type = compiled->type();
  if (type != data::Kind::timestamp && type != data::Kind::date) {
    return Error(data::Errc::type_mismatch, to_string(time) +
                                                " is a time, so it must be timestamp or date, "
                                                "not " +
                                                to_string(type));
  }
  return WindowOrder(*std::move(compiled), to_string(time), true, range);
}

Result<WindowOrder> WindowOrder::make(const data::Expression& order, const data::Schema& schema,
                                      const Library& library) {
  auto compiled = data::CompiledExpression::compile(order, schema, *library.functions);
  if (!compiled) return std::move(compiled).error();
  return WindowOrder(*std::move(compiled), to_string(order), false, {});
}

data::DataType WindowOrder::type() const noexcept {
  return is_time_ ? data::DataType(data::Kind::timestamp) : expression_.type();
}

Result<WindowOrder::Ordered> WindowOrder::compute(const data::ChangeBatch& batch,
                                                  Output& out) const {
  auto [column, errors] = expression_.evaluate(batch);
  const bool is_date = is_time_ && column->type() == data::Kind::date;
  Ordered all{batch, is_date ? midnights(*column) : column};
  if (!is_time_ && !column->has_nulls()) return all;
  std::vector<std::uint32_t> bad;
  for (std::uint32_t row = 0; row < batch.size(); ++row)
    if (all.order->is_null(row) || is_out_of_range(*all.order, row)) bad.push_back(row);
  if (bad.empty()) return all;
  return without(bad, all, errors, out);
}

bool WindowOrder::is_out_of_range(const data::Column& order, std::size_t row) const noexcept {
  if (!is_time_) return false;
  const std::int64_t time = order.values<std::int64_t>()[row];
  return time < range_.min || time > range_.max;
}

Result<WindowOrder::Ordered> WindowOrder::without(const std::vector<std::uint32_t>& bad,
                                                  const Ordered& all, const data::RowErrors& errors,
                                                  Output& out) const {
  const auto example = [&] {
    const std::uint32_t row = bad.front();
    const auto error = std::ranges::find(errors, row, &data::RowError::row);
    const data::Errc why = error != errors.end()     ? error->code
                           : all.order->is_null(row) ? data::Errc::null_not_allowed
                                                     : data::Errc::overflow;
    return Error(Errc::row_error, text_ + ": " + make_error_code(why).message() + " in row " +
                                      describe_row(all.batch, row));
  };
  if (out.row_error_policy() == RowErrorPolicy::fail) return example();
  out.add_row_errors(bad.size(), example);
  std::vector<std::uint32_t> rows(all.batch.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<std::uint32_t> good;
  std::ranges::set_difference(rows, bad, std::back_inserter(good));
  return Ordered{all.batch.take(good), std::make_shared<const data::Column>(all.order->take(good))};
}

}  // namespace weir::flow::operators::internal
