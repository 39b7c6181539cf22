#pragma once

#include <string>
#include <vector>

#include <weir/tests/flow/workflow/support/command_board.hpp>

namespace weir::flow::workflow::testing {

/// A board with one workflow, whose executions are not tried again.
class GraphBoard : public CommandBoard {
 public:
  explicit GraphBoard(const NewWorkflow& request = {}) : id(create_workflow(request).value()) {}

  ExecutionId member() {
    all.push_back(make_member(id, {.kind = "work", .retry = {.retries_max = 0}}));
    return all.back();
  }
  std::vector<ExecutionId> members(std::size_t count) {
    std::vector<ExecutionId> made;
    while (made.size() < count) made.push_back(member());
    return made;
  }
  void link(const ExecutionId& from, const ExecutionId& to, const std::string& input = "") {
    stage(id, {{.upstream = from, .downstream = to, .input = input}}).value();
  }
  void apply_all() { apply(id, all).value(); }

  /// One that depends on so many others, all applied.
  ExecutionId fan_in(std::size_t count, const EdgePolicy& policy) {
    const auto upstreams = members(count);
    const ExecutionId last = member();
    if (policy != EdgePolicy()) set_policy(id, last, policy).value();
    for (const ExecutionId& upstream : upstreams) link(upstream, last);
    apply_all();
    return last;
  }

  using CommandBoard::workflow;
  const Workflow& workflow() const { return workflow(id); }

  const WorkflowId id;
  std::vector<ExecutionId> all;
};

}  // namespace weir::flow::workflow::testing
