#include <weir/tests/flow/operator/support/random_plan.hpp>

#include <string>

#include <weir/flow/operator/extend.hpp>
#include <weir/flow/operator/filter.hpp>
#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/map.hpp>
#include <weir/flow/operator/source.hpp>

namespace weir::flow::operators::test {
namespace {

using data::col;
using data::Expression;

const data::Schema& schema_of(const Plan& plan, data::SchemaRef& keeps) {
  keeps = Graph::make(plan).value()->schema();
  return *keeps;
}

bool is_number(data::DataType type) {
  return type == data::Kind::int64 || type == data::Kind::uint64 || type == data::Kind::float64;
}

}  // namespace

Plan RandomPlan::make(std::size_t depth) {
  if (depth == 0 || random_.one_in(6)) {
    const RandomTable& table = tables_[random_.below(tables_.size())];
    return from(table.name(), table.schema());
  }
  if (!made_.empty() && random_.one_in(6)) return made_[random_.below(made_.size())];
  Plan plan = step(make(depth - 1), depth);
  made_.push_back(plan);
  return plan;
}

Plan RandomPlan::step(const Plan& input, std::size_t depth) {
  switch (random_.below(5)) {
    case 0: return filter(input);
    case 1: return map(input);
    case 2: return extend(input);
    case 3: return input.distinct();
    default: {
      // Both have the same types only if one is made of the other.
      std::vector<Plan> others{filter(input)};
      if (random_.one_in(2)) others.push_back(depth > 1 ? input.distinct() : input);
      return input.append(std::move(others));
    }
  }
}

Plan RandomPlan::filter(const Plan& input) {
  data::SchemaRef keeps;
  return input.filter(condition(schema_of(input, keeps)));
}

Plan RandomPlan::map(const Plan& input) {
  data::SchemaRef keeps;
  const data::Schema& schema = schema_of(input, keeps);
  std::vector<NamedExpression> columns;
  for (std::uint64_t count = random_.below(4) + 1; count > 0; --count)
    columns.push_back({"m" + std::to_string(count), value(schema)});
  return input.map(std::move(columns));
}

Plan RandomPlan::extend(const Plan& input) {
  data::SchemaRef keeps;
  const data::Schema& schema = schema_of(input, keeps);
  return input.extend({{"e" + std::to_string(schema.size()), value(schema)}});
}

Expression RandomPlan::condition(const data::Schema& schema) {
  const data::Field& field = schema[random_.below(schema.size())];
  switch (random_.below(5)) {
    case 0: return is_null(col(field.name));
    case 1: return !is_null(col(field.name));
    case 2: return col(field.name) == random_.value(field.type, false);
    case 3: return col(field.name) <= col(field.name);
    default: return col(field.name) > random_.value(field.type, false);
  }
}

Expression RandomPlan::value(const data::Schema& schema) {
  const data::Field& field = schema[random_.below(schema.size())];
  if (!is_number(field.type) || random_.one_in(2)) return col(field.name);
  switch (random_.below(3)) {
    case 0: return col(field.name) + col(field.name);  // may overflow
    case 1: return col(field.name) / col(field.name);  // may divide by zero
    default: return data::cast(col(field.name), data::Kind::text);
  }
}

std::string describe(const Plan& plan) {
  const OperatorSpec& spec = plan.spec();
  const auto list = [](const std::vector<NamedExpression>& columns) {
    std::string text;
    for (const auto& [name, value] : columns) text += " " + name + "=" + to_string(value);
    return text;
  };
  std::string text(spec.name());
  if (const auto* source = dynamic_cast<const Source*>(&spec))
    text += " " + source->source + data::to_string(*source->schema);
  if (const auto* filter = dynamic_cast<const Filter*>(&spec))
    text += " " + to_string(filter->condition);
  if (const auto* map = dynamic_cast<const Map*>(&spec)) text += list(map->columns);
  if (const auto* extend = dynamic_cast<const Extend*>(&spec)) text += list(extend->columns);
  for (const Plan& input : plan.node().inputs) text += " [" + describe(input) + "]";
  return text;
}

}  // namespace weir::flow::operators::test
