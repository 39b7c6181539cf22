#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>

#include <weir/flow/workflow/internal/working_set.hpp>

namespace weir::flow::workflow::internal {

/// What one command makes of the records, until it is known whether it succeeds.
///
/// Commands are functions of a draft. A record that has not been read is taken for one that is not
/// there, and noted as missing: then what the command did is thrown away, the records are read, and
/// it runs again, with the same time and random numbers. So commands are written as if everything
/// were in memory.
class Draft {
 public:
  Draft(const WorkingSet& base, Time now, std::uint64_t random) noexcept;
  Draft(Draft&&) noexcept;
  ~Draft();

  /// By the clock of the store; the same for all that one command does.
  Time now() const noexcept { return now_; }
  /// A new id: of version 7, so that those made together are stored together.
  data::Uuid make_uuid() noexcept {
    const auto milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(now_.time_since_epoch()).count();
    return make_timed_uuid(static_cast<std::uint64_t>(milliseconds), random(), random());
  }
  std::uint64_t random() noexcept {
    // SplitMix64: the next of it, well mixed.
    std::uint64_t mixed = random_ += 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31);
  }

  /// None if there is none. Valid until the record is changed.
  template <class R>
  const R* find(const KeyOf<R>& key) {
    const auto& changed = changes_.of<R>().records;
    if (const auto found = changed.find(key); found != changed.end()) {
      return found->second ? &*found->second : nullptr;
    }
    const Slot<R>* slot = base_.find<R>(key);
    if (slot == nullptr && !absent_.of<R>().keys.contains(key)) missing_.add<R>(key);
    return slot != nullptr && slot->current ? &*slot->current : nullptr;
  }

  /// The record, to be changed; none if there is none.
  template <class R>
  R* edit(const KeyOf<R>& key) {
    const R* record = find<R>(key);
    if (record == nullptr) return nullptr;
    const auto [at, is_new] = changes_.of<R>().records.try_emplace(key);
    if (is_new) at->second = *record;
    return &*at->second;
  }
  template <class R>
  R& put(const KeyOf<R>& key, R record) {
    return changes_.of<R>().records.insert_or_assign(key, std::move(record)).first->second.value();
  }
  template <class R>
  void remove(const KeyOf<R>& key) {
    changes_.of<R>().records.insert_or_assign(key, std::nullopt);
  }
  /// The record, made if there is none.
  template <class R>
  R& edit_or_make(const KeyOf<R>& key) {
    R* record = edit<R>(key);
    return record != nullptr ? *record : put<R>(key, {});
  }

  /// There cannot be such a record: whose it would be has just been made.
  template <class R>
  void note_absent(const KeyOf<R>& key) {
    absent_.of<R>().keys.insert(key);
  }

  void tell(Notice notice) { notices_.push_back(std::move(notice)); }
  /// Executions that have ended, and whose dependents do not know it yet.
  std::vector<ExecutionId>& ended() noexcept { return ended_; }

  const std::vector<Notice>& notices() const noexcept { return notices_; }
  const Missing& missing() const noexcept { return missing_; }
  /// Calls `function(key, record)` for each record of a kind that it changes.
  template <class R, class Function>
  void each_change(Function&& function) const {
    for (const auto& [key, record] : changes_.of<R>().records) function(key, record);
  }
  /// Makes it true in the working set, which is the one that it was made of.
  void apply(WorkingSet& to) &&;

 private:
  template <class R>
  struct Changes {
    using Record = R;

    std::map<KeyOf<R>, std::optional<R>> records;
  };

  template <class R>
  struct AbsentKeys {
    using Record = R;

    std::set<KeyOf<R>> keys;
  };

  const WorkingSet& base_;
  const Time now_;
  std::uint64_t random_;
  PerRecord<Changes> changes_;
  PerRecord<AbsentKeys> absent_;
  std::vector<Notice> notices_;
  std::vector<ExecutionId> ended_;
  Missing missing_;
};

}  // namespace weir::flow::workflow::internal
