#include <weir/flow/workflow/internal/working_set.hpp>

namespace weir::flow::workflow::internal {

Missing::Missing() = default;
Missing::Missing(const Missing&) = default;
Missing::Missing(Missing&&) noexcept = default;
Missing& Missing::operator=(const Missing&) = default;
Missing& Missing::operator=(Missing&&) noexcept = default;
Missing::~Missing() = default;

void Missing::clear() {
  each([](auto& list) { list.keys.clear(); });
  count_ = 0;
}

WorkingSet::WorkingSet() = default;
WorkingSet::~WorkingSet() = default;

bool WorkingSet::is_changed() const {
  bool is_changed = !notices_.empty();
  tables_.each([&](const auto& table) { is_changed = is_changed || !table.changed.empty(); });
  return is_changed;
}

std::size_t WorkingSet::changes() const {
  std::size_t changes = 0;
  tables_.each([&](const auto& table) { changes += table.changed.size(); });
  return changes;
}

void WorkingSet::note_taken() {
  for (const ExecutionId& id : tables_.of<Execution>().changed) {
    const auto& execution = find<Execution>(id)->current;
    // Nobody depends on one without a workflow.
    if (execution && execution->has_ended() && !execution->workflow) leaving_.push_back(id);
  }
  tables_.each([&](auto& table) {
    using Record = typename std::remove_reference_t<decltype(table)>::Record;
    for (const auto& key : table.changed) {
      auto& slot = table.slots.find(key)->second;
      slot.stored = slot.standing();
      slot.is_changed = false;
      if (!slot.current || is_only_written<Record>) gone_.of<Record>().keys.push_back(key);
    }
    table.changed.clear();
  });
  notices_.clear();
  left_.clear();
}

template <class R>
void WorkingSet::forget_record(const KeyOf<R>& key) {
  auto& slots = tables_.of<R>().slots;
  const auto found = slots.find(key);
  if (found != slots.end() && !found->second.is_changed) slots.erase(found);
}

void WorkingSet::forget(std::size_t records_max) {
  for (const ExecutionId& id : leaving_) forget(id);
  leaving_.clear();
  forget_gone();
  tables_.each([&](auto& table) {
    if (table.slots.size() <= records_max) return;
    std::erase_if(table.slots, [](const auto& slot) { return !slot.second.is_changed; });
  });
}

void WorkingSet::forget_gone() {
  gone_.each([&](auto& list) {
    using Record = typename std::remove_reference_t<decltype(list)>::Record;
    for (const auto& key : list.keys) {
      const Slot<Record>* slot = find<Record>(key);
      const bool is_gone = slot != nullptr && (!slot->current || is_only_written<Record>);
      if (is_gone) forget_record<Record>(key);
    }
    list.keys.clear();
  });
}

void WorkingSet::forget(const ExecutionId& id) {
  const Slot<Execution>* slot = find<Execution>(id);
  if (slot == nullptr || slot->is_changed) return;
  const std::uint32_t attempts = slot->current ? slot->current->attempts : 0;
  for (std::uint32_t number = 0; number <= attempts; ++number) {
    forget_record<Attempt>({id, number});
  }
  if (const Slot<JournalHead>* head = find<JournalHead>(id); head != nullptr && head->current) {
    for (std::uint32_t place = head->current->begin; place < head->current->end; ++place) {
      forget_record<JournalEntry>({id, place});
    }
  }
  tables_.each([&](auto& table) {
    using Record = typename std::remove_reference_t<decltype(table)>::Record;
    if constexpr (std::is_same_v<KeyOf<Record>, ExecutionId>) forget_record<Record>(id);
  });
}

}  // namespace weir::flow::workflow::internal
