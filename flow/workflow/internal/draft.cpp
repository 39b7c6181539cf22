#include <weir/flow/workflow/internal/draft.hpp>

#include <new>
#include <set>
#include <utility>

#include <weir/flow/workflow/internal/working_set.hpp>

namespace weir::flow::workflow::internal {
namespace {

template <class R>
class TypedDraftTable final : public DraftTable {
 public:
  explicit TypedDraftTable(std::pmr::memory_resource* memory) : changes(memory), absent(memory) {}

  void apply(WorkingSet& to) override {
    for (const auto& key : absent) to.add<R>(key, std::nullopt);
    for (auto& [key, record] : changes) to.change<R>(key, std::move(record));
  }

  typename DraftRecords<R>::Changes changes;
  std::pmr::set<KeyOf<R>> absent;
};

/// That of a kind; null if there is none.
template <class R, class Tables>
TypedDraftTable<R>* find_table(const Tables& tables) {
  return static_cast<TypedDraftTable<R>*>(tables[kind_number<R>].get());
}

template <class R, class Tables>
TypedDraftTable<R>& make_table(Tables& tables, std::pmr::memory_resource& memory) {
  auto& table = tables[kind_number<R>];
  if (!table) {
    void* const place = memory.allocate(sizeof(TypedDraftTable<R>), alignof(TypedDraftTable<R>));
    table.reset(new (place) TypedDraftTable<R>(&memory));
  }
  return static_cast<TypedDraftTable<R>&>(*table);
}

}  // namespace

Draft::Draft(const WorkingSet& base, Time now, std::uint64_t random) noexcept
    : base_(base), now_(now), random_(random) {}
Draft::~Draft() = default;

bool Draft::notes_ends() const noexcept { return base_.notes_ends(); }

const Missing& Draft::missing() const noexcept {
  static const Missing none;
  return missing_ ? *missing_ : none;
}

std::unique_ptr<Missing> Draft::take_missing() noexcept { return std::move(missing_); }

void Draft::apply(WorkingSet& to) {
  for (const auto& table : tables_) {
    if (table) table->apply(to);
  }
  for (Notice& notice : notices_) to.tell(std::move(notice));
}

template <class R>
const R* DraftRecords<R>::find(Draft& draft, const KeyOf<R>& key) {
  TypedDraftTable<R>* table = find_table<R>(draft.tables_);
  if (table != nullptr) {
    const auto found = table->changes.find(key);
    if (found != table->changes.end()) return found->second ? &*found->second : nullptr;
  }
  if (const Slot<R>* slot = draft.base_.find<R>(key)) {
    return slot->current ? &*slot->current : nullptr;
  }
  if (table != nullptr && table->absent.contains(key)) return nullptr;
  if (!draft.missing_) draft.missing_ = std::make_unique<Missing>();
  draft.missing_->add<R>(key);
  return nullptr;
}

template <class R>
R* DraftRecords<R>::edit(Draft& draft, const KeyOf<R>& key) {
  const R* record = find(draft, key);
  if (record == nullptr) return nullptr;
  std::optional<R>& changed = make_table<R>(draft.tables_, draft.arena_).changes[key];
  if (!changed) changed = *record;
  return &*changed;
}

template <class R>
R& DraftRecords<R>::put(Draft& draft, const KeyOf<R>& key, R record) {
  return make_table<R>(draft.tables_, draft.arena_).changes[key].emplace(std::move(record));
}

template <class R>
void DraftRecords<R>::remove(Draft& draft, const KeyOf<R>& key) {
  make_table<R>(draft.tables_, draft.arena_).changes[key].reset();
}

template <class R>
void DraftRecords<R>::note_absent(Draft& draft, const KeyOf<R>& key) {
  make_table<R>(draft.tables_, draft.arena_).absent.insert(key);
}

template <class R>
const typename DraftRecords<R>::Changes& DraftRecords<R>::changes(const Draft& draft) {
  static const Changes none;
  const TypedDraftTable<R>* table = find_table<R>(draft.tables_);
  return table != nullptr ? table->changes : none;
}

template struct DraftRecords<ExecutionSpec>;
template struct DraftRecords<Execution>;
template struct DraftRecords<Attempt>;
template struct DraftRecords<Workflow>;
template struct DraftRecords<Staged>;
template struct DraftRecords<Edge>;
template struct DraftRecords<EdgeGroup>;
template struct DraftRecords<Links>;
template struct DraftRecords<Idempotency>;
template struct DraftRecords<Lane>;
template struct DraftRecords<Suspension>;
template struct DraftRecords<Signal>;
template struct DraftRecords<SignalUse>;
template struct DraftRecords<Mailbox>;
template struct DraftRecords<Keyring>;
template struct DraftRecords<JournalHead>;
template struct DraftRecords<JournalEntry>;
template struct DraftRecords<Limit>;
template struct DraftRecords<Parent>;
template struct DraftRecords<Ended>;
template struct DraftRecords<Remains>;
template struct DraftRecords<NoticeCursors>;

}  // namespace weir::flow::workflow::internal
