#include <weir/server/internal/execution_pages.hpp>

#include <algorithm>

#include <weir/runtime/try.hpp>
#include <weir/server/internal/workflow_calls.hpp>
#include <weir/server/internal/workflow_json.hpp>

namespace weir::server::internal {

namespace workflow = flow::workflow;
using workflow::ExecutionId;

namespace {

/// What an execution is to do is not in the index, and may be a megabyte each.
constexpr std::size_t described_at_once = 100;

Outcome<std::optional<ExecutionId>> read_after(const Call* call) {
  const std::string* text = call->query("after");
  if (!text) return std::optional<ExecutionId>();
  auto id = parse_execution(*text);
  if (!id) return std::move(id).error();
  return std::optional(*id);
}

/// Of what was found. An execution that is something else by now is left out: who asks for those
/// that are active is not shown one that has ended.
Task<Result<>> write_page(const workflow::Engine* engine, const workflow::ExecutionFilter* filter,
                          std::vector<ExecutionId> ids, JsonWriter* json) {
  for (std::size_t begin = 0; begin < ids.size(); begin += described_at_once) {
    const std::size_t end = std::min(begin + described_at_once, ids.size());
    WEIR_CO_TRY(infos, co_await engine->executions({ids.data() + begin, ids.data() + end}));
    for (const workflow::ExecutionInfo& info : infos)
      if (filter->admits(info.execution)) write_execution(*json, info, With::summary);
  }
  co_return {};
}

}  // namespace

Task<Response> execution_page(const Call* call, workflow::ExecutionFilter filter) {
  WEIR_CO_TRY(engine, engine_of(call));
  WEIR_CO_TRY(limit, page_limit(call));
  WEIR_CO_TRY(after, read_after(call));
  const std::vector<std::string>& own = call->caller.namespaces;
  if (own.size() == 1 && !filter.space) filter.space = own.front();
  WEIR_CO_TRY(page, co_await engine->list_executions(filter, after, limit));
  std::vector<ExecutionId> ids;
  for (const workflow::ExecutionSummary& summary : page.items)
    if (sees_space(call->caller, summary.execution.space)) ids.push_back(summary.id);
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key("executions").begin_array();
  WEIR_CO_TRY_VOID(co_await write_page(engine, &filter, std::move(ids), &json));
  json.end_array().key("next");
  write_text(json, page.next ? to_string(*page.next) : "");
  json.end_object();
  co_return Response::json(std::move(text));
}

}  // namespace weir::server::internal
