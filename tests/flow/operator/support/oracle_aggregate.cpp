#include <weir/tests/flow/operator/support/oracle_aggregate.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include <boost/multiprecision/cpp_int.hpp>

#include <weir/flow/data/compiled_expression.hpp>

namespace weir::flow::operators::test {
namespace {

using boost::multiprecision::cpp_int;
using data::Value;

/// One row of a group, as an aggregate sees it.
struct Member {
  Value value;
  Value order;
  data::Weight weight;
};
using Members = std::vector<Member>;

cpp_int exact(const Value& value) {
  switch (value.type()->kind) {
    case data::Kind::int64: return value.as<std::int64_t>();
    case data::Kind::uint64: return value.as<std::uint64_t>();
    case data::Kind::duration: return value.as<std::chrono::microseconds>().count();
    default: return value.as<data::Decimal>().coefficient;
  }
}

Value integer_result(const cpp_int& number, data::DataType type) {
  const auto is_between = [&number](const cpp_int& least, const cpp_int& greatest) {
    return number >= least && number <= greatest;
  };
  using Limits = std::numeric_limits<std::int64_t>;
  switch (type.kind) {
    case data::Kind::uint64:
      if (!is_between(0, std::numeric_limits<std::uint64_t>::max())) return {};
      return number.convert_to<std::uint64_t>();
    case data::Kind::decimal:
      if (!is_between(-data::coefficient_max, data::coefficient_max)) return {};
      return data::Decimal{number.convert_to<data::Int128>(), type.scale};
    default: break;
  }
  if (!is_between(Limits::min(), Limits::max())) return {};
  const auto small = number.convert_to<std::int64_t>();
  return type.kind == data::Kind::duration ? Value(std::chrono::microseconds(small)) : Value(small);
}

/// A finite double in units of the least one.
cpp_int units_of(double number) {
  const auto bits = std::bit_cast<std::uint64_t>(std::fabs(number));
  const std::uint64_t fraction = bits & 0xFFFFFFFFFFFFF;
  const cpp_int units = bits >> 52 == 0 ? cpp_int(fraction)
                                        : (cpp_int(fraction) + (cpp_int(1) << 52))
                                              << static_cast<int>((bits >> 52) - 1);
  return std::signbit(number) ? cpp_int(-units) : units;
}

/// Rounded to 53 bits, half to even; divided by `divisor` before its exponent is applied.
double rounded(const cpp_int& units, double divisor) {
  const cpp_int size = abs(units);
  const int dropped = size == 0 ? 0 : std::max(0, static_cast<int>(msb(size)) - 52);
  const cpp_int unit = cpp_int(1) << dropped;
  cpp_int kept = size / unit;
  const cpp_int rest = 2 * (size % unit);
  if (rest > unit || (rest == unit && kept % 2 == 1)) ++kept;
  const double digits = kept.convert_to<double>() / divisor;
  const double number = std::ldexp(digits, dropped - 1074);
  return units < 0 ? -number : number;
}

Value float_result(const Members& members, double divisor) {
  cpp_int units = 0;
  bool has_nan = false;
  bool has_positive = false;
  bool has_negative = false;
  for (const auto& [value, order, weight] : members) {
    const double number = value.as<double>();
    if (std::isfinite(number)) units += units_of(number) * weight;
    has_nan |= std::isnan(number);
    has_positive |= std::isinf(number) && number > 0;
    has_negative |= std::isinf(number) && number < 0;
  }
  if (has_nan || (has_positive && has_negative)) return std::numeric_limits<double>::quiet_NaN();
  if (has_positive) return std::numeric_limits<double>::infinity();
  if (has_negative) return -std::numeric_limits<double>::infinity();
  return rounded(units, divisor);
}

Value sum_of(const Members& members, data::DataType type) {
  if (type == data::Kind::float64) return float_result(members, 1);
  cpp_int sum = 0;
  for (const Member& member : members) sum += exact(member.value) * member.weight;
  return integer_result(sum, type);
}

Value mean_of(const Members& members, data::DataType type) {
  cpp_int sum = 0;
  std::int64_t count = 0;
  for (const Member& member : members) count += member.weight;
  if (type == data::Kind::float64) return float_result(members, static_cast<double>(count));
  for (const Member& member : members) sum += exact(member.value) * member.weight;
  if (type == data::Kind::int64 || type == data::Kind::uint64)
    return static_cast<double>(sum.convert_to<data::Int128>()) / static_cast<double>(count);
  if (type.kind == data::Kind::decimal) {
    const int scale = std::min(38, type.scale + 6);
    sum *= pow(cpp_int(10), static_cast<unsigned>(scale - type.scale));
    type = data::DataType::decimal(static_cast<std::uint8_t>(scale));
  }
  const cpp_int size = (2 * abs(sum) + count) / (2 * cpp_int(count));
  return integer_result(sum < 0 ? cpp_int(-size) : size, type);
}

Value compute(AggregateFunction function, Members members, std::optional<data::DataType> type) {
  using enum AggregateFunction;
  const bool is_ordered = function == first || function == last;
  if (type && !is_ordered)
    std::erase_if(members, [](const Member& member) { return member.value.is_null(); });
  if (is_ordered)
    std::erase_if(members, [](const Member& member) { return member.order.is_null(); });
  if (function == count) {
    std::int64_t rows = 0;
    for (const Member& member : members) rows += member.weight;
    return rows;
  }
  if (function == count_distinct) {
    std::set<Value> values;
    for (const Member& member : members) values.insert(member.value);
    return static_cast<std::int64_t>(values.size());
  }
  if (members.empty()) return {};
  if (function == sum) return sum_of(members, *type);
  if (function == avg) return mean_of(members, *type);
  std::ranges::sort(members, [](const Member& a, const Member& b) {
    return std::pair(a.order, a.value) < std::pair(b.order, b.value);
  });
  return function == min || function == first ? members.front().value : members.back().value;
}

std::optional<data::DataType> type_of(const std::optional<data::Expression>& expression,
                                      const data::SchemaRef& schema) {
  if (!expression) return std::nullopt;
  return data::CompiledExpression::compile(*expression, *schema).value().type();
}

}  // namespace

Rows evaluate(const Aggregate& spec, const Rows& input, const data::SchemaRef& input_schema,
              RowErrorPolicy overflows) {
  std::map<Row, Rows> groups;
  for (const auto& [row, weight] : input) {
    Row key;
    for (const NamedExpression& group : spec.groups)
      key.push_back(evaluate(group.value, input_schema, row));
    groups[key][row] = weight;
  }
  Rows result;
  for (const auto& [key, rows] : groups) {
    Row out = key;
    bool has_overflow = false;
    for (const AggregateColumn& column : spec.columns) {
      Members members;
      for (const auto& [row, weight] : rows) {
        if (column.condition && !is_true(*column.condition, input_schema, row)) continue;
        members.push_back({column.value ? evaluate(*column.value, input_schema, row) : Value(),
                           column.order ? evaluate(*column.order, input_schema, row) : Value(),
                           weight});
      }
      out.push_back(compute(column.function, members, type_of(column.value, input_schema)));
      const bool is_sum =
          column.function == AggregateFunction::sum || column.function == AggregateFunction::avg;
      const auto has_value = [](const Member& member) { return !member.value.is_null(); };
      has_overflow |= is_sum && out.back().is_null() && std::ranges::any_of(members, has_value);
    }
    if (!has_overflow || overflows != RowErrorPolicy::drop) add(result, out, 1);
  }
  return result;
}

}  // namespace weir::flow::operators::test
