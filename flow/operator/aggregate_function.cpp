#include <weir/flow/operator/aggregate_function.hpp>

#include <utility>

namespace weir::flow::operators {
namespace {

const char* name_of(AggregateFunction function) noexcept {
  switch (function) {
    case AggregateFunction::count: return "count";
    case AggregateFunction::count_distinct: return "count_distinct";
    case AggregateFunction::sum: return "sum";
    case AggregateFunction::avg: return "avg";
    case AggregateFunction::min: return "min";
    case AggregateFunction::max: return "max";
    case AggregateFunction::first: return "first";
    case AggregateFunction::last: break;
  }
  return "last";
}

AggregateColumn of(AggregateFunction function, data::Expression value) {
  return {.function = function, .value = std::move(value)};
}

}  // namespace

AggregateColumn AggregateColumn::as(std::string column) const {
  AggregateColumn named = *this;
  named.name = std::move(column);
  return named;
}

AggregateColumn AggregateColumn::filter(data::Expression condition_too) const {
  AggregateColumn filtered = *this;
  filtered.condition = condition ? *condition && std::move(condition_too) : condition_too;
  return filtered;
}

std::string to_string(const AggregateColumn& column) {
  std::string text = std::string(name_of(column.function)) + "(";
  if (column.value) text += to_string(*column.value);
  if (column.order) text += " by " + to_string(*column.order);
  text += ")";
  if (column.condition) text += " where " + to_string(*column.condition);
  return text;
}

AggregateColumn count() { return {.function = AggregateFunction::count}; }
AggregateColumn count(data::Expression value) {
  return of(AggregateFunction::count, std::move(value));
}
AggregateColumn count_distinct(data::Expression value) {
  return of(AggregateFunction::count_distinct, std::move(value));
}
AggregateColumn sum(data::Expression value) { return of(AggregateFunction::sum, std::move(value)); }
AggregateColumn avg(data::Expression value) { return of(AggregateFunction::avg, std::move(value)); }
AggregateColumn min(data::Expression value) { return of(AggregateFunction::min, std::move(value)); }
AggregateColumn max(data::Expression value) { return of(AggregateFunction::max, std::move(value)); }

By by(data::Expression order) { return {std::move(order)}; }

AggregateColumn first(data::Expression value, By order) {
  return {.function = AggregateFunction::first,
          .value = std::move(value),
          .order = std::move(order.order)};
}
AggregateColumn last(data::Expression value, By order) {
  return {.function = AggregateFunction::last,
          .value = std::move(value),
          .order = std::move(order.order)};
}

}  // namespace weir::flow::operators
