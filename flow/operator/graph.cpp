#include <weir/flow/operator/graph.hpp>

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include <weir/flow/operator/apply.hpp>
#include <weir/flow/operator/source.hpp>
#include <weir/runtime/span.hpp>

namespace weir::flow::operators {

namespace {

/// As in `revenue: join 3: ...`.
Error at(std::string_view path, const Error& error) {
  return Error(
      error.code(),
      std::string(path) + (error.detail().empty() ? "" : ": " + std::string(error.detail())));
}

/// An operator of someone else may throw anything.
template <class Run>
auto guarded(Run run) -> decltype(run()) {
  try {
    return run();
  } catch (const std::exception& exception) {
    return Error(weir::Errc::failed, exception.what());
  } catch (...) {
    return Error(weir::Errc::failed, "it threw something that is no exception");
  }
}

/// Whether they are rows of the schema. Elsewhere, null where there is none would become something
/// else.
Result<> check_rows(const data::ChangeBatch& batch, const data::SchemaRef& schema) {
  if (batch.schema() != schema && *batch.schema() != *schema) {
    return Error(Errc::wrong_schema, "it gave rows of " + to_string(*batch.schema()) +
                                         ", but it is declared to give " + to_string(*schema));
  }
  for (std::size_t index = 0; index < batch.columns().size(); ++index) {
    const data::Field& field = (*batch.schema())[index];
    const data::Column& column = batch.column(index);
    if (field.is_nullable || !column.has_nulls()) continue;
    for (std::size_t row = 0; row < batch.size(); ++row) {
      if (column.is_null(row))
        return Error(Errc::wrong_schema,
                     "it gave null for '" + field.name + "', which is declared to be never null");
    }
  }
  return {};
}

/// One batch with the rows of all.
data::ChangeBatch concatenate(const data::SchemaRef& schema,
                              std::span<const data::ChangeBatch> batches) {
  if (batches.size() == 1) return batches.front();
  data::BatchBuilder builder(schema);
  for (const data::ChangeBatch& batch : batches)
    for (std::size_t row = 0; row < batch.size(); ++row)
      builder.add_from(batch, row, batch.weights()[row]);
  return builder.finish();
}

}  // namespace

/// Makes nodes of a plan, inputs first.
class Graph::Builder {
 public:
  Builder(Graph& graph, const Library& library) : graph_(graph), library_(library) {}

  Result<std::size_t> add(const Plan& plan, const std::string& path_above) {
    if (const auto known = made_.find(&plan.node()); known != made_.end()) return known->second;
    if (++depth_ > depth_max) return Error(Errc::invalid_argument, "the plan is too deep");
    const auto* own = dynamic_cast<const Apply*>(&plan.spec());
    const std::string name(own != nullptr ? own->operator_name : plan.spec().name());
    const std::string path = path_above + (own != nullptr ? "apply " : "") + name;
    if (!plan.spec().takes_inputs(plan.node().inputs.size())) {
      return at(path,
                Error(Errc::invalid_argument,
                      "it cannot have " + std::to_string(plan.node().inputs.size()) + " inputs"));
    }
    std::vector<std::size_t> inputs;
    std::vector<data::SchemaRef> schemas;
    for (const Plan& input : plan.node().inputs) {
      auto node = add(input, path + " < ");
      if (!node) return std::move(node).error();
      inputs.push_back(*node);
      schemas.push_back(graph_.nodes_[*node].op->schema());
    }
    --depth_;
    auto op = guarded([&] { return plan.spec().make(schemas, library_); });
    if (!op) return at(path, op.error());
    const std::size_t index = graph_.nodes_.size();
    graph_.nodes_.push_back({.path = path,
                             .span = "flow.operator." + name,
                             .op = *std::move(op),
                             .targets = {},
                             .inputs = {}});
    graph_.nodes_[index].inputs.resize(std::max<std::size_t>(inputs.size(), 1));
    for (std::size_t port = 0; port < inputs.size(); ++port)
      graph_.nodes_[inputs[port]].targets.push_back({index, port});
    if (const auto* source = dynamic_cast<const Source*>(&plan.spec())) {
      graph_.sources_.push_back({source->source, source->schema});
      graph_.source_nodes_.push_back(index);
      graph_.nodes_[index].is_source = true;
    }
    graph_.has_own_operators_ |= own != nullptr;
    made_.emplace(&plan.node(), index);
    return index;
  }

 private:
  static constexpr std::size_t depth_max = 500;

  Graph& graph_;
  const Library& library_;
  std::map<const Plan::Node*, std::size_t> made_;
  std::size_t depth_ = 0;
};

Result<std::unique_ptr<Graph>> Graph::make(const Plan& plan, const GraphOptions& options) {
  std::unique_ptr<Graph> graph(new Graph(options));
  auto result = Builder(*graph, options.library).add(plan, "");
  if (!result) return std::move(result).error();
  for (Node& node : graph->nodes_) {
    const auto opened = guarded([&] {
      node.op->open(graph->state_);
      return Result<>();
    });
    if (!opened) return at(node.path, opened.error());
  }
  return graph;
}

const data::SchemaRef& Graph::schema() const noexcept { return nodes_.back().op->schema(); }

bool Graph::needs_each_version() const noexcept {
  return std::ranges::any_of(nodes_,
                             [](const Node& node) { return node.op->needs_each_version(); });
}

std::optional<std::chrono::microseconds> Graph::tick_period() const noexcept {
  std::optional<std::chrono::microseconds> shortest;
  for (const Node& node : nodes_) {
    const auto period = node.op->tick_period();
    if (period && (!shortest || *period < *shortest)) shortest = period;
  }
  return shortest;
}

std::string_view Graph::ticking_operator() const noexcept {
  const auto ticks = [](const Node& node) { return node.op->tick_period().has_value(); };
  const auto at = std::ranges::find_if(nodes_, ticks);
  return at == nodes_.end() ? std::string_view() : std::string_view(at->path);
}

Result<data::ChangeBatch> Graph::run(std::span<const SourceChanges> changes) {
  for (const auto& [source, batch] : changes) {
    bool is_known = false;
    for (std::size_t index = 0; index < sources_.size(); ++index) {
      if (sources_[index].name != source) continue;
      is_known = true;
      const data::Schema& schema = *sources_[index].schema;
      if (batch.schema() != sources_[index].schema && *batch.schema() != schema) {
        forget_inputs();
        return Error(Errc::wrong_schema, "source '" + sources_[index].name + "' has " +
                                             to_string(schema) + ", not " +
                                             to_string(*batch.schema()));
      }
      nodes_[source_nodes_[index]].inputs[0].push_back(batch);
    }
    if (!is_known) {
      forget_inputs();
      return Error(Errc::unknown_name, "no source '" + std::string(source) + "'");
    }
  }
  return run_all(nullptr, {});
}

Result<data::ChangeBatch> Graph::tick(data::Timestamp now) {
  return run_all([](Operator& op, data::Timestamp time,
                    Output& out) { return op.tick_period() ? op.tick(time, out) : Result<>(); },
                 now);
}

Result<data::ChangeBatch> Graph::watermark(data::Timestamp time) {
  return run_all(
      [](Operator& op, data::Timestamp until, Output& out) { return op.watermark(until, out); },
      time);
}

Result<data::ChangeBatch> Graph::filled() {
  is_filling_ = false;
  return run_all([](Operator& op, data::Timestamp, Output& out) { return op.filled(out); }, {});
}

Result<data::ChangeBatch> Graph::run_all(Call call, data::Timestamp time) {
  Output out(policy_, is_filling_, output_bytes_max_);
  for (Node& node : nodes_) {
    const bool had_row_error = out.row_error().has_value();
    auto done = run_traced(node, call, time, out);
    if (!done) {
      forget_inputs();
      return at(node.path, done.error());
    }
    if (!had_row_error && out.row_error()) pending_row_error_ = at(node.path, *out.row_error());
  }
  pending_counts_ += out.counts();
  auto result = concatenate(schema(), std::exchange(result_, {}));
  return result.consolidated();
}

/// An operator with something to do is a part of its trace, if that is recorded.
Result<> Graph::run_traced(Node& node, Call call, data::Timestamp time, Output& out) {
  const bool has_input =
      std::ranges::any_of(node.inputs, [](const auto& batches) { return !batches.empty(); });
  if (!has_input && call == nullptr) return {};
  auto running = span(node.span);
  if (running.is_recorded()) {
    std::size_t rows = 0;
    for (const auto& batches : node.inputs)
      for (const data::ChangeBatch& batch : batches) rows += batch.size();
    running.set({"flow.operator.path", node.path});
    running.set({"flow.rows.in", static_cast<std::int64_t>(rows)});
  }
  auto done = guarded([&] {
    auto ran = run_node(node, out);
    return ran && call != nullptr ? call(*node.op, time, out) : ran;
  });
  std::size_t given = 0;
  if (done) done = pass_on(node, out, given);
  if (!running.is_recorded()) return done;
  running.set({"flow.rows.out", static_cast<std::int64_t>(given)});
  if (!done) running.set_status(telemetry::SpanStatus::error, done.error().message());
  return done;
}

Result<> Graph::run_node(Node& node, Output& out) {
  // Half of an update is no change that was made.
  const bool takes_all = node.op->needs_each_version();
  for (std::size_t port = 0; port < node.inputs.size(); ++port) {
    std::vector<data::ChangeBatch>& batches = node.inputs[port];
    if (takes_all && batches.size() > 1) batches = {concatenate(batches.front().schema(), batches)};
    for (const data::ChangeBatch& batch : std::exchange(node.inputs[port], {})) {
      if (auto done = node.op->apply({port, batch}, out); !done) return done;
      if (auto checked = check_size(node, out); !checked) return checked;
    }
  }
  return {};
}

Result<> Graph::check_size(const Node& node, const Output& out) {
  return node.is_source ? Result<>() : out.check_size();
}

Result<> Graph::pass_on(Node& node, Output& out, std::size_t& rows) {
  if (auto checked = check_size(node, out); !checked) return checked;
  std::vector<data::ChangeBatch> batches = out.take();
  for (const data::ChangeBatch& batch : batches)
    if (auto checked = check_rows(batch, node.op->schema()); !checked) return checked;
  // Where inputs meet, what comes of one without the other is true of no version.
  if (node.inputs.size() > 1 && batches.size() > 1)
    batches = {concatenate(node.op->schema(), batches).consolidated()};
  for (data::ChangeBatch& batch : batches) {
    rows += batch.size();
    for (const Target& target : node.targets)
      nodes_[target.node].inputs[target.port].push_back(batch);
    if (&node == &nodes_.back()) result_.push_back(std::move(batch));
  }
  return {};
}

void Graph::forget_inputs() noexcept {
  for (Node& node : nodes_)
    for (auto& batches : node.inputs) batches.clear();
  result_.clear();
}

void Graph::commit() {
  state_.commit();
  counts_ += std::exchange(pending_counts_, {});
  pending_row_error_.reset();
}

void Graph::roll_back() {
  state_.roll_back();
  pending_counts_ = {};
  pending_row_error_.reset();
}

}  // namespace weir::flow::operators
