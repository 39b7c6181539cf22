#include <algorithm>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/internal/engine_call.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow {
namespace {

using internal::CoreRef;
using internal::Draft;
using internal::page_max;
using internal::run;
using Found = std::vector<std::pair<ExecutionId, Execution>>;

constexpr std::size_t executions_at_once = 500;
/// So many are looked at for one page, however few of them are listed.
constexpr std::size_t looked_at_max = 10'000;

/// Those of a workflow, as they are now.
Task<Result<Found>> look_at_members(CoreRef core, WorkflowId workflow,
                                    std::optional<ExecutionId> after) {
  WEIR_CO_TRY(ids, co_await core->members(workflow, after, executions_at_once));
  co_return co_await run(core, [workflow, ids = std::move(ids)](Draft& draft) -> Result<Found> {
    if (draft.find<Workflow>(workflow) == nullptr) return internal::no_such(workflow);
    Found found;
    for (const ExecutionId& id : ids) {
      const Execution* execution = draft.find<Execution>(id);
      found.emplace_back(id, execution != nullptr ? *execution : Execution());
    }
    return found;
  });
}

Task<Result<Found>> look_at(CoreRef core, const ExecutionFilter* filter,
                            std::optional<ExecutionId> after) {
  if (filter->workflow) return look_at_members(core, *filter->workflow, after);
  return core->executions(filter->is_of_live(), after, executions_at_once);
}

}  // namespace

Task<Result<ExecutionPage>> Engine::list_executions(ExecutionFilter filter,
                                                    std::optional<ExecutionId> after,
                                                    std::size_t limit) const {
  const CoreRef core = core_;
  limit = std::min(limit, page_max);
  ExecutionPage page;
  for (std::size_t looked_at = 0; limit > 0;) {
    WEIR_CO_TRY(found, co_await look_at(core, &filter, after));
    const bool is_last = found.size() < executions_at_once;
    for (auto& [id, execution] : found) {
      after = id;
      if (filter.admits(execution)) {
        const PublicState state = execution.public_state();
        page.items.push_back({id, std::move(execution), state});
      }
      if (page.items.size() < limit) continue;
      if (!is_last || id != found.back().first) page.next = after;
      co_return page;
    }
    looked_at += found.size();
    if (is_last) break;
    if (looked_at < looked_at_max) continue;
    page.next = after;
    break;
  }
  co_return page;
}

Task<Result<Page<WorkflowId>>> Engine::list_workflows(std::optional<WorkflowId> after,
                                                      std::size_t limit) const {
  const CoreRef core = core_;
  limit = std::min(limit, page_max);
  Page<WorkflowId> page;
  Partition partition = after ? after->partition() : Partition{};
  for (; limit > 0 && partition.number < partitions_max; ++partition.number) {
    const std::size_t wanted = limit + 1 - page.items.size();
    WEIR_CO_TRY(found, co_await core->workflows(partition, after, wanted));
    after.reset();
    page.items.insert(page.items.end(), found.begin(), found.end());
    if (page.items.size() <= limit) continue;
    page.items.resize(limit);
    page.next = page.items.back();
    break;
  }
  co_return page;
}

Task<Result<EdgeGroupPage>> Engine::edge_groups(WorkflowId workflow,
                                                std::optional<ExecutionId> after,
                                                std::size_t limit) const {
  const CoreRef core = core_;
  limit = std::min(limit, page_max);
  if (limit == 0) co_return EdgeGroupPage();
  WEIR_CO_TRY(ids, co_await core->members(workflow, after, limit + 1));
  const bool is_last = ids.size() <= limit;
  if (!is_last) ids.pop_back();
  co_return co_await run(core, [=](Draft& draft) -> Result<EdgeGroupPage> {
    if (draft.find<Workflow>(workflow) == nullptr) return internal::no_such(workflow);
    EdgeGroupPage page;
    for (const ExecutionId& id : ids) {
      if (const EdgeGroup* group = draft.find<EdgeGroup>(id)) page.items.push_back({id, *group});
    }
    if (!is_last) page.next = ids.back();
    return page;
  });
}

Task<Result<std::vector<ExecutionInfo>>> Engine::executions(std::vector<ExecutionId> ids) const {
  return run(core_, [ids = std::move(ids)](Draft& draft) -> Result<std::vector<ExecutionInfo>> {
    std::vector<ExecutionInfo> found;
    for (const ExecutionId& id : ids) {
      const Execution* execution = draft.find<Execution>(id);
      const ExecutionSpec* spec = draft.find<ExecutionSpec>(id);
      if (execution == nullptr || spec == nullptr) continue;
      found.push_back({id, *spec, *execution, execution->public_state()});
    }
    return found;
  });
}

Task<Result<std::vector<WorkflowInfo>>> Engine::workflows(std::vector<WorkflowId> ids) const {
  return run(core_, [ids = std::move(ids)](Draft& draft) -> Result<std::vector<WorkflowInfo>> {
    std::vector<WorkflowInfo> found;
    for (const WorkflowId& id : ids) {
      if (const Workflow* workflow = draft.find<Workflow>(id))
        found.push_back({id, *workflow, workflow->progress()});
    }
    return found;
  });
}

Task<Result<std::vector<EdgeInfo>>> Engine::edges(WorkflowId workflow,
                                                  std::vector<ExecutionId> downstreams) const {
  return run(core_,
             [workflow,
              downstreams = std::move(downstreams)](Draft& draft) -> Result<std::vector<EdgeInfo>> {
               std::vector<EdgeInfo> found;
               for (const ExecutionId& id : downstreams) {
                 const Links* links = draft.find<Links>(id);
                 if (links == nullptr) continue;
                 for (const EdgeId& edge_id : links->in) {
                   const Edge* edge = draft.find<Edge>(edge_id);
                   if (edge != nullptr && edge->workflow == workflow)
                     found.push_back({edge_id, *edge});
                 }
               }
               if (found.empty() && draft.find<Workflow>(workflow) == nullptr) {
                 return internal::no_such(workflow);
               }
               return found;
             });
}

}  // namespace weir::flow::workflow
