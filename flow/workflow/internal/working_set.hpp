#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <weir/flow/workflow/internal/record_key.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::workflow::internal {

/// In which lists of the store a record is, by what it is.
enum class Standing : std::uint8_t { absent, common, listed };

template <class R>
Standing standing_of(const R&) {
  return Standing::common;
}
/// Those that have not ended.
inline Standing standing_of(const Execution& execution) {
  return execution.has_ended() ? Standing::common : Standing::listed;
}
/// Those that have something to cancel.
inline Standing standing_of(const Workflow& workflow) {
  return workflow.cancelling ? Standing::listed : Standing::common;
}
inline Standing standing_of(const EdgeGroup& group) {
  return group.cancelling.empty() ? Standing::common : Standing::listed;
}

/// Whether a record is written and hardly ever read: it need not be kept in memory.
template <class R>
inline constexpr bool is_only_written = false;
template <>
inline constexpr bool is_only_written<Ended> = true;

/// A record as it is; none if there is none.
template <class R>
struct Slot {
  std::optional<R> current;
  Standing stored = Standing::absent;
  bool is_changed = false;  // and not given to the store
  bool is_read = false;     // what the store has was looked for, and not just overwritten

  Standing standing() const { return current ? standing_of(*current) : Standing::absent; }
};

/// A record that has changed, as bytes.
struct ChangedRecord {
  std::size_t kind;
  std::string_view key;
  std::optional<std::string_view> record;  // none: it was removed
  Standing before;
  Standing after;
};

/// Takes what has changed.
class ChangeSink {
 public:
  virtual ~ChangeSink() = default;
  virtual void take(const ChangedRecord& change) = 0;
};

/// Records of one kind, whatever it is.
class AnySlotTable {
 public:
  virtual ~AnySlotTable() = default;
  virtual std::size_t changes() const = 0;
  /// In the order of their keys: what is written in order is found a place for in less time.
  virtual void give_changes(ChangeSink& sink) const = 0;
  /// What was read; none if there is none. What is there already stays.
  virtual Result<> add(std::string_view key, std::optional<std::string_view> record) = 0;
  virtual void note_taken() = 0;
  /// What was removed is not looked for again.
  virtual void forget_gone() = 0;
  /// If there is more than that.
  virtual void forget_unchanged(std::size_t records_max) = 0;
  /// If the execution is their key.
  virtual void forget_of(const ExecutionId& id) = 0;
};

// What the virtual functions do is compiled once, in working_set.cpp.
template <class R>
class SlotTable final : public AnySlotTable {
 public:
  using Record = R;

  SlotTable();
  ~SlotTable() override;
  std::size_t changes() const override { return changed.size(); }
  void give_changes(ChangeSink& sink) const override;
  Result<> add(std::string_view key, std::optional<std::string_view> record) override;
  void note_taken() override;
  void forget_gone() override;
  void forget_unchanged(std::size_t records_max) override;
  void forget_of(const ExecutionId& id) override;
  void forget(const KeyOf<R>& key) {
    const auto found = slots.find(key);
    if (found != slots.end() && !found->second.is_changed) slots.erase(found);
  }

  std::unordered_map<KeyOf<R>, Slot<R>, KeyHash> slots;
  std::vector<KeyOf<R>> changed;

 private:
  std::vector<KeyOf<R>> gone_;  // that were removed
};

template <class R>
struct KeyList {
  using Record = R;

  std::vector<KeyOf<R>> keys;
};

/// Records that commands need and that are not there.
class Missing : public PerRecord<KeyList> {
 public:
  template <class R>
  void add(const KeyOf<R>& key) {
    of<R>().keys.push_back(key);
    ++count_;
  }
  bool is_empty() const noexcept { return count_ == 0; }
  void clear() {
    each([](auto& list) { list.keys.clear(); });
    count_ = 0;
  }

 private:
  std::size_t count_ = 0;
};

/// The records that were read, with what commands have made of them and is not yet stored.
class WorkingSet {
 public:
  WorkingSet();
  ~WorkingSet();
  WorkingSet(WorkingSet&&) = delete;
  WorkingSet& operator=(WorkingSet&&) = delete;

  /// None if it has not been read; a slot without a record if there is none.
  template <class R>
  const Slot<R>* find(const KeyOf<R>& key) const {
    const auto& slots = table<R>().slots;
    const auto found = slots.find(key);
    return found == slots.end() ? nullptr : &found->second;
  }

  /// What was read from the store; what is there already stays.
  template <class R>
  void add(const KeyOf<R>& key, std::optional<R> record) {
    Slot<R> slot{std::move(record)};
    slot.stored = slot.standing();
    slot.is_read = true;
    own_table<R>().slots.try_emplace(key, std::move(slot));
  }
  /// The same as bytes, by the number of its kind.
  Result<> add(std::size_t kind, std::string_view key, std::optional<std::string_view> record) {
    return tables_[kind]->add(key, record);
  }

  template <class R>
  void change(const KeyOf<R>& key, std::optional<R>&& record) {
    SlotTable<R>& table = own_table<R>();
    Slot<R>& slot = table.slots[key];
    if (!slot.is_changed) {
      table.changed.push_back(key);
      ++changes_;
    }
    if constexpr (std::is_same_v<R, Execution>) {
      if (!record && slot.current && slot.current->workflow) {
        left_.emplace_back(*slot.current->workflow, key);
      }
    }
    slot.is_changed = true;
    slot.current = std::move(record);
  }
  /// What is in the store, put there by somebody else; it must not be changed here.
  template <class R>
  void note_stored(const KeyOf<R>& key, const R& record) {
    own_table<R>().slots[key] = Slot<R>{record, standing_of(record), false};
  }
  void tell(Notice notice) { notices_.push_back(std::move(notice)); }

  /// Whether there is an entry for each end: where nobody removes what has ended there need not be.
  bool notes_ends() const noexcept { return notes_ends_; }
  void set_notes_ends(bool notes_ends) noexcept { notes_ends_ = notes_ends; }

  bool is_changed() const noexcept { return !notices_.empty() || changes_ > 0; }
  /// How many records have changed.
  std::size_t changes() const noexcept { return changes_; }
  const std::vector<Notice>& notices() const noexcept { return notices_; }
  /// Executions that were removed, with their workflows.
  const std::vector<std::pair<WorkflowId, ExecutionId>>& left() const noexcept { return left_; }
  template <class R>
  const SlotTable<R>& table() const {
    return static_cast<const SlotTable<R>&>(*tables_[kind_number<R>]);
  }
  template <class Function>
  void each_table(Function&& function) const {
    RecordKinds::each([&]<class R>(std::type_identity<R>) { function(table<R>()); });
  }
  /// All that has changed, kind by kind.
  void give_changes(ChangeSink& sink) const;

  /// What was changed has been given to the store.
  void note_taken();
  /// Forgets executions that have ended and will hardly be asked for, as nobody depends on them any
  /// more, and whatever is not needed if there is more than `records_max` of a kind: everything
  /// that was given to the store must be there, to be read again.
  void forget(std::size_t records_max);

 private:
  template <class R>
  SlotTable<R>& own_table() {
    return static_cast<SlotTable<R>&>(*tables_[kind_number<R>]);
  }
  void note_ends();
  void forget(const ExecutionId& id);

  std::array<std::unique_ptr<AnySlotTable>, RecordKinds::size> tables_;
  std::vector<Notice> notices_;
  std::vector<ExecutionId> leaving_;  // that have ended, and need not be kept
  /// Those that have ended, of workflows that go on.
  std::unordered_map<WorkflowId, std::vector<ExecutionId>> resting_;
  std::size_t resting_count_ = 0;
  std::vector<std::pair<WorkflowId, ExecutionId>> left_;
  std::size_t changes_ = 0;
  bool notes_ends_ = true;
};

}  // namespace weir::flow::workflow::internal
