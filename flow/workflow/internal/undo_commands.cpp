#include <weir/flow/workflow/internal/undo_commands.hpp>

#include <algorithm>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>
#include <weir/flow/workflow/internal/validation.hpp>

namespace weir::flow::workflow::internal {
namespace {

/// Whether a durable coroutine did something. Only what was claimed can have.
bool has_journal(Draft& draft, const ExecutionId& id, const Execution& execution) {
  if (execution.attempts == 0) return false;
  const JournalHead* head = draft.find<JournalHead>(id);
  return head != nullptr && head->begin < head->end;
}

/// Whether it failed of its own accord after its compensations, which are the last that it does.
/// One whose code has changed meanwhile may go on with them.
bool has_undone_itself(Draft& draft, const ExecutionId& id, const Execution& execution) {
  if (execution.state.outcome != Outcome::failed) return false;
  const JournalEntry* last = draft.find<JournalEntry>({id, draft.find<JournalHead>(id)->end - 1});
  if (last == nullptr || last->kind != JournalKind::compensation) return false;
  return !execution.end_reason.starts_with(Error(Errc::code_changed).message());
}

}  // namespace

ExecutionId undo_id(const ExecutionId& id, const Execution& execution) {
  // Each end of an execution has its epoch.
  std::uint64_t milliseconds = 0;
  std::uint64_t seed = 0x756e646fU ^ execution.epoch;
  for (std::size_t i = 0; i < id.uuid.bytes.size(); ++i) {
    if (i < 6) milliseconds = milliseconds << 8 | id.uuid.bytes[i];
    seed = (seed ^ id.uuid.bytes[i]) * 0x9e3779b97f4a7c15U;
    seed ^= seed >> 29;
  }
  const std::uint64_t low = (seed ^ (seed >> 32)) * 0xbf58476d1ce4e5b9U;
  return ExecutionId::in_lane(execution.lane, make_timed_uuid(milliseconds, seed, low));
}

Result<> begin_undo(Draft& draft, const ExecutionId& id, const Execution& execution,
                    std::optional<Time> leased_until) {
  if (!has_journal(draft, id, execution)) return {};
  const ExecutionSpec* spec = draft.find<ExecutionSpec>(id);
  // Those of Weir itself have nothing to undo.
  if (spec == nullptr || is_own_kind(spec->kind)) return {};
  const ExecutionId undo = undo_id(id, execution);
  Execution made;
  made.space = execution.space;
  made.lane = execution.lane;
  made.capabilities = execution.capabilities;
  made.limit_keys = execution.limit_keys;
  made.priority = execution.priority;
  made.eligible_at = std::max(draft.now(), leased_until.value_or(draft.now()));
  made.changed_at = draft.now();
  const bool is_later = made.eligible_at > draft.now();
  draft.note_absent<JournalHead>(undo);
  draft.put<ExecutionSpec>(undo, {.kind = undo_kind,
                                  .payload = to_string(id),
                                  .creator = to_string(id),
                                  .created_at = draft.now(),
                                  .trace = spec->trace});
  draft.put<Execution>(undo, std::move(made));
  auto begun = change(draft, undo, {is_later ? EventKind::promote_delayed : EventKind::promote});
  if (!begun) return begun.error();
  return {};
}

bool is_being_undone(Draft& draft, const ExecutionId& id, const Execution& execution) {
  if (execution.state.outcome == Outcome::success || execution.attempts == 0) return false;
  const Execution* undo = draft.find<Execution>(undo_id(id, execution));
  return undo != nullptr && !undo->has_ended();
}

Result<> forget_undone(Draft& draft, const ExecutionId& id, const Execution& execution) {
  if (!has_journal(draft, id, execution)) return {};
  const ExecutionId undo = undo_id(id, execution);
  const Execution* undoing = draft.find<Execution>(undo);
  if (undoing == nullptr && !has_undone_itself(draft, id, execution)) return {};
  if (undoing != nullptr && !undoing->has_ended()) {
    return Error(Errc::wrong_state,
                 "replay " + to_string(id) + ": what it did is being undone by " + to_string(undo));
  }
  JournalHead& head = *draft.edit<JournalHead>(id);
  const JournalEntry* first = draft.find<JournalEntry>({id, head.begin});
  std::optional<JournalEntry> input;  // it begins with that, after `continue_as_new`
  if (first != nullptr && first->kind == JournalKind::input) input = *first;
  while (head.begin < head.end) draft.remove<JournalEntry>({id, head.begin++});
  if (input) draft.put<JournalEntry>({id, head.end++}, *std::move(input));
  return {};
}

}  // namespace weir::flow::workflow::internal
