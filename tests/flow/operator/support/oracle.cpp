#include <weir/tests/flow/operator/support/oracle.hpp>

#include <optional>
#include <stdexcept>

#include <weir/flow/operator/aggregate.hpp>
#include <weir/flow/operator/append.hpp>
#include <weir/flow/operator/distinct.hpp>
#include <weir/flow/operator/extend.hpp>
#include <weir/flow/operator/filter.hpp>
#include <weir/flow/operator/gate.hpp>
#include <weir/flow/operator/graph.hpp>
#include <weir/flow/operator/join.hpp>
#include <weir/flow/operator/map.hpp>
#include <weir/flow/operator/ring_buffer.hpp>
#include <weir/flow/operator/row_number.hpp>
#include <weir/flow/operator/series.hpp>
#include <weir/flow/operator/source.hpp>
#include <weir/flow/operator/top.hpp>
#include <weir/flow/operator/window.hpp>
#include <weir/tests/flow/operator/support/oracle_aggregate.hpp>
#include <weir/tests/flow/operator/support/oracle_join.hpp>
#include <weir/tests/flow/operator/support/oracle_ordered.hpp>
#include <weir/tests/flow/operator/support/oracle_window.hpp>

namespace weir::flow::operators::test {
namespace {

struct Relation {
  data::SchemaRef schema;
  Rows rows;
};

/// None if one of them cannot be computed.
std::optional<Row> compute(const std::vector<NamedExpression>& columns, const Relation& input,
                           const Row& row) {
  Row computed;
  for (const NamedExpression& column : columns) {
    auto value = try_evaluate(column.value, input.schema, row);
    if (!value) return std::nullopt;
    computed.push_back(*std::move(value));
  }
  return computed;
}

Rows filtered(const Filter& filter, const Relation& input) {
  Rows rows;
  for (const auto& [row, weight] : input.rows) {
    const auto value = try_evaluate(filter.condition, input.schema, row);
    if (value && *value == data::Value(true)) add(rows, row, weight);
  }
  return rows;
}

Rows mapped(const Map& map, const Relation& input) {
  Rows rows;
  for (const auto& [row, weight] : input.rows)
    if (const auto computed = compute(map.columns, input, row)) add(rows, *computed, weight);
  return rows;
}

Rows extended(const Extend& extend, const Relation& input) {
  Rows rows;
  for (const auto& [row, weight] : input.rows) {
    const auto computed = compute(extend.columns, input, row);
    if (!computed) continue;
    Row longer = row;
    longer.insert(longer.end(), computed->begin(), computed->end());
    add(rows, longer, weight);
  }
  return rows;
}

/// One operator.
Rows evaluate_step(const Plan& plan, const std::vector<Relation>& inputs,
                   const std::map<std::string, Rows>& sources) {
  const OperatorSpec& spec = plan.spec();
  if (const auto* source = dynamic_cast<const Source*>(&spec)) return sources.at(source->source);
  if (const auto* filter = dynamic_cast<const Filter*>(&spec)) return filtered(*filter, inputs[0]);
  if (const auto* map = dynamic_cast<const Map*>(&spec)) return mapped(*map, inputs[0]);
  if (const auto* extend = dynamic_cast<const Extend*>(&spec)) return extended(*extend, inputs[0]);
  if (const auto* aggregate = dynamic_cast<const Aggregate*>(&spec))
    return test::evaluate(*aggregate, inputs[0].rows, inputs[0].schema, RowErrorPolicy::drop);
  if (const auto* join = dynamic_cast<const Join*>(&spec)) {
    return test::evaluate(*join, inputs[0].rows, inputs[0].schema, inputs[1].rows,
                          inputs[1].schema);
  }
  if (const auto* top = dynamic_cast<const Top*>(&spec))
    return test::evaluate(*top, inputs[0].rows, inputs[0].schema);
  if (const auto* number = dynamic_cast<const RowNumber*>(&spec))
    return test::evaluate(*number, inputs[0].rows, inputs[0].schema);
  if (const auto* window = dynamic_cast<const Window*>(&spec))
    return test::evaluate(*window, inputs[0].rows, inputs[0].schema);
  Rows rows;
  if (dynamic_cast<const Distinct*>(&spec) != nullptr) {
    for (const auto& [row, weight] : inputs[0].rows) rows.emplace(row, 1);
    return rows;
  }
  if (dynamic_cast<const Append*>(&spec) != nullptr) {
    for (const Relation& input : inputs)
      for (const auto& [row, weight] : input.rows) add(rows, row, weight);
    return rows;
  }
  throw std::logic_error("the oracle does not know " + std::string(spec.name()));
}

}  // namespace

Rows evaluate(const Plan& plan, const std::map<std::string, Rows>& sources) {
  std::vector<Relation> inputs;
  for (const Plan& input : plan.node().inputs)
    inputs.push_back({Graph::make(input).value()->schema(), evaluate(input, sources)});
  return evaluate_step(plan, inputs, sources);
}

Rows History::next(const std::map<std::string, Rows>& sources) {
  std::map<const Plan::Node*, Rows> known;
  return evaluate(plan_, sources, known);
}

Rows History::evaluate(const Plan& plan, const std::map<std::string, Rows>& sources,
                       std::map<const Plan::Node*, Rows>& known) {
  const Plan::Node* node = &plan.node();
  if (const auto at = known.find(node); at != known.end()) return at->second;
  std::vector<Relation> inputs;
  for (const Plan& input : plan.node().inputs)
    inputs.push_back({Graph::make(input).value()->schema(), evaluate(input, sources, known)});
  Rows rows;
  if (const auto* gate = dynamic_cast<const Gate*>(&plan.spec())) {
    rows = latches_[node].next(*gate, inputs[0].rows, inputs[0].schema);
  } else if (const auto* ring = dynamic_cast<const RingBuffer*>(&plan.spec())) {
    ArrivalHistory& history = arrivals_.try_emplace(node, ring->capacity).first->second;
    for (const auto& [number, row] : history.next(inputs[0].rows, *inputs[0].schema)) {
      Row numbered{number};
      numbered.insert(numbered.end(), row.begin(), row.end());
      add(rows, numbered, 1);
    }
  } else if (const auto* series = dynamic_cast<const Series*>(&plan.spec())) {
    const std::size_t key = inputs[0].schema->index_of(series->key).value();
    std::erase_if(inputs[0].rows, [&](const auto& row) { return row.first[key].is_null(); });
    ArrivalHistory& history = arrivals_.try_emplace(node, std::nullopt).first->second;
    for (const auto& [number, row] : history.next(inputs[0].rows, *inputs[0].schema)) {
      Row numbered = row;
      numbered.emplace_back(number);
      add(rows, numbered, 1);
    }
  } else if (const auto* window = dynamic_cast<const Window*>(&plan.spec());
             window != nullptr && window->closes()) {
    Closing& closing = closing_.try_emplace(node, *window, inputs[0].schema).first->second;
    Rows changes = inputs[0].rows;
    for (const auto& [row, weight] : closing.before) add(changes, row, -weight);
    closing.history.apply(changes);
    closing.before = inputs[0].rows;
    rows = closing.history.rows();
  } else {
    rows = evaluate_step(plan, inputs, sources);
  }
  return known[node] = std::move(rows);
}

}  // namespace weir::flow::operators::test
