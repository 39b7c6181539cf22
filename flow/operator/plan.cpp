#include <weir/flow/operator/plan.hpp>

#include <weir/flow/operator/aggregate.hpp>
#include <weir/flow/operator/append.hpp>
#include <weir/flow/operator/apply.hpp>
#include <weir/flow/operator/distinct.hpp>
#include <weir/flow/operator/extend.hpp>
#include <weir/flow/operator/filter.hpp>
#include <weir/flow/operator/gate.hpp>
#include <weir/flow/operator/map.hpp>
#include <weir/flow/operator/source.hpp>

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

GroupedPlan Plan::group_by(std::vector<GroupColumn> columns) const {
  return GroupedPlan(*this, std::vector<NamedExpression>(columns.begin(), columns.end()));
}

Plan Plan::aggregate(std::vector<AggregateColumn> columns) const {
  return make(Aggregate({}, std::move(columns)), {*this});
}

Plan GroupedPlan::aggregate(std::vector<AggregateColumn> columns) const {
  return Plan::make(Aggregate(groups_, std::move(columns)), {plan_});
}

Plan Plan::apply(std::string name, std::vector<data::Value> parameters) const {
  return make(Apply(std::move(name), std::move(parameters)), {*this});
}

}  // namespace weir::flow::operators
