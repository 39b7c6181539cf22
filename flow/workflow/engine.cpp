#include <weir/flow/workflow/engine.hpp>

#include <algorithm>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/auditor.hpp>
#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/internal/embedded_store.hpp>
#include <weir/flow/workflow/internal/engine_call.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>
#include <weir/flow/workflow/internal/validation.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow {
namespace {

using internal::CoreRef;
using internal::Draft;
using internal::page_max;
using internal::run;
using internal::with_lease;

Task<Result<std::vector<Claimed>>> claim_from(CoreRef core, ClaimRequest request, bool waits) {
  if (auto valid = internal::validate(request); !valid) co_return valid.error();
  WEIR_CO_TRY(found, co_await core->claim(std::move(request), waits));
  for (Claimed& claimed : found) claimed.handle.store = core->identity();
  co_return std::move(found);
}

/// The workflow need not be looked at if something of it is there.
Result<std::vector<EdgeInfo>> edges_of(Draft& draft, const WorkflowId& workflow,
                                       const std::vector<EdgeId>& ids) {
  std::vector<EdgeInfo> edges;
  for (const EdgeId& id : ids) {
    const Edge* edge = draft.find<Edge>(id);
    if (edge != nullptr && edge->workflow == workflow) edges.push_back({id, *edge});
  }
  if (edges.empty() && draft.find<Workflow>(workflow) == nullptr) {
    return internal::no_such(workflow);
  }
  std::ranges::sort(edges, {}, &EdgeInfo::id);
  return edges;
}

template <class T>
Page<T> page_of(std::vector<T> found, std::size_t limit) {
  Page<T> page{std::move(found), {}};
  if (page.items.size() > limit) {
    page.items.resize(limit);
    page.next = page.items.back();
  }
  return page;
}

Result<CreatedGraph> make_graph(Draft& draft, const NewGraph& graph) {
  auto workflow = internal::create(draft, graph.workflow);
  if (!workflow) return workflow.error();
  CreatedGraph created{*workflow, {}};
  for (NewExecution execution : graph.executions) {
    execution.workflow = *workflow;
    execution.space = graph.workflow.space;
    auto made = internal::create(draft, execution);
    if (!made) return made.error();
    created.executions.push_back(made->id);
  }
  const auto at = [&](std::size_t place) -> Result<ExecutionId> {
    if (place < created.executions.size()) return created.executions[place];
    return Error(Errc::invalid_argument, "execution " + std::to_string(place) + " of " +
                                             std::to_string(created.executions.size()));
  };
  for (const auto& [place, policy] : graph.policies) {
    auto downstream = at(place);
    if (!downstream) return downstream.error();
    auto set = internal::set_policy(draft, *workflow, *downstream, policy);
    if (!set) return set.error();
  }
  std::vector<NewEdge> edges;
  for (const NewGraph::Edge& edge : graph.edges) {
    auto upstream = at(edge.upstream);
    auto downstream = at(edge.downstream);
    if (!upstream || !downstream) return upstream ? downstream.error() : upstream.error();
    edges.push_back({*upstream, *downstream, {}, edge.input});
  }
  auto staged = internal::stage(draft, *workflow, edges, {});
  if (!staged) return staged.error();
  if (auto applied = internal::apply(draft, *workflow); !applied) return applied.error();
  return created;
}

void set_trace(NewExecution& request) {
  if (!request.trace) request.trace = current_trace();
}

struct CreateExecution {
  Span note_caller() {
    Span asking = first_span("workflow.create");
    set_trace(request);
    return asking;
  }
  Result<Created> operator()(Draft& draft) const { return create(draft, request); }

  NewExecution request;
  Result<Created> (*create)(Draft&, const NewExecution&);
};

struct CreateGraph {
  Span note_caller() {
    Span asking = first_span("workflow.create");
    std::ranges::for_each(graph.executions, set_trace);
    return asking;
  }
  Result<CreatedGraph> operator()(Draft& draft) const { return make_graph(draft, graph); }

  NewGraph graph;
};

}  // namespace

Engine::Engine(CoreRef core, AuditSchedule audit) : core_(std::move(core)) {
  if (audit.period) auditor_ = std::make_shared<internal::Auditor>(core_, std::move(audit));
}
Engine::Engine(Engine&&) noexcept = default;

Engine::~Engine() {
  if (!core_ || !closes_ || core_->is_closed()) return;
  try {
    static_cast<void>(core_->system().run(close()));
  } catch (const std::exception&) {
    // Inside an actor, which must not wait, or the system has stopped and with it the engine.
    if (auditor_) auditor_->abandon();
    core_->abandon();
  }
}

std::shared_ptr<Engine> Engine::share() const {
  auto shared = std::make_shared<Engine>(core_);
  shared->auditor_ = auditor_;
  shared->closes_ = false;
  return shared;
}

Task<Result<Engine>> Engine::open(storage::Store* store, EngineOptions options) {
  if (options.records_max == 0 || options.cancels_max == 0) {
    co_return Error(Errc::invalid_argument, "records_max and cancels_max must be 1 or more");
  }
  if (auto valid = validate(options.retention); !valid) co_return valid.error();
  if (auto valid = validate(options.audit); !valid) co_return valid.error();
  WEIR_CO_TRY(opened, co_await internal::EmbeddedStore::open(store, options));
  co_return Engine(std::move(opened), options.audit);
}

Task<Result<>> Engine::close() {
  const CoreRef core = core_;
  const auto auditor = auditor_;
  if (core->is_closed()) co_return {};
  if (auditor) co_await auditor->stop();
  co_return co_await core->close();
}

Task<Result<Created>> Engine::create_execution(NewExecution request) const {
  return run(core_, CreateExecution{std::move(request), &internal::create});
}

Task<Result<Created>> Engine::create_own(NewExecution request) const {
  return run(core_, CreateExecution{std::move(request), &internal::create_own});
}

Task<Result<std::vector<Claimed>>> Engine::claim(ClaimRequest request) const {
  return claim_from(core_, std::move(request), false);
}

Task<Result<std::vector<Claimed>>> Engine::next(ClaimRequest request) const {
  return claim_from(core_, std::move(request), true);
}

Task<Result<Time>> Engine::renew(Handle handle, Duration lease) const {
  return with_lease(core_, handle, [handle, lease](Draft& draft) -> Result<Time> {
    if (lease <= Duration::zero()) {
      return Error(Errc::invalid_argument, "a lease that is not positive");
    }
    return internal::renew(draft, handle, lease);
  });
}

Task<Result<>> Engine::complete(Handle handle, std::string result) const {
  return with_lease(core_, handle, [handle, result = std::move(result)](Draft& draft) {
    return internal::complete(draft, handle, result);
  });
}

Task<Result<FailResult>> Engine::fail(Handle handle, Failure failure) const {
  return with_lease(core_, handle, [handle, failure = std::move(failure)](Draft& draft) {
    return internal::fail(draft, handle, failure);
  });
}

Task<Result<>> Engine::delay(Handle handle, Time until) const {
  return with_lease(core_, handle, [handle, until](Draft& draft) {
    return internal::delay(draft, handle, until);
  });
}

Task<Result<>> Engine::cancel(Handle handle, std::string reason) const {
  return with_lease(core_, handle, [handle, reason = std::move(reason)](Draft& draft) {
    return internal::cancel(draft, handle, reason);
  });
}

Task<Result<bool>> Engine::cancel(ExecutionId id, std::string reason) const {
  return run(core_, [id, reason = std::move(reason)](Draft& draft) {
    return internal::cancel(draft, id, reason, "operator");
  });
}

Task<Result<>> Engine::revoke(ExecutionId id, std::string reason) const {
  return run(core_, [id, reason = std::move(reason)](Draft& draft) {
    return internal::revoke(draft, id, reason);
  });
}

Task<Result<>> Engine::replay(ExecutionId id) const {
  return run(core_, [id](Draft& draft) { return internal::replay(draft, id); });
}

Task<Result<>> Engine::change_priority(ExecutionId id, std::int32_t priority) const {
  return run(core_, [id, priority](Draft& draft) {
    return internal::change_priority(draft, id, priority);
  });
}

Task<Result<>> Engine::set_tag(ExecutionId id, std::string key, std::string value) const {
  return run(core_, [id, key = std::move(key), value = std::move(value)](Draft& draft) {
    return internal::set_tag(draft, id, key, value);
  });
}

Task<Result<std::optional<ExecutionInfo>>> Engine::describe(ExecutionId id) const {
  return run(core_, [id](Draft& draft) -> Result<std::optional<ExecutionInfo>> {
    const Execution* execution = draft.find<Execution>(id);
    const ExecutionSpec* spec = draft.find<ExecutionSpec>(id);
    if (execution == nullptr || spec == nullptr) return std::optional<ExecutionInfo>();
    return std::optional(ExecutionInfo{id, *spec, *execution, execution->public_state()});
  });
}

Task<Result<std::optional<std::string>>> Engine::result(ExecutionId id) const {
  return run(core_, [id](Draft& draft) -> Result<std::optional<std::string>> {
    const Execution* execution = draft.find<Execution>(id);
    if (execution == nullptr) return internal::no_such(id);
    if (execution->state.outcome != Outcome::success) return std::optional<std::string>();
    return std::optional(execution->result);
  });
}

Task<Result<std::vector<Attempt>>> Engine::attempts(ExecutionId id) const {
  return run(core_, [id](Draft& draft) -> Result<std::vector<Attempt>> {
    const Execution* execution = draft.find<Execution>(id);
    if (execution == nullptr) return internal::no_such(id);
    std::vector<Attempt> attempts;
    for (std::uint32_t number = 0; number < execution->attempts; ++number) {
      const bool is_newest = number == execution->attempt;
      const Attempt* attempt = is_newest ? &execution->newest : draft.find<Attempt>({id, number});
      if (attempt != nullptr) attempts.push_back(*attempt);
    }
    return attempts;
  });
}

Task<Result<WorkflowId>> Engine::create_workflow(NewWorkflow request) const {
  return run(core_, [request = std::move(request)](Draft& draft) {
    return internal::create(draft, request);
  });
}

Task<Result<CreatedGraph>> Engine::create_graph(NewGraph graph) const {
  return run(core_, CreateGraph{std::move(graph)});
}

Task<Result<std::uint64_t>> Engine::stage(WorkflowId workflow, std::vector<NewEdge> edges,
                                          std::optional<std::uint64_t> revision) const {
  return run(core_, [workflow, edges = std::move(edges), revision](Draft& draft) {
    return internal::stage(draft, workflow, edges, revision);
  });
}

Task<Result<>> Engine::apply(WorkflowId workflow) const {
  return run(core_, [workflow](Draft& draft) { return internal::apply(draft, workflow); });
}

Task<Result<bool>> Engine::set_policy(WorkflowId workflow, ExecutionId downstream,
                                      EdgePolicy policy) const {
  return run(core_, [workflow, downstream, policy](Draft& draft) {
    return internal::set_policy(draft, workflow, downstream, policy);
  });
}

Task<Result<>> Engine::set_tag(WorkflowId workflow, std::string key, std::string value) const {
  return run(core_, [workflow, key = std::move(key), value = std::move(value)](Draft& draft) {
    return internal::set_tag(draft, workflow, key, value);
  });
}

Task<Result<>> Engine::close(WorkflowId workflow) const {
  return run(core_, [workflow](Draft& draft) { return internal::close(draft, workflow); });
}

Task<Result<CancelResult>> Engine::cancel(WorkflowId workflow, CancelPolicy policy,
                                          std::string reason) const {
  const CoreRef core = core_;
  co_return co_await core->cancel(workflow, policy, std::move(reason));
}

Task<Result<std::optional<WorkflowInfo>>> Engine::describe(WorkflowId id) const {
  return run(core_, [id](Draft& draft) -> Result<std::optional<WorkflowInfo>> {
    const Workflow* workflow = draft.find<Workflow>(id);
    if (workflow == nullptr) return std::optional<WorkflowInfo>();
    return std::optional(WorkflowInfo{id, *workflow, workflow->progress()});
  });
}

Task<Result<std::optional<EdgeInfo>>> Engine::describe(WorkflowId workflow, EdgeId id) const {
  return run(core_, [workflow, id](Draft& draft) -> Result<std::optional<EdgeInfo>> {
    const Edge* edge = draft.find<Edge>(id);
    if (edge == nullptr || edge->workflow != workflow) return std::optional<EdgeInfo>();
    return std::optional(EdgeInfo{id, *edge});
  });
}

Task<Result<std::optional<EdgeGroupInfo>>> Engine::edge_group(WorkflowId workflow,
                                                              ExecutionId downstream) const {
  return run(core_, [workflow, downstream](Draft& draft) -> Result<std::optional<EdgeGroupInfo>> {
    const Execution* execution = draft.find<Execution>(downstream);
    const EdgeGroup* group = draft.find<EdgeGroup>(downstream);
    if (execution == nullptr || execution->workflow != workflow || group == nullptr) {
      return std::optional<EdgeGroupInfo>();
    }
    return std::optional(EdgeGroupInfo{downstream, *group});
  });
}

Task<Result<std::vector<EdgeInfo>>> Engine::edges_into(WorkflowId workflow, ExecutionId id) const {
  return run(core_, [workflow, id](Draft& draft) -> Result<std::vector<EdgeInfo>> {
    const Links* links = draft.find<Links>(id);
    return edges_of(draft, workflow, links != nullptr ? links->in : std::vector<EdgeId>());
  });
}

Task<Result<std::vector<EdgeInfo>>> Engine::edges_from(WorkflowId workflow, ExecutionId id) const {
  return run(core_, [workflow, id](Draft& draft) -> Result<std::vector<EdgeInfo>> {
    const Links* links = draft.find<Links>(id);
    return edges_of(draft, workflow, links != nullptr ? links->out : std::vector<EdgeId>());
  });
}

Task<Result<Page<ExecutionId>>> Engine::members(WorkflowId workflow,
                                                std::optional<ExecutionId> after,
                                                std::size_t limit) const {
  const CoreRef core = core_;
  limit = std::min(limit, page_max);
  if (limit == 0) co_return Page<ExecutionId>();
  WEIR_CO_TRY(found, co_await core->members(workflow, after, limit + 1));
  if (found.empty()) {
    WEIR_CO_TRY(is_there, co_await run(core, [workflow](Draft& draft) -> Result<bool> {
                  return draft.find<Workflow>(workflow) != nullptr;
                }));
    if (!is_there) co_return internal::no_such(workflow);
  }
  co_return page_of(std::move(found), limit);
}

Task<Result<Page<WorkflowId>>> Engine::list(Partition partition, std::optional<WorkflowId> after,
                                            std::size_t limit) const {
  const CoreRef core = core_;
  limit = std::min(limit, page_max);
  if (limit == 0) co_return Page<WorkflowId>();
  if (partition.number >= partitions_max) {
    co_return Error(Errc::invalid_argument, "partition " + std::to_string(partition.number) +
                                                " of " + std::to_string(partitions_max));
  }
  WEIR_CO_TRY(found, co_await core->workflows(partition, after, limit + 1));
  co_return page_of(std::move(found), limit);
}

Task<Result<std::vector<SetAside>>> Engine::set_aside() const {
  const CoreRef core = core_;
  co_return co_await core->set_aside();
}

}  // namespace weir::flow::workflow
