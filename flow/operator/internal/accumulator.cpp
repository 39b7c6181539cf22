#include <weir/flow/operator/internal/accumulator.hpp>

#include <weir/flow/data/errc.hpp>

namespace weir::flow::operators::internal {

std::string GroupedRows::describe(std::size_t group) const {
  std::string text;
  for (const data::ColumnRef& column : key_columns)
    text += (text.empty() ? "" : ", ") + to_string(column->value(first_row[group]));
  return "(" + text + ")";
}

Error GroupedRows::unknown_row(std::size_t group) const {
  return Error(Errc::unknown_row, "a row of group " + describe(group) + " went that had not come");
}

void GroupedRows::clear() noexcept {
  group_of.clear();
  first_row.clear();
  keys.clear();
  before.clear();
  after.clear();
  states.clear();
  key_columns.clear();
}

Result<std::unique_ptr<Accumulator>> make_accumulator(const AccumulatorInput& input) {
  using enum AggregateFunction;
  switch (input.function) {
    case count: return make_count(input);
    case sum:
    case avg:
      if (input.value->type == data::Kind::float64) return make_float_sum(input);
      if (auto made = make_sum(input)) return made;
      return Error(data::Errc::type_mismatch, std::string("only numbers and durations have a ") +
                                                  (input.function == sum ? "sum" : "mean") +
                                                  ", not " + to_string(input.value->type));
    case count_distinct:
    case min:
    case max:
    case first:
    case last: break;
  }
  return make_multiset(input);
}

}  // namespace weir::flow::operators::internal
