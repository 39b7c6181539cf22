#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/operator/operator.hpp>
#include <weir/flow/operator/operator_spec.hpp>
#include <weir/flow/operator/plan.hpp>
#include <weir/flow/operator/state.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::operators {

struct GraphOptions {
  RowErrorPolicy row_errors = RowErrorPolicy::fail;
  StateOptions state = {};
  Library library = {};
  /// What one operator may give in one cycle, about; the cycle is refused if it gives more. Sources
  /// are not: they make nothing.
  std::size_t output_bytes_max = std::size_t{128} << 20;
};

/// The operators of a plan, ready to run: changes of its sources go in, those of its result come
/// out.
///
///     auto graph = Graph::make(plan).value();
///     auto changes = graph->run({{"orders", batch}});
///     ... // write *changes and graph->state().writes(), together
///     graph->commit();
///
/// A cycle that failed, or was not written, is forgotten by `roll_back`. Confined to one thread at
/// a time.
class Graph {
 public:
  struct SourceInfo {
    std::string name;
    data::SchemaRef schema;
  };
  struct SourceChanges {
    std::string_view source;
    data::ChangeBatch batch;
  };

  /// Checks the whole plan. Errors name the operator, with the path from the result to it:
  /// `distinct < apply moved`.
  static Result<std::unique_ptr<Graph>> make(const Plan& plan, const GraphOptions& options = {});

  /// Of the result.
  const data::SchemaRef& schema() const noexcept;
  const std::vector<SourceInfo>& sources() const noexcept { return sources_; }
  /// Whether changes of several commits must not be run together.
  bool needs_each_version() const noexcept;
  /// Whether operators are in it that were registered by name: `apply`.
  bool has_own_operators() const noexcept { return has_own_operators_; }
  /// The shortest of its operators' periods.
  std::optional<std::chrono::microseconds> tick_period() const noexcept;
  /// The path to an operator that has a period; empty if none has.
  std::string_view ticking_operator() const noexcept;

  /// What these changes make of the result, each row once. Errors name the operator.
  Result<data::ChangeBatch> run(std::span<const SourceChanges> changes);
  Result<data::ChangeBatch> run(std::initializer_list<SourceChanges> changes) {
    return run(std::span(changes.begin(), changes.size()));
  }
  Result<data::ChangeBatch> tick(data::Timestamp now);
  Result<data::ChangeBatch> watermark(data::Timestamp time);
  /// Whether what is run from now on is rows that were there before the flow, in any order, and
  /// what happens meanwhile. `filled` says that there are no more.
  void set_filling(bool is_filling) noexcept { is_filling_ = is_filling; }
  Result<data::ChangeBatch> filled();

  State& state() noexcept { return state_; }
  /// What was run since the last of these is true.
  void commit();
  void roll_back();
  /// Of all cycles that were committed.
  const Counts& counts() const noexcept { return counts_; }
  /// Of the current cycle, with the error of one of the rows that could not be computed.
  const Counts& pending_counts() const noexcept { return pending_counts_; }
  const std::optional<Error>& pending_row_error() const noexcept { return pending_row_error_; }

 private:
  struct Target {
    std::size_t node;
    std::size_t port;
  };
  struct Node {
    std::string path;
    std::string span;  // its name
    std::unique_ptr<Operator> op;
    bool is_source = false;
    std::vector<Target> targets;
    std::vector<std::vector<data::ChangeBatch>> inputs;  // of the current cycle, by port
  };
  class Builder;

  explicit Graph(const GraphOptions& options)
      : policy_(options.row_errors),
        output_bytes_max_(options.output_bytes_max),
        state_(options.state) {}
  /// Runs every operator, in order; `call` first where it is not null.
  using Call = Result<> (*)(Operator& op, data::Timestamp time, Output& out);
  Result<data::ChangeBatch> run_all(Call call, data::Timestamp time);
  Result<> run_traced(Node& node, Call call, data::Timestamp time, Output& out);
  Result<> run_node(Node& node, Output& out);
  static Result<> check_size(const Node& node, const Output& out);
  Result<> pass_on(Node& node, Output& out, std::size_t& rows);
  void forget_inputs() noexcept;

  RowErrorPolicy policy_;
  bool is_filling_ = false;
  std::size_t output_bytes_max_;
  State state_;
  std::vector<Node> nodes_;  // inputs before those that read them; the last gives the result
  std::vector<SourceInfo> sources_;
  std::vector<std::size_t> source_nodes_;
  std::vector<data::ChangeBatch> result_;
  bool has_own_operators_ = false;
  Counts counts_;
  Counts pending_counts_;
  std::optional<Error> pending_row_error_;
};

}  // namespace weir::flow::operators
