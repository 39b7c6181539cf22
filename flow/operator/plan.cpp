#include <weir/flow/operator/plan.hpp>

#include <functional>
#include <map>

#include <weir/flow/operator/aggregate.hpp>
#include <weir/flow/operator/append.hpp>
#include <weir/flow/operator/apply.hpp>
#include <weir/flow/operator/distinct.hpp>
#include <weir/flow/operator/extend.hpp>
#include <weir/flow/operator/filter.hpp>
#include <weir/flow/operator/gate.hpp>
#include <weir/flow/operator/keep.hpp>
#include <weir/flow/operator/map.hpp>
#include <weir/flow/operator/ring_buffer.hpp>
#include <weir/flow/operator/row_number.hpp>
#include <weir/flow/operator/series.hpp>
#include <weir/flow/operator/source.hpp>
#include <weir/flow/operator/spec_codec.hpp>
#include <weir/flow/operator/top.hpp>

namespace weir::flow::operators {

std::string Plan::encode() const {
  // Inputs before those that read them; a part that is used twice once.
  std::vector<const Plan*> nodes;
  std::map<const Node*, std::uint64_t> numbers;
  const std::function<void(const Plan&)> visit = [&](const Plan& plan) {
    if (numbers.contains(&plan.node())) return;
    for (const Plan& input : plan.node().inputs) visit(input);
    numbers.emplace(&plan.node(), nodes.size());
    nodes.push_back(&plan);
  };
  visit(*this);

  std::string bytes;
  SpecWriter out(bytes);
  out.list(nodes, [&](const Plan* plan) {
    std::string spec;
    SpecWriter spec_out(spec);
    plan->spec().write(spec_out);
    out.text(plan->spec().name());
    out.text(spec);
    out.list(plan->node().inputs, [&](const Plan& input) { out.number(numbers[&input.node()]); });
  });
  return bytes;
}

Result<Plan> Plan::decode(std::string_view bytes) {
  SpecReader in(bytes);
  std::vector<Plan> nodes;
  Result<> failure;
  in.list([&] {
    const std::string name = in.text();
    const std::string spec = in.text();
    std::vector<Plan> inputs;
    for (const std::uint64_t number : in.list([&in] { return in.number(); })) {
      if (number >= nodes.size()) {
        in.fail();
      } else {
        inputs.push_back(nodes[number]);
      }
    }
    auto read = read_spec(name, spec);
    if (!read) {
      if (failure) failure = std::move(read).error();
      in.fail();
    } else {
      nodes.push_back(Plan(Node{*std::move(read), std::move(inputs)}));
    }
    return 0;
  });
  if (!failure) return std::move(failure).error();
  if (auto finished = in.finish(); !finished) return std::move(finished).error();
  if (nodes.empty()) return Error(Errc::corruption, "a plan without operators");
  return nodes.back();
}

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

GroupedPlan Plan::group_by(std::vector<GroupColumn> columns) const {
  return GroupedPlan(*this, std::vector<NamedExpression>(columns.begin(), columns.end()));
}

Plan Plan::aggregate(std::vector<AggregateColumn> columns) const {
  return make(Aggregate({}, std::move(columns)), {*this});
}

Plan GroupedPlan::aggregate(std::vector<AggregateColumn> columns) const {
  return Plan::make(Aggregate(groups_, std::move(columns)), {plan_});
}

Plan Plan::window(Window window) const { return make(std::move(window), {*this}); }

Plan Plan::keep(data::Expression time, std::chrono::microseconds age, KeepOptions options) const {
  return make(Keep(std::move(time), age, options), {*this});
}

Plan Plan::ring_buffer(std::uint64_t capacity, RingBufferOptions options) const {
  return make(RingBuffer(capacity, std::move(options)), {*this});
}

Plan Plan::series(std::string key, SeriesOptions options) const {
  return make(Series(std::move(key), std::move(options)), {*this});
}

Plan Plan::apply(std::string name, std::vector<data::Value> parameters) const {
  return make(Apply(std::move(name), std::move(parameters)), {*this});
}

}  // namespace weir::flow::operators
