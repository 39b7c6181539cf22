#include <weir/flow/operator/plan.hpp>

#include <weir/flow/operator/append.hpp>
#include <weir/flow/operator/apply.hpp>
#include <weir/flow/operator/distinct.hpp>
#include <weir/flow/operator/extend.hpp>
#include <weir/flow/operator/filter.hpp>
#include <weir/flow/operator/gate.hpp>
#include <weir/flow/operator/map.hpp>
#include <weir/flow/operator/row_number.hpp>
#include <weir/flow/operator/source.hpp>
#include <weir/flow/operator/top.hpp>

namespace weir::flow::operators {

Plan from(std::string source, data::SchemaRef schema) {
  return Plan::make(Source(std::move(source), std::move(schema)), {});
}

Plan Plan::filter(data::Expression condition) const {
  return make(Filter(std::move(condition)), {*this});
}

Plan Plan::map(std::vector<NamedExpression> columns) const {
  return make(Map(std::move(columns)), {*this});
}

Plan Plan::extend(std::vector<NamedExpression> columns) const {
  return make(Extend(std::move(columns)), {*this});
}

Plan Plan::gate(data::Expression condition) const {
  return make(Gate(std::move(condition)), {*this});
}

Plan Plan::distinct() const { return make(Distinct(), {*this}); }

Plan Plan::append(std::vector<Plan> others) const {
  others.insert(others.begin(), *this);
  return make(Append(), std::move(others));
}

Plan Plan::join(Plan right, JoinOptions options) const {
  return make(Join(std::move(options)), {*this, std::move(right)});
}

Plan Plan::top(std::uint64_t count, OrderOptions options) const {
  return make(Top(count, std::move(options)), {*this});
}

Plan Plan::take(std::uint64_t count, std::vector<Order> order) const {
  return top(count, {.order = std::move(order)});
}

Plan Plan::row_number(std::string column, OrderOptions options) const {
  return make(RowNumber(std::move(column), std::move(options)), {*this});
}

Plan Plan::apply(std::string name, std::vector<data::Value> parameters) const {
  return make(Apply(std::move(name), std::move(parameters)), {*this});
}

}  // namespace weir::flow::operators
