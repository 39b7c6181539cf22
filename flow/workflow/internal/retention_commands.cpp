#include <weir/flow/workflow/internal/retention_commands.hpp>

#include <algorithm>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/undo_commands.hpp>
#include <weir/flow/workflow/internal/validation.hpp>

namespace weir::flow::workflow::internal {
namespace {

RemainsKey remains_key(const ExecutionId& id) { return {id.partition, id.uuid, false}; }
RemainsKey remains_key(const WorkflowId& id) { return {id.partition(), id.uuid, true}; }

EndedKey ended_key(const ExecutionId& id, const Execution& execution, Time at) {
  return {execution.space, at, id.partition, id.uuid, false};
}
EndedKey ended_key(const WorkflowId& id, const Workflow& workflow, Time at) {
  return {workflow.space, at, id.partition(), id.uuid, true};
}

void drop_signal(Draft& draft, const ExecutionId& id, std::uint32_t number) {
  const Signal* signal = draft.find<Signal>({id, number});
  if (signal != nullptr && !signal->id.empty()) {
    draft.remove<SignalUse>({id, signal->waitpoint, signal->id});
  }
  draft.remove<Signal>({id, number});
}

/// At most so many of them.
void drop_remains(Draft& draft, const ExecutionId& id, Remains& rest, std::size_t records_max) {
  std::size_t left = records_max;
  for (; left > 0 && rest.attempts > 0; --left) draft.remove<Attempt>({id, --rest.attempts});
  for (; left > 0 && rest.journal_begin < rest.journal_end; --left) {
    draft.remove<JournalEntry>({id, --rest.journal_end});
  }
  for (; left > 0 && rest.signals > 0; --left) drop_signal(draft, id, --rest.signals);
  for (; left > 0 && !rest.edges.empty(); --left) {
    draft.remove<Edge>(rest.edges.back());
    rest.edges.pop_back();
  }
}

/// The key can be used again, unless it is another's by now.
void drop_idempotency(Draft& draft, const ExecutionId& id, const Execution& execution) {
  const ExecutionSpec* spec = draft.find<ExecutionSpec>(id);
  if (spec == nullptr || spec->idempotency_key.empty()) return;
  const IdempotencyKey key = {execution.space, spec->idempotency_key};
  const Idempotency* used = draft.find<Idempotency>(key);
  if (used != nullptr && used->execution == id) draft.remove<Idempotency>(key);
}

/// What it has many of.
Remains remains_of(Draft& draft, const ExecutionId& id, const Execution& execution) {
  Remains rest;
  // The newest attempt is part of the execution.
  rest.attempts = execution.attempts > 0 ? execution.attempts - 1 : 0;
  rest.signals = execution.signals;
  if (const JournalHead* head = draft.find<JournalHead>(id)) {
    rest.journal_begin = head->begin;
    rest.journal_end = head->end;
  }
  if (!execution.workflow) return rest;
  // Each edge goes with the execution that it leads into.
  if (const Links* links = draft.find<Links>(id)) rest.edges = links->in;
  return rest;
}

/// All that is seen of it, and as much of the rest as there is room for. True if that is all.
bool remove(Draft& draft, const ExecutionId& id, const EndedKey& due, std::size_t records_max) {
  const Execution* found = draft.find<Execution>(id);
  if (found == nullptr) return true;
  const Execution execution = *found;
  Remains rest = remains_of(draft, id, execution);
  drop_idempotency(draft, id, execution);
  draft.remove<Execution>(id);
  draft.remove<ExecutionSpec>(id);
  draft.remove<JournalHead>(id);
  draft.remove<Parent>(id);
  if (execution.suspensions > 0) draft.remove<Suspension>(id);
  if (execution.signals > 0) draft.remove<Mailbox>(id);
  if (execution.workflow) {
    draft.remove<Links>(id);
    draft.remove<EdgeGroup>(id);
  }
  drop_remains(draft, id, rest, records_max);
  if (rest.is_empty()) return true;
  draft.put<Remains>(remains_key(id), std::move(rest));
  draft.put<Ended>({due.space, due.at, id.partition, id.uuid, false}, {});
  return false;
}

/// Whether somebody may still ask what came of it.
bool is_asked_for(Draft& draft, const ExecutionId& id) {
  const Parent* parent = draft.find<Parent>(id);
  if (parent == nullptr) return false;
  const Execution* execution = draft.find<Execution>(parent->execution);
  if (execution == nullptr || execution->has_ended()) return false;
  const JournalHead* head = draft.find<JournalHead>(parent->execution);
  return head == nullptr || head->begin <= parent->journal;
}

/// Looked at again when it would be kept for as long once more.
Retired postpone(Draft& draft, const EndedKey& key) {
  Ended entry;
  if (const Ended* found = draft.find<Ended>(key)) entry = *found;
  ++entry.postponed;
  draft.remove<Ended>(key);
  EndedKey later = key;
  later.at = draft.now();
  draft.put<Ended>(later, entry);
  return {.is_postponed = true};
}

Retired retire_remains(Draft& draft, const EndedKey& key, std::size_t records_max) {
  Retired retired;
  const RemainsKey where = remains_key(key.execution());
  if (Remains* rest = draft.edit<Remains>(where)) {
    drop_remains(draft, key.execution(), *rest, records_max);
    retired.is_left = !rest->is_empty();
    if (!retired.is_left) draft.remove<Remains>(where);
  }
  if (!retired.is_left) draft.remove<Ended>(key);
  return retired;
}

Retired retire_execution(Draft& draft, const EndedKey& key, std::size_t records_max) {
  const ExecutionId id = key.execution();
  const Execution* execution = draft.find<Execution>(id);
  if (execution == nullptr) return retire_remains(draft, key, records_max);
  if (!execution->has_ended() || *execution->ended_at > key.at) {
    // It runs again, or has ended again: that end has an entry, or will have one.
    draft.remove<Ended>(key);
    return {};
  }
  if (is_asked_for(draft, id) || is_being_undone(draft, id, *execution)) {
    return postpone(draft, key);
  }
  draft.remove<Ended>(key);
  const bool is_all = remove(draft, id, key, records_max);
  return {.executions = 1, .is_left = !is_all};
}

Retired retire_workflow(Draft& draft, const EndedKey& key) {
  const WorkflowId id = key.workflow();
  const Workflow* workflow = draft.find<Workflow>(id);
  if (workflow == nullptr) return {.is_left = true};
  if (!workflow->has_ended() || *workflow->ended_at > key.at) {
    draft.remove<Ended>(key);
    return {};
  }
  if (workflow->cancelling || workflow->counts.terminal() != workflow->counts.total()) {
    return postpone(draft, key);
  }
  for (std::uint32_t number = 0; number * staged_max < workflow->staged; ++number) {
    draft.remove<Staged>({id, number});
  }
  draft.remove<Workflow>(id);
  draft.put<Remains>(remains_key(id), {});
  return {.workflows = 1, .is_left = true};
}

}  // namespace

void note_ended(Draft& draft, const ExecutionId& id, const Execution& execution) {
  if (draft.notes_ends()) draft.put<Ended>(ended_key(id, execution, draft.now()), {});
}

void note_ended(Draft& draft, const WorkflowId& id, const Workflow& workflow) {
  if (draft.notes_ends()) draft.put<Ended>(ended_key(id, workflow, draft.now()), {});
}

Result<bool> add_entries(Draft& draft, const std::vector<ExecutionId>& executions) {
  for (const ExecutionId& id : executions) {
    const Execution* execution = draft.find<Execution>(id);
    if (execution == nullptr || !execution->has_ended() || execution->workflow) continue;
    draft.put<Ended>(ended_key(id, *execution, *execution->ended_at), {});
  }
  return true;
}

Result<bool> add_entries(Draft& draft, const std::vector<WorkflowId>& workflows) {
  for (const WorkflowId& id : workflows) {
    const Workflow* workflow = draft.find<Workflow>(id);
    if (workflow == nullptr || !workflow->has_ended()) continue;
    draft.put<Ended>(ended_key(id, *workflow, *workflow->ended_at), {});
  }
  return true;
}

Result<Retired> retire(Draft& draft, const EndedKey& key, std::size_t records_max) {
  return key.is_workflow ? retire_workflow(draft, key) : retire_execution(draft, key, records_max);
}

Result<Retired> retire_members(Draft& draft, const EndedKey& key,
                               const std::vector<ExecutionId>& members, bool is_last,
                               std::size_t records_max) {
  Retired retired{.is_left = !is_last};
  for (const ExecutionId& id : members) {
    const Execution* execution = draft.find<Execution>(id);
    if (execution == nullptr || execution->workflow != key.workflow()) continue;
    ++retired.executions;
    remove(draft, id, key, records_max);
  }
  if (is_last) {
    draft.remove<Remains>(remains_key(key.workflow()));
    draft.remove<Ended>(key);
  }
  return retired;
}

Result<> check_is_free(Draft& draft, const RemainsKey& key) {
  if (draft.find<Remains>(key) == nullptr) return {};
  return Error(Errc::already_exists,
               (key.is_workflow ? "workflow " + to_string(WorkflowId{key.uuid})
                                : "execution " + to_string(ExecutionId{key.partition, key.uuid})) +
                   " is being removed");
}

Result<> acknowledge_notices(Draft& draft, const std::string& consumer, std::uint64_t number) {
  if (auto valid = validate_name("consumer", consumer); !valid) return valid;
  auto& passed = draft.edit_or_make<NoticeCursors>(the_cursors).passed;
  if (passed.size() >= notice_cursors_max && !passed.contains(consumer)) {
    return Error(Errc::limit_reached, "consumer '" + consumer + "': there are " +
                                          std::to_string(passed.size()) + " already");
  }
  std::uint64_t& own = passed[consumer];
  own = std::max(own, number);
  return {};
}

Result<bool> drop_notice_cursor(Draft& draft, const std::string& consumer) {
  NoticeCursors* cursors = draft.edit<NoticeCursors>(the_cursors);
  return cursors != nullptr && cursors->passed.erase(consumer) > 0;
}

}  // namespace weir::flow::workflow::internal
