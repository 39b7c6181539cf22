#include <weir/flow/workflow/internal/working_set.hpp>

#include <algorithm>

#include <weir/storage/key.hpp>
#include <weir/storage/value.hpp>

namespace weir::flow::workflow::internal {

template <class R>
SlotTable<R>::SlotTable() = default;
template <class R>
SlotTable<R>::~SlotTable() = default;

template <class R>
void SlotTable<R>::give_changes(ChangeSink& sink) const {
  std::vector<KeyOf<R>> keys = changed;
  std::ranges::sort(keys);
  std::string key_bytes;
  std::string record_bytes;
  for (const KeyOf<R>& key : keys) {
    const Slot<R>& slot = slots.find(key)->second;
    // It was made and removed since the last commit, and nobody else has one of that key.
    if (!slot.current && slot.is_read && slot.stored == Standing::absent) continue;
    key_bytes.clear();
    storage::KeyCodec<KeyOf<R>>::encode(key, key_bytes);
    ChangedRecord change{kind_number<R>, key_bytes, std::nullopt, slot.stored, slot.standing()};
    if (slot.current) {
      record_bytes.clear();
      storage::ValueCodec<R>::encode(*slot.current, record_bytes);
      change.record = record_bytes;
    }
    sink.take(change);
  }
}

template <class R>
Result<> SlotTable<R>::add(std::string_view key, std::optional<std::string_view> record) {
  auto own_key = storage::decode_key<KeyOf<R>>(key);
  if (!own_key) return own_key.error();
  Slot<R> slot;
  if (record) {
    auto own_record = storage::decode_value<R>(*record);
    if (!own_record) return own_record.error();
    slot.current = *std::move(own_record);
  }
  slot.stored = slot.standing();
  slot.is_read = true;
  slots.try_emplace(*std::move(own_key), std::move(slot));
  return {};
}

template <class R>
void SlotTable<R>::note_taken() {
  for (const KeyOf<R>& key : changed) {
    Slot<R>& slot = slots.find(key)->second;
    slot.stored = slot.standing();
    slot.is_changed = false;
    if (!slot.current || is_only_written<R>) gone_.push_back(key);
  }
  changed.clear();
}

template <class R>
void SlotTable<R>::forget_gone() {
  for (const KeyOf<R>& key : gone_) {
    const auto found = slots.find(key);
    const bool is_gone = found != slots.end() && (!found->second.current || is_only_written<R>);
    if (is_gone && !found->second.is_changed) slots.erase(found);
  }
  gone_.clear();
}

template <class R>
void SlotTable<R>::forget_unchanged(std::size_t records_max) {
  if (slots.size() <= records_max) return;
  std::erase_if(slots, [](const auto& slot) { return !slot.second.is_changed; });
}

template <class R>
void SlotTable<R>::forget_of(const ExecutionId& id) {
  if constexpr (std::is_same_v<KeyOf<R>, ExecutionId>) {
    if (!slots.empty()) forget(id);
  }
}

template class SlotTable<ExecutionSpec>;
template class SlotTable<Execution>;
template class SlotTable<Attempt>;
template class SlotTable<Workflow>;
template class SlotTable<Staged>;
template class SlotTable<Edge>;
template class SlotTable<EdgeGroup>;
template class SlotTable<Links>;
template class SlotTable<Idempotency>;
template class SlotTable<Lane>;
template class SlotTable<Suspension>;
template class SlotTable<Signal>;
template class SlotTable<SignalUse>;
template class SlotTable<Mailbox>;
template class SlotTable<Keyring>;
template class SlotTable<JournalHead>;
template class SlotTable<JournalEntry>;
template class SlotTable<Limit>;
template class SlotTable<Parent>;
template class SlotTable<Ended>;
template class SlotTable<Remains>;
template class SlotTable<NoticeCursors>;

WorkingSet::WorkingSet() {
  RecordKinds::each([&]<class R>(std::type_identity<R>) {
    tables_[kind_number<R>] = std::make_unique<SlotTable<R>>();
  });
}
WorkingSet::~WorkingSet() = default;

void WorkingSet::give_changes(ChangeSink& sink) const {
  for (const auto& table : tables_) {
    if (table->changes() > 0) table->give_changes(sink);
  }
}

/// Nobody depends on an execution without a workflow, nor on those of one that is over.
void WorkingSet::note_ends() {
  const auto is_over = [](const Slot<Workflow>* slot) {
    return slot == nullptr || !slot->current ||
           (slot->current->has_ended() && !slot->current->cancelling);
  };
  for (const ExecutionId& id : table<Execution>().changed) {
    const auto& execution = find<Execution>(id)->current;
    if (!execution || !execution->has_ended()) continue;
    if (!execution->workflow || is_over(find<Workflow>(*execution->workflow))) {
      leaving_.push_back(id);
    } else {
      resting_[*execution->workflow].push_back(id);
      ++resting_count_;
    }
  }
  for (const WorkflowId& id : table<Workflow>().changed) {
    const auto resting = resting_.find(id);
    if (resting == resting_.end() || !is_over(find<Workflow>(id))) continue;
    leaving_.insert(leaving_.end(), resting->second.begin(), resting->second.end());
    resting_count_ -= resting->second.size();
    resting_.erase(resting);
  }
}

void WorkingSet::note_taken() {
  note_ends();
  for (const auto& table : tables_) {
    if (table->changes() > 0) table->note_taken();
  }
  changes_ = 0;
  notices_.clear();
  left_.clear();
}

void WorkingSet::forget(std::size_t records_max) {
  for (const ExecutionId& id : leaving_) forget(id);
  leaving_.clear();
  if (resting_count_ > records_max) {
    resting_.clear();
    resting_count_ = 0;
  }
  for (const auto& table : tables_) {
    table->forget_gone();
    table->forget_unchanged(records_max);
  }
}

void WorkingSet::forget(const ExecutionId& id) {
  const Slot<Execution>* slot = find<Execution>(id);
  if (slot == nullptr || slot->is_changed) return;
  const std::uint32_t attempts = slot->current ? slot->current->attempts : 0;
  for (std::uint32_t number = 0; number <= attempts; ++number) {
    own_table<Attempt>().forget({id, number});
  }
  if (const Slot<JournalHead>* head = find<JournalHead>(id); head != nullptr && head->current) {
    for (std::uint32_t place = head->current->begin; place < head->current->end; ++place) {
      own_table<JournalEntry>().forget({id, place});
    }
  }
  if (const Slot<Links>* links = find<Links>(id); links != nullptr && links->current) {
    for (const EdgeId& edge : links->current->in) own_table<Edge>().forget(edge);
  }
  for (const auto& table : tables_) table->forget_of(id);
}

}  // namespace weir::flow::workflow::internal
