#include <weir/flow/workflow/internal/record_store.hpp>

#include <algorithm>
#include <limits>
#include <map>

#include <weir/flow/workflow/internal/workflow_store.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow::internal {
namespace {

using storage::Encoded;
using Range = storage::KeyRange<Encoded>;

// Persisted: what the counters are of.
constexpr std::uint8_t notice_counter = 1;
constexpr std::uint8_t identity_counter = 2;
constexpr std::uint8_t first_notice_counter = 3;
constexpr std::uint8_t ended_entries_counter = 4;

/// In one row.
constexpr std::size_t notices_together_max = 256;
constexpr std::size_t all_keys = std::numeric_limits<std::size_t>::max();

/// A key space, and the names of what is in it.
struct Opening {
  std::optional<storage::EncodedState>* space;
  std::string name;
  std::string key_signature;
  std::string value_signature;
};

template <class K, class V>
Opening opening(std::optional<storage::EncodedState>& space, const char* name) {
  return {&space, name, storage::KeyCodec<K>::signature(), storage::ValueCodec<V>::signature()};
}

template <class First, class Second>
std::string pair_key(const First& first, const Second& second) {
  std::string bytes = storage::encode_key(first);
  storage::KeyCodec<Second>::encode(second, bytes);
  return bytes;
}

/// What the keys are without their first bytes.
template <class Id>
Result<std::vector<Id>> decode_keys(const std::vector<std::string>& keys, std::size_t skipped = 0) {
  std::vector<Id> ids;
  ids.reserve(keys.size());
  for (const std::string& key : keys) {
    auto id = storage::decode_key<Id>(std::string_view(key).substr(skipped));
    if (!id) return id.error();
    ids.push_back(*std::move(id));
  }
  return ids;
}

Result<std::pair<ExecutionId, Execution>> decode_execution(
    const storage::Row<Encoded, Encoded>& row) {
  auto id = storage::decode_key<ExecutionId>(row.key.bytes);
  if (!id) return id.error();
  auto execution = storage::decode_value<Execution>(row.value.bytes);
  if (!execution) return execution.error();
  return std::pair(*id, *std::move(execution));
}

}  // namespace

/// Puts what has changed into a transaction.
class RecordStore::Writer final : public ChangeSink {
 public:
  Writer(const RecordStore* store, storage::Transaction* transaction)
      : store_(store), transaction_(transaction) {}

  void take(const ChangedRecord& change) override {
    if (change.kind == kind_number<Execution>) return take_execution(change);
    if (change.record) {
      put(store_->of(change.kind), change.key, *change.record);
    } else {
      remove(store_->of(change.kind), change.key);
    }
  }
  void put(const Space& space, std::string_view key, std::string_view value) {
    transaction_->put(space, key, value);
  }
  void remove(const Space& space, std::string_view key) { transaction_->remove(space, key); }
  /// In an index, if it was not before, or not any more.
  void list(const Space& index, std::string_view key, bool was_listed, bool is_listed) {
    if (is_listed && !was_listed) put(index, key, std::string_view("\1", 1));
    if (was_listed && !is_listed) remove(index, key);
  }

 private:
  /// Those that have not ended are apart: they are all that an engine must know when it is opened.
  void take_execution(const ChangedRecord& change) {
    const Space& ended = store_->of(kind_number<Execution>);
    const bool is_live = change.after == Standing::listed;
    if (change.before == Standing::listed && !is_live) remove(*store_->live_, change.key);
    if (change.before == Standing::common && change.after != Standing::common) {
      remove(ended, change.key);
    }
    if (change.record) put(is_live ? *store_->live_ : ended, change.key, *change.record);
  }

  const RecordStore* const store_;
  storage::Transaction* const transaction_;
};

Task<Result<RecordStore>> RecordStore::open(std::shared_ptr<storage::Store> store) {
  RecordStore records(std::move(store));
  WEIR_CO_TRY_VOID(co_await records.open_spaces());
  WEIR_CO_TRY_VOID(co_await records.find_identity());
  co_return std::move(records);
}

Task<Result<>> RecordStore::open_spaces() {
  std::vector<Opening> all;
  RecordKinds::each([&]<class R>(std::type_identity<R>) {
    all.push_back(opening<KeyOf<R>, R>(spaces_[kind_number<R>], RecordTraits<R>::space));
  });
  all.push_back(opening<ExecutionId, Execution>(live_, "workflow.live"));
  all.push_back(opening<WorkflowId, bool>(cancelling_workflows_, "workflow.cancelling_workflows"));
  all.push_back(opening<ExecutionId, bool>(cancelling_groups_, "workflow.cancelling_groups"));
  all.push_back(opening<std::pair<WorkflowId, ExecutionId>, bool>(members_, "workflow.members"));
  all.push_back(opening<std::pair<Partition, WorkflowId>, bool>(placed_, "workflow.by_partition"));
  for (Opening& one : all) {
    WEIR_CO_TRY(opened, co_await storage::open_encoded_state(store_.get(), std::move(one.name),
                                                             std::move(one.key_signature),
                                                             std::move(one.value_signature)));
    *one.space = std::move(opened);
  }
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

Task<Result<std::optional<std::string>>> RecordStore::get(const Space* space,
                                                          std::string key) const {
  WEIR_CO_TRY(found, co_await store_->current_state().get(*space, Encoded{std::move(key)}));
  if (!found) co_return std::nullopt;
  co_return std::move(found->bytes);
}

Task<Result<>> RecordStore::read_kind(std::size_t kind, std::vector<std::string> keys,
                                      WorkingSet* records) const {
  for (const std::string& key : keys) {
    std::optional<std::string> record;
    storage::Version seen;
    // If something was committed during a wait for the disk, this record may have been changed,
    // written and forgotten meanwhile: what was read is not what is there.
    do {
      seen = store_->version();
      if (kind == kind_number<Execution>) {
        WEIR_CO_TRY(live, co_await get(&*live_, key));
        record = std::move(live);
      }
      if (kind != kind_number<Execution> || !record) {
        WEIR_CO_TRY(found, co_await get(&of(kind), key));
        record = std::move(found);
      }
    } while (seen != store_->version());
    WEIR_CO_TRY_VOID(records->add(kind, key, record));
  }
  co_return {};
}

Task<Result<>> RecordStore::read(std::unique_ptr<Missing> missing, WorkingSet* records) const {
  std::array<std::vector<std::string>, RecordKinds::size> keys;
  missing->each([&](const auto& list) {
    using Record = typename std::remove_cvref_t<decltype(list)>::Record;
    std::vector<std::string>& wanted = keys[kind_number<Record>];
    for (const auto& key : list.keys) wanted.push_back(storage::encode_key(key));
    std::ranges::sort(wanted);
    const auto repeated = std::ranges::unique(wanted);
    wanted.erase(repeated.begin(), repeated.end());
  });
  for (std::size_t kind = 0; kind < keys.size(); ++kind) {
    if (keys[kind].empty()) continue;
    WEIR_CO_TRY_VOID(co_await read_kind(kind, std::move(keys[kind]), records));
  }
  co_return {};
}

storage::Transaction RecordStore::write(const WorkingSet& records,
                                        std::uint64_t first_notice) const {
  storage::Transaction transaction = store_->begin();
  Writer writer(this, &transaction);
  records.give_changes(writer);
  write_indexes(writer, records);
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

void RecordStore::write_journal(storage::Transaction& transaction, const ExecutionId& id,
                                const JournalHead& head,
                                const std::vector<JournalEntry>& entries) const {
  Writer writer(this, &transaction);
  std::uint32_t place = head.end - static_cast<std::uint32_t>(entries.size());
  for (const JournalEntry& entry : entries) {
    writer.put(of(kind_number<JournalEntry>), storage::encode_key(JournalKey{id, place++}),
               storage::encode_value(entry));
  }
  writer.put(of(kind_number<JournalHead>), storage::encode_key(id), storage::encode_value(head));
}

void RecordStore::write_indexes(Writer& writer, const WorkingSet& records) const {
  const auto& executions = records.table<Execution>();
  const auto join = [&](const ExecutionId& id, const std::optional<Execution>& execution) {
    if (!execution || !execution->workflow) return;
    writer.list(*members_, pair_key(*execution->workflow, id), false, true);
  };
  for (const auto& [workflow, id] : records.left()) {
    writer.remove(*members_, pair_key(workflow, id));
    // Its id may have been used again at once.
    join(id, executions.slots.find(id)->second.current);
  }
  for (const ExecutionId& id : executions.changed) {
    const auto& slot = executions.slots.find(id)->second;
    if (slot.stored == Standing::absent) join(id, slot.current);
  }
  const auto is_listed = [](Standing standing) { return standing == Standing::listed; };
  const auto& workflows = records.table<Workflow>();
  for (const WorkflowId& id : workflows.changed) {
    const auto& slot = workflows.slots.find(id)->second;
    if (slot.stored == Standing::listed || slot.standing() == Standing::listed) {
      writer.list(*cancelling_workflows_, storage::encode_key(id), is_listed(slot.stored),
                  is_listed(slot.standing()));
    }
    if (slot.stored == Standing::absent) {
      writer.list(*placed_, pair_key(id.partition(), id), false, true);
    }
    if (!slot.current) writer.remove(*placed_, pair_key(id.partition(), id));
  }
  const auto& groups = records.table<EdgeGroup>();
  for (const ExecutionId& id : groups.changed) {
    const auto& slot = groups.slots.find(id)->second;
    if (slot.stored != Standing::listed && slot.standing() != Standing::listed) continue;
    writer.list(*cancelling_groups_, storage::encode_key(id), is_listed(slot.stored),
                is_listed(slot.standing()));
  }
}

Task<Result<std::vector<std::pair<ExecutionId, Execution>>>> RecordStore::live() const {
  std::vector<std::pair<ExecutionId, Execution>> found;
  Scan scan = store_->current_state().scan(*live_);
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) break;
    WEIR_CO_TRY(execution, decode_execution(*row));
    found.push_back(std::move(execution));
  }
  co_return found;
}

Task<Result<std::vector<std::pair<ExecutionId, Execution>>>> RecordStore::executions(
    bool is_of_live, std::optional<ExecutionId> after, std::size_t executions_max) const {
  const Range range = after ? Range::from({storage::encode_key(*after)}) : Range::all();
  const storage::CurrentState state = store_->current_state();
  // First of those that live: one that ends meanwhile is seen twice rather than not at all.
  std::map<ExecutionId, Execution> found;
  for (const Space* space : {&*live_, &of(kind_number<Execution>)}) {
    if (is_of_live && space != &*live_) break;
    Scan scan = state.scan(*space, range);
    for (std::size_t taken = 0; taken < executions_max;) {
      WEIR_CO_TRY(row, co_await scan.next());
      if (!row) break;
      WEIR_CO_TRY(execution, decode_execution(*row));
      if (execution.first == after) continue;
      found.insert_or_assign(execution.first, std::move(execution.second));
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

Task<Result<std::vector<std::string>>> RecordStore::keys(const Space* space, std::string prefix,
                                                         std::string from,
                                                         std::size_t keys_max) const {
  std::vector<std::string> found;
  Scan scan = store_->current_state().scan(*space, Range::from({from.empty() ? prefix : from}));
  while (found.size() < keys_max) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row || !row->key.bytes.starts_with(prefix)) break;
    if (row->key.bytes != from) found.push_back(std::move(row->key.bytes));
  }
  co_return found;
}

Task<Result<std::vector<WorkflowId>>> RecordStore::cancelling_workflows() const {
  WEIR_CO_TRY(found, co_await keys(&*cancelling_workflows_, {}, {}, all_keys));
  co_return decode_keys<WorkflowId>(found);
}

Task<Result<std::vector<ExecutionId>>> RecordStore::cancelling_groups() const {
  WEIR_CO_TRY(found, co_await keys(&*cancelling_groups_, {}, {}, all_keys));
  co_return decode_keys<ExecutionId>(found);
}

Task<Result<std::vector<ExecutionId>>> RecordStore::members(WorkflowId workflow,
                                                            std::optional<ExecutionId> after,
                                                            std::size_t members_max) const {
  std::string prefix = storage::encode_key(workflow);
  const std::size_t skipped = prefix.size();
  std::string from = after ? pair_key(workflow, *after) : std::string();
  WEIR_CO_TRY(found, co_await keys(&*members_, std::move(prefix), std::move(from), members_max));
  co_return decode_keys<ExecutionId>(found, skipped);
}

Task<Result<std::vector<WorkflowId>>> RecordStore::workflows(Partition partition,
                                                             std::optional<WorkflowId> after,
                                                             std::size_t workflows_max) const {
  std::string prefix = storage::encode_key(partition);
  const std::size_t skipped = prefix.size();
  std::string from = after ? pair_key(partition, *after) : std::string();
  WEIR_CO_TRY(found, co_await keys(&*placed_, std::move(prefix), std::move(from), workflows_max));
  co_return decode_keys<WorkflowId>(found, skipped);
}

Task<Result<bool>> RecordStore::has_ended_entries() const {
  WEIR_CO_TRY(mark, co_await store_->current_state().get(*counters_, ended_entries_counter));
  co_return mark.value_or(0) != 0;
}

Task<Result<>> RecordStore::set_ended_entries(bool has_all) const {
  storage::Transaction transaction = store_->begin();
  transaction.put(*counters_, ended_entries_counter, has_all ? 1 : 0);
  transaction.set_origin("workflow");
  WEIR_CO_TRY_VOID(co_await transaction.commit());
  co_return {};
}

Task<Result<std::optional<EndedKey>>> RecordStore::first_ended(
    std::optional<std::string> after) const {
  std::string from;
  // The first name that comes after it.
  if (after) from = storage::encode_key(EndedKey{.space = *after + '\0', .at = Time::min()});
  WEIR_CO_TRY(found, co_await keys(&of(kind_number<Ended>), {}, std::move(from), 1));
  if (found.empty()) co_return std::nullopt;
  WEIR_CO_TRY(key, storage::decode_key<EndedKey>(found.front()));
  co_return std::move(key);
}

Task<Result<std::vector<EndedKey>>> RecordStore::ended(std::string space,
                                                       std::size_t entries_max) const {
  WEIR_CO_TRY(found,
              co_await keys(&of(kind_number<Ended>), storage::encode_key(space), {}, entries_max));
  co_return decode_keys<EndedKey>(found);
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
