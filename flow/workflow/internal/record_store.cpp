#include <weir/flow/workflow/internal/record_store.hpp>

#include <algorithm>
#include <map>

#include <weir/flow/workflow/internal/workflow_store.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow::internal {
namespace {

// Persisted: what the counters are of.
constexpr std::uint8_t notice_counter = 1;
constexpr std::uint8_t identity_counter = 2;
constexpr std::uint8_t first_notice_counter = 3;

/// In one row.
constexpr std::size_t notices_together_max = 256;

template <class R>
Task<Result<>> open_space(storage::Store* store, RecordSpace<R>* space) {
  WEIR_CO_TRY(opened, co_await store->open_state<KeyOf<R>, R>(RecordTraits<R>::space));
  space->space = std::move(opened);
  co_return {};
}

template <class Id>
Task<Result<>> open_index(storage::Store* store, std::string name,
                          std::optional<storage::StateSpace<Id, bool>>* index) {
  WEIR_CO_TRY(opened, co_await store->open_state<Id, bool>(std::move(name)));
  *index = std::move(opened);
  co_return {};
}

/// In `first`, if there is one, or in `space`.
template <class R>
Task<Result<>> read_records(const storage::Store* store, const RecordSpace<R>* space,
                            const RecordSpace<R>* first, std::vector<KeyOf<R>> keys,
                            WorkingSet* records) {
  const storage::CurrentState state = store->current_state();
  for (const KeyOf<R>& key : keys) {
    if (records->find<R>(key) != nullptr) continue;
    std::optional<R> found;
    if (first != nullptr) {
      WEIR_CO_TRY(record, co_await state.get(*first->space, key));
      found = std::move(record);
    }
    if (!found) {
      WEIR_CO_TRY(record, co_await state.get(*space->space, key));
      found = std::move(record);
    }
    records->add<R>(key, std::move(found));
  }
  co_return {};
}

template <class Id>
Task<Result<std::vector<Id>>> read_index(const storage::Store* store,
                                         storage::StateSpace<Id, bool> index) {
  std::vector<Id> keys;
  auto scan = store->current_state().scan(index);
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    keys.push_back(row->key);
  }
  co_return keys;
}

/// The second parts of keys that have the same first one, after one of them.
template <class First, class Second>
Task<Result<std::vector<Second>>> read_page(
    const storage::Store* store, storage::StateSpace<std::pair<First, Second>, bool> index,
    First first, std::optional<Second> after, std::size_t keys_max) {
  using Range = storage::KeyRange<std::pair<First, Second>>;
  std::vector<Second> keys;
  auto scan = store->current_state().scan(
      index, after ? Range::from({first, *after}) : Range::prefix(first));
  while (keys.size() < keys_max) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row || row->key.first != first) break;
    if (!after || row->key.second != *after) keys.push_back(row->key.second);
  }
  co_return keys;
}

template <class Id>
void list(storage::Transaction& transaction, const storage::StateSpace<Id, bool>& index,
          const Id& id, Standing before, Standing after) {
  const bool was_listed = before == Standing::listed;
  const bool is_listed = after == Standing::listed;
  if (is_listed && !was_listed) transaction.put(index, id, true);
  if (was_listed && !is_listed) transaction.remove(index, id);
}

}  // namespace

Task<Result<RecordStore>> RecordStore::open(storage::Store* store) {
  RecordStore records(store);
  WEIR_CO_TRY_VOID(co_await records.open_spaces());
  WEIR_CO_TRY_VOID(co_await records.open_indexes());
  WEIR_CO_TRY_VOID(co_await records.find_identity());
  co_return std::move(records);
}

Task<Result<>> RecordStore::open_spaces() {
  std::vector<Task<Result<>>> opening;
  spaces_.each([&](auto& space) { opening.push_back(open_space(store_, &space)); });
  for (auto& task : opening) WEIR_CO_TRY_VOID(co_await std::move(task));
  co_return {};
}

Task<Result<>> RecordStore::open_indexes() {
  WEIR_CO_TRY(live, co_await store_->open_state<ExecutionId, Execution>("workflow.live"));
  live_.space = std::move(live);
  WEIR_CO_TRY_VOID(
      co_await open_index(store_, "workflow.cancelling_workflows", &cancelling_workflows_));
  WEIR_CO_TRY_VOID(co_await open_index(store_, "workflow.cancelling_groups", &cancelling_groups_));
  WEIR_CO_TRY_VOID(co_await open_index(store_, "workflow.members", &members_));
  WEIR_CO_TRY_VOID(co_await open_index(store_, "workflow.by_partition", &placed_));
  WEIR_CO_TRY(notices,
              co_await store_->open_rows<std::uint64_t, std::vector<Notice>>("workflow.notices"));
  notices_ = std::move(notices);
  WEIR_CO_TRY(counters,
              co_await store_->open_state<std::uint8_t, std::uint64_t>("workflow.counters"));
  counters_ = std::move(counters);
  co_return {};
}

Task<Result<>> RecordStore::find_identity() {
  storage::Transaction transaction = store_->begin();
  WEIR_CO_TRY(known, co_await transaction.get(*counters_, identity_counter));
  // Systems begin with the same random numbers, unless they are told otherwise.
  const auto made_at = static_cast<std::uint64_t>(store_->time().time_since_epoch().count());
  identity_ = known.value_or(store_->system().random() ^ (made_at * 0x9e3779b97f4a7c15U));
  if (known) co_return {};
  transaction.put(*counters_, identity_counter, identity_);
  WEIR_CO_TRY_VOID(co_await transaction.commit());
  co_return {};
}

Task<Result<>> RecordStore::read(Missing missing, WorkingSet* records) const {
  std::vector<Task<Result<>>> reading;
  missing.each([&](auto& list) {
    using Record = typename std::remove_cvref_t<decltype(list)>::Record;
    if (list.keys.empty()) return;
    const RecordSpace<Record>* first = nullptr;
    if constexpr (std::is_same_v<Record, Execution>) first = &live_;
    reading.push_back(
        read_records<Record>(store_, &spaces_.of<Record>(), first, std::move(list.keys), records));
  });
  for (auto& task : reading) WEIR_CO_TRY_VOID(co_await std::move(task));
  co_return {};
}

storage::Transaction RecordStore::write(const WorkingSet& records,
                                        std::uint64_t first_notice) const {
  storage::Transaction transaction = store_->begin();
  records.each_table([&](const auto& table) {
    using Record = typename std::remove_cvref_t<decltype(table)>::Record;
    const auto& space = *spaces_.of<Record>().space;
    // What is written in order is found a place for in less time.
    auto keys = table.changed;
    std::ranges::sort(keys);
    for (const auto& key : keys) {
      const auto& slot = table.slots.find(key)->second;
      if constexpr (std::is_same_v<Record, Execution>) {
        write_execution(transaction, key, slot);
      } else if (slot.current) {
        transaction.put(space, key, *slot.current);
      } else {
        transaction.remove(space, key);
      }
    }
  });
  write_indexes(transaction, records);
  write_notices(transaction, records.notices(), first_notice);
  transaction.set_origin("workflow");
  return transaction;
}

void RecordStore::write_notices(storage::Transaction& transaction,
                                const std::vector<Notice>& notices,
                                std::uint64_t first_notice) const {
  if (notices.empty()) return;
  std::uint64_t next = first_notice;
  for (auto from = notices.begin(); from != notices.end();) {
    const auto left = static_cast<std::size_t>(notices.end() - from);
    const auto to = from + static_cast<std::ptrdiff_t>(std::min(left, notices_together_max));
    next += static_cast<std::uint64_t>(to - from);
    transaction.put(*notices_, next - 1, std::vector<Notice>(from, to));
    from = to;
  }
  transaction.put(*counters_, notice_counter, next);
}

/// Those that have not ended are apart: they are all that an engine must know when it is opened.
void RecordStore::write_execution(storage::Transaction& transaction, const ExecutionId& id,
                                  const Slot<Execution>& slot) const {
  const auto& ended = *spaces_.of<Execution>().space;
  const Standing after = slot.standing();
  if (slot.stored == Standing::listed && after != Standing::listed) {
    transaction.remove(*live_.space, id);
  }
  if (slot.stored == Standing::common && after != Standing::common) transaction.remove(ended, id);
  if (slot.current) {
    transaction.put(after == Standing::listed ? *live_.space : ended, id, *slot.current);
  }
}

void RecordStore::write_journal(storage::Transaction& transaction, const ExecutionId& id,
                                const JournalHead& head,
                                const std::vector<JournalEntry>& entries) const {
  std::uint32_t place = head.end - static_cast<std::uint32_t>(entries.size());
  for (const JournalEntry& entry : entries) {
    transaction.put(*spaces_.of<JournalEntry>().space, {id, place++}, entry);
  }
  transaction.put(*spaces_.of<JournalHead>().space, id, head);
}

void RecordStore::write_indexes(storage::Transaction& transaction,
                                const WorkingSet& records) const {
  const auto& executions = records.table<Execution>();
  const auto join = [&](const ExecutionId& id, const std::optional<Execution>& execution) {
    if (execution && execution->workflow) {
      transaction.put(*members_, {*execution->workflow, id}, true);
    }
  };
  for (const auto& [workflow, id] : records.left()) {
    transaction.remove(*members_, {workflow, id});
    // Its id may have been used again at once.
    join(id, executions.slots.find(id)->second.current);
  }
  for (const ExecutionId& id : executions.changed) {
    const auto& slot = executions.slots.find(id)->second;
    if (slot.stored == Standing::absent) join(id, slot.current);
  }
  const auto& workflows = records.table<Workflow>();
  for (const WorkflowId& id : workflows.changed) {
    const auto& slot = workflows.slots.find(id)->second;
    list(transaction, *cancelling_workflows_, id, slot.stored, slot.standing());
    if (slot.stored == Standing::absent) transaction.put(*placed_, {id.partition(), id}, true);
    if (!slot.current) transaction.remove(*placed_, {id.partition(), id});
  }
  const auto& groups = records.table<EdgeGroup>();
  for (const ExecutionId& id : groups.changed) {
    const auto& slot = groups.slots.find(id)->second;
    list(transaction, *cancelling_groups_, id, slot.stored, slot.standing());
  }
}

Task<Result<std::vector<std::pair<ExecutionId, Execution>>>> RecordStore::live() const {
  std::vector<std::pair<ExecutionId, Execution>> found;
  auto scan = store_->current_state().scan(*live_.space);
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    found.emplace_back(row->key, std::move(row->value));
  }
  co_return found;
}

Task<Result<std::vector<std::pair<ExecutionId, Execution>>>> RecordStore::executions(
    bool is_of_live, std::optional<ExecutionId> after, std::size_t executions_max) const {
  using Range = storage::KeyRange<ExecutionId>;
  const Range range = after ? Range::from(*after) : Range::all();
  const storage::CurrentState state = store_->current_state();
  // First of those that live: one that ends meanwhile is seen twice rather than not at all.
  std::map<ExecutionId, Execution> found;
  for (const RecordSpace<Execution>* space : {&live_, &spaces_.of<Execution>()}) {
    if (is_of_live && space != &live_) break;
    auto scan = state.scan(*space->space, range);
    for (std::size_t taken = 0; taken < executions_max;) {
      WEIR_CO_TRY(row, co_await scan.next());
      if (!row) break;
      if (row->key == after) continue;
      found.insert_or_assign(row->key, std::move(row->value));
      ++taken;
    }
  }
  std::vector<std::pair<ExecutionId, Execution>> page;
  for (auto& [id, execution] : found) {
    if (page.size() == executions_max) break;
    page.emplace_back(id, std::move(execution));
  }
  co_return page;
}

Task<Result<std::vector<WorkflowId>>> RecordStore::cancelling_workflows() const {
  return read_index<WorkflowId>(store_, *cancelling_workflows_);
}

Task<Result<std::vector<ExecutionId>>> RecordStore::cancelling_groups() const {
  return read_index<ExecutionId>(store_, *cancelling_groups_);
}

Task<Result<std::vector<ExecutionId>>> RecordStore::members(WorkflowId workflow,
                                                            std::optional<ExecutionId> after,
                                                            std::size_t members_max) const {
  return read_page(store_, *members_, workflow, after, members_max);
}

Task<Result<std::vector<WorkflowId>>> RecordStore::workflows(Partition partition,
                                                             std::optional<WorkflowId> after,
                                                             std::size_t workflows_max) const {
  return read_page(store_, *placed_, partition, after, workflows_max);
}

Task<Result<std::optional<EndedKey>>> RecordStore::first_ended(
    std::optional<std::string> after) const {
  using Range = storage::KeyRange<EndedKey>;
  EndedKey from;
  // The first name that comes after it.
  if (after) from = {.space = *after + '\0', .at = Time::min()};
  auto scan = store_->current_state().scan(*spaces_.of<Ended>().space,
                                           after ? Range::from(from) : Range::all());
  WEIR_CO_TRY(row, co_await scan.next());
  if (!row) co_return std::nullopt;
  co_return row->key;
}

Task<Result<std::vector<EndedKey>>> RecordStore::ended(std::string space,
                                                       std::size_t entries_max) const {
  std::vector<EndedKey> keys;
  auto scan = store_->current_state().scan(*spaces_.of<Ended>().space,
                                           storage::KeyRange<EndedKey>::prefix(space));
  while (keys.size() < entries_max) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    keys.push_back(row->key);
  }
  co_return keys;
}

Task<Result<std::uint64_t>> RecordStore::first_notice() const {
  WEIR_CO_TRY(number, co_await store_->current_state().get(*counters_, first_notice_counter));
  co_return number.value_or(1);
}

Task<Result<RecordStore::NoticesRemoved>> RecordStore::remove_notices(
    std::uint64_t last, Time until, std::size_t commits_max) const {
  NoticesRemoved removed;
  storage::Transaction transaction = store_->begin();
  WEIR_CO_TRY(first, co_await first_notice());
  const storage::ReadTransaction reading = store_->read();
  auto scan = reading.scan(*notices_, storage::KeyRange<std::uint64_t>::from(first));
  for (; commits_max > 0; --commits_max) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    removed.next = row->value.back().at;
    if (row->key > last || *removed.next > until) break;
    transaction.remove(*notices_, row->key);
    first = row->key + 1;
    removed.count += row->value.size();
    removed.next.reset();
  }
  if (removed.count == 0) co_return removed;
  transaction.put(*counters_, first_notice_counter, first);
  transaction.set_origin("workflow");
  WEIR_CO_TRY_VOID(co_await transaction.commit());
  co_return removed;
}

Task<Result<std::uint64_t>> RecordStore::next_notice() const {
  WEIR_CO_TRY(number, co_await store_->current_state().get(*counters_, notice_counter));
  co_return number.value_or(1);
}

Task<Result<std::vector<std::pair<std::uint64_t, Notice>>>> RecordStore::notices(
    std::uint64_t from, std::size_t notices_max) const {
  std::vector<std::pair<std::uint64_t, Notice>> found;
  const storage::ReadTransaction transaction = store_->read();
  // Asked first: what is removed meanwhile is seen in the transaction.
  WEIR_CO_TRY(first, co_await first_notice());
  if (from < first && from > 0) co_return notices_removed(from, first);
  auto scan = transaction.scan(*notices_, storage::KeyRange<std::uint64_t>::from(from));
  while (found.size() < notices_max) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    std::uint64_t number = row->key - row->value.size();
    for (Notice& notice : row->value) {
      if (++number >= from && found.size() < notices_max) {
        found.emplace_back(number, std::move(notice));
      }
    }
  }
  co_return found;
}

}  // namespace weir::flow::workflow::internal
