#include <weir/flow/workflow/internal/journal_commands.hpp>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>
#include <weir/flow/workflow/internal/validation.hpp>

namespace weir::flow::workflow::internal {
namespace {

Result<> check_end(const ExecutionId& id, const JournalHead& head, std::uint32_t end,
                   std::size_t added) {
  if (head.end != end) {
    return Error(Errc::stale_revision, "the journal of " + to_string(id) + " ends at " +
                                           std::to_string(head.end) + ", not at " +
                                           std::to_string(end));
  }
  if (head.end - head.begin + added > journal_entries_max) {
    return Error(Errc::limit_reached, "the journal of " + to_string(id) + " has " +
                                          std::to_string(head.end - head.begin) +
                                          " entries: use continue_as_new");
  }
  return {};
}

}  // namespace

Result<> append_journal(Draft& draft, const Handle& handle, std::uint32_t end,
                        const std::vector<JournalEntry>& entries) {
  if (auto valid = check_lease(draft, handle); !valid) return valid;
  JournalHead& head = draft.edit_or_make<JournalHead>(handle.execution);
  if (auto valid = check_end(handle.execution, head, end, entries.size()); !valid) return valid;
  for (const JournalEntry& entry : entries) {
    if (auto valid = validate_name("step", entry.name, true); !valid) return valid;
    if (auto valid = validate_payload("step '" + entry.name + "'", entry.payload); !valid) {
      return valid;
    }
    draft.put<JournalEntry>({handle.execution, head.end++}, entry);
  }
  return {};
}

Result<JournalHead> restart_journal(Draft& draft, const Handle& handle, const std::string& input) {
  if (auto valid = validate_payload("input", input); !valid) return valid.error();
  if (auto valid = check_lease(draft, handle); !valid) return valid.error();
  JournalHead& head = draft.edit_or_make<JournalHead>(handle.execution);
  while (head.begin < head.end) draft.remove<JournalEntry>({handle.execution, head.begin++});
  draft.put<JournalEntry>({handle.execution, head.end++},
                          {.kind = JournalKind::input, .payload = input, .at = draft.now()});
  return head;
}

Result<Journal> read_journal(Draft& draft, const ExecutionId& id) {
  if (draft.find<Execution>(id) == nullptr) return no_such(id);
  const JournalHead* head = draft.find<JournalHead>(id);
  if (head == nullptr) return Journal{};
  Journal journal{*head, {}};
  bool is_whole = true;
  for (std::uint32_t place = head->begin; place < head->end; ++place) {
    const JournalEntry* entry = draft.find<JournalEntry>({id, place});
    is_whole = is_whole && entry != nullptr;
    if (is_whole) journal.entries.push_back(*entry);
  }
  if (is_whole) return journal;
  return Error(Errc::corruption, "the journal of " + to_string(id) + " has " +
                                     std::to_string(journal.entries.size()) + " entries of " +
                                     std::to_string(head->end - head->begin));
}

}  // namespace weir::flow::workflow::internal
