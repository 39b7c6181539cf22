#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <weir/flow/workflow/internal/record_key.hpp>

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

template <class R>
struct SlotTable {
  using Record = R;

  std::unordered_map<KeyOf<R>, Slot<R>, KeyHash> slots;
  std::vector<KeyOf<R>> changed;
};

template <class R>
struct KeyList {
  using Record = R;

  std::vector<KeyOf<R>> keys;
};

/// Records that commands need and that are not there.
class Missing : public PerRecord<KeyList> {
 public:
  // Here and below: what is done for each kind of record is compiled once, not for all who use it.
  Missing();
  Missing(const Missing&);
  Missing(Missing&&) noexcept;
  Missing& operator=(const Missing&);
  Missing& operator=(Missing&&) noexcept;
  ~Missing();

  template <class R>
  void add(const KeyOf<R>& key) {
    of<R>().keys.push_back(key);
    ++count_;
  }
  bool is_empty() const noexcept { return count_ == 0; }
  void clear();

 private:
  std::size_t count_ = 0;
};

/// The records that were read, with what commands have made of them and is not yet stored.
class WorkingSet {
 public:
  WorkingSet();
  ~WorkingSet();
  WorkingSet(const WorkingSet&) = delete;
  WorkingSet& operator=(const WorkingSet&) = delete;

  /// None if it has not been read; a slot without a record if there is none.
  template <class R>
  const Slot<R>* find(const KeyOf<R>& key) const {
    const auto& slots = tables_.of<R>().slots;
    const auto found = slots.find(key);
    return found == slots.end() ? nullptr : &found->second;
  }

  /// What was read from the store; what is there already stays.
  template <class R>
  void add(const KeyOf<R>& key, std::optional<R> record) {
    Slot<R> slot{std::move(record)};
    slot.stored = slot.standing();
    slot.is_read = true;
    tables_.of<R>().slots.try_emplace(key, std::move(slot));
  }

  template <class R>
  void change(const KeyOf<R>& key, std::optional<R> record) {
    auto& table = tables_.of<R>();
    Slot<R>& slot = table.slots[key];
    if (!slot.is_changed) table.changed.push_back(key);
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
    tables_.of<R>().slots[key] = Slot<R>{record, standing_of(record), false};
  }
  void tell(Notice notice) { notices_.push_back(std::move(notice)); }

  bool is_changed() const;
  /// How many records have changed.
  std::size_t changes() const;
  const std::vector<Notice>& notices() const noexcept { return notices_; }
  /// Executions that were removed, with their workflows.
  const std::vector<std::pair<WorkflowId, ExecutionId>>& left() const noexcept { return left_; }
  template <class R>
  const SlotTable<R>& table() const {
    return tables_.of<R>();
  }
  template <class Function>
  void each_table(Function&& function) const {
    tables_.each(function);
  }

  /// What was changed has been given to the store.
  void note_taken();
  /// Forgets executions that have ended and will hardly be asked for, and whatever is not needed if
  /// there is more than `records_max` of a kind: everything that was given to the store must be
  /// there, to be read again.
  void forget(std::size_t records_max);

 private:
  /// What was removed is not looked for again.
  void forget_gone();
  template <class R>
  void forget_record(const KeyOf<R>& key);
  void forget(const ExecutionId& id);

  PerRecord<SlotTable> tables_;
  std::vector<Notice> notices_;
  std::vector<ExecutionId> leaving_;  // that have ended, and need not be kept
  PerRecord<KeyList> gone_;           // that were removed, likewise
  std::vector<std::pair<WorkflowId, ExecutionId>> left_;
};

}  // namespace weir::flow::workflow::internal
