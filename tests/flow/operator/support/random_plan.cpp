#include <weir/tests/flow/operator/support/random_plan.hpp>

#include <chrono>
#include <optional>
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
  if (kind_ == PlanKind::historical && random_.one_in(4)) return historical(input);
  switch (random_.below(10)) {
    case 0: return filter(input);
    case 1: return map(input);
    case 2: return extend(input);
    case 3: return input.distinct();
    case 4:
    case 5: return aggregate(input);
    case 6: return join(input, depth);
    case 7: return ordered(input);
    case 8: return window(input);
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

AggregateColumn RandomPlan::aggregate_column(const data::Schema& schema) {
  const data::Field& field = schema[random_.below(schema.size())];
  const bool is_number = data::is_numeric(field.type.kind) || field.type == data::Kind::duration;
  switch (random_.below(8)) {
    case 0: return count();
    case 1: return count(col(field.name));
    case 2: return count_distinct(col(field.name));
    case 3: return is_number ? sum(col(field.name)) : min(col(field.name));
    case 4: return is_number ? avg(col(field.name)) : max(col(field.name));
    case 5: return max(col(field.name));
    case 6: return first(col(field.name), by(col(column_of(schema))));
    default: return last(col(field.name), by(col(column_of(schema))));
  }
}

Plan RandomPlan::aggregate(const Plan& input) {
  data::SchemaRef keeps;
  const data::Schema& schema = schema_of(input, keeps);
  std::vector<AggregateColumn> columns;
  for (std::uint64_t count = random_.below(3) + 1; count > 0; --count) {
    AggregateColumn column = aggregate_column(schema).as("a" + std::to_string(count));
    columns.push_back(random_.one_in(3) ? column.filter(condition(schema)) : column);
  }
  if (random_.one_in(4)) return input.aggregate(std::move(columns));
  std::vector<GroupColumn> keys{{"g", col(column_of(schema))}};
  if (random_.one_in(3)) keys.emplace_back("h", col(column_of(schema)));
  return input.group_by(std::move(keys)).aggregate(std::move(columns));
}

Plan RandomPlan::join(const Plan& input, std::size_t depth) {
  data::SchemaRef keeps_left;
  data::SchemaRef keeps_right;
  const data::Schema& left = schema_of(input, keeps_left);
  const Plan other = random_.one_in(3) ? input : make(depth - 1);
  const data::Schema& right = schema_of(other, keeps_right);
  std::vector<JoinKey> keys;
  const std::size_t keys_max = 1 + random_.below(2);
  for (int attempt = 0; attempt < 20 && keys.size() < keys_max; ++attempt) {
    const data::Field& a = left[random_.below(left.size())];
    const data::Field& b = right[random_.below(right.size())];
    if (a.type == b.type) keys.emplace_back(JoinColumn(a.name), JoinColumn(b.name));
  }
  if (keys.empty()) return filter(input);
  JoinOptions options{.on = std::move(keys),
                      .kind = static_cast<JoinKind>(random_.below(6)),
                      .left_prefix = "x",
                      .right_prefix = "y"};
  if (random_.one_in(3)) options.condition = !is_null(col("x" + column_of(left)));
  return input.join(other, std::move(options));
}

Plan RandomPlan::ordered(const Plan& input) {
  data::SchemaRef keeps;
  const data::Schema& schema = schema_of(input, keeps);
  OrderOptions options;
  if (random_.one_in(2)) options.per.push_back(column_of(schema));
  if (random_.one_in(4)) options.per.push_back(column_of(schema));
  for (std::uint64_t count = random_.below(2) + 1; count > 0; --count)
    options.order.push_back(random_.one_in(2) ? ascending(column_of(schema))
                                              : descending(column_of(schema)));
  if (random_.one_in(3))
    return input.row_number("n" + std::to_string(schema.size()), std::move(options));
  return input.top(1 + random_.below(4), std::move(options));
}

/// By a column of times, if there is one; by the number of rows otherwise.
Plan RandomPlan::window(const Plan& input) {
  using namespace std::chrono_literals;
  data::SchemaRef keeps;
  const data::Schema& schema = schema_of(input, keeps);
  if (schema.find("window_start")) return filter(input);
  const std::string column = column_of(schema);
  const data::DataType type = schema[*schema.find(column)].type;
  const bool is_time = type == data::Kind::timestamp || type == data::Kind::date;
  if (!is_time) {
    switch (random_.below(3)) {
      case 0: return input.window(tumbling_rows(col(column), 1 + random_.below(4)));
      case 1: return input.window(rolling_rows(col(column), random_.below(4)));
      default:
        return input.window(
            hopping_rows(col(column), {.rows = 1 + random_.below(4), .hop = 1 + random_.below(4)}));
    }
  }
  switch (random_.below(5)) {
    case 0: return input.window(tumbling(col(column), 24h));
    case 1: return input.window(hopping(col(column), {.size = 3h, .hop = 1h}));
    case 2: return input.window(session(col(column), 1s));
    case 3: return input.window(sliding(col(column), 1s));
    default: return input.window(rolling(col(column), 1s));
  }
}

/// Windows of any form that close by the times of rows, by a column of times if there is one.
Plan RandomPlan::closing(const Plan& input) {
  using namespace std::chrono_literals;
  data::SchemaRef keeps;
  const data::Schema& schema = schema_of(input, keeps);
  std::optional<std::string> column;
  for (const data::Field& field : schema.fields())
    if (field.type == data::Kind::timestamp || field.type == data::Kind::date) column = field.name;
  if (schema.find("window_start") || !column) return filter(input);
  const auto emit = static_cast<WindowEmit>(random_.below(2));
  // Times are centuries apart, or the same.
  const std::chrono::hours lateness(random_.one_in(2) ? 0 : 24 * 365 * random_.below(1'000));
  WindowGroups groups{.per = {}, .lateness = lateness, .emit = emit};
  if (random_.one_in(3)) groups.per.push_back(column_of(schema));
  const data::Expression time = col(*column);
  switch (random_.below(7)) {
    case 0: return input.window(tumbling(time, 24h, {.lateness = lateness, .emit = emit}));
    case 1: return input.window(session(time, 24h, groups));
    case 2: return input.window(tumbling_rows(time, 1 + random_.below(4), groups));
    case 3:
      return input.window(hopping_rows(time, {.rows = 3, .hop = 1 + random_.below(4)}, groups));
    case 4: return input.window(sliding(time, 24h, groups));
    case 5: return input.window(rolling_rows(time, random_.below(4), groups));
    default: return input.window(rolling(time, 24h, groups));
  }
}

/// A gate, where there is a primary key; a ring buffer; a series, where a column can be its key;
/// windows that close.
Plan RandomPlan::historical(const Plan& input) {
  data::SchemaRef keeps;
  const data::Schema& schema = schema_of(input, keeps);
  const std::string suffix = std::to_string(schema.size());
  const auto choice = random_.below(5);
  if (choice == 0 && !schema.primary_key().empty()) return input.gate(condition(schema));
  if (choice == 1) {
    for (const data::Field& field : schema.fields()) {
      const data::Kind kind = field.type.kind;
      const bool can_be_key = kind == data::Kind::int64 || kind == data::Kind::uint64 ||
                              kind == data::Kind::timestamp || kind == data::Kind::date;
      if (can_be_key && random_.one_in(2))
        return input.series(field.name, {.sequence = "s" + suffix});
    }
  }
  if (choice > 2) return closing(input);
  return input.ring_buffer(1 + random_.below(12), {.position = "p" + suffix});
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
