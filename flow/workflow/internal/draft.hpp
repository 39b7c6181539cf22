#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <utility>
#include <vector>

#include <weir/flow/workflow/internal/record_key.hpp>

namespace weir::flow::workflow::internal {

class Draft;
class Missing;
class WorkingSet;

/// What a draft has of one kind of records, whatever it is.
class DraftTable {
 public:
  virtual ~DraftTable() = default;
  virtual void apply(WorkingSet& to) = 0;
};

/// Ends a table; its memory goes with that of its draft.
struct EndTable {
  void operator()(DraftTable* table) const noexcept { std::destroy_at(table); }
};

/// The records of one kind in a draft. Compiled once, for all who write commands.
template <class R>
struct DraftRecords {
  using Changes = std::pmr::map<KeyOf<R>, std::optional<R>>;

  static const R* find(Draft& draft, const KeyOf<R>& key);
  static R* edit(Draft& draft, const KeyOf<R>& key);
  static R& put(Draft& draft, const KeyOf<R>& key, R record);
  static void remove(Draft& draft, const KeyOf<R>& key);
  static void note_absent(Draft& draft, const KeyOf<R>& key);
  static const Changes& changes(const Draft& draft);
};

/// What one command makes of the records, until it is known whether it succeeds.
///
/// Commands are functions of a draft. A record that has not been read is taken for one that is not
/// there, and noted as missing: then what the command did is thrown away, the records are read, and
/// it runs again, with the same time and random numbers. So commands are written as if everything
/// were in memory.
class Draft {
 public:
  Draft(const WorkingSet& base, Time now, std::uint64_t random) noexcept;
  Draft(Draft&&) = delete;
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
  /// Whether anybody removes what has ended, so that there is an entry for each end.
  bool notes_ends() const noexcept;

  /// None if there is none. Valid until the record is changed.
  template <class R>
  const R* find(const KeyOf<R>& key) {
    return DraftRecords<R>::find(*this, key);
  }
  /// The record, to be changed; none if there is none.
  template <class R>
  R* edit(const KeyOf<R>& key) {
    return DraftRecords<R>::edit(*this, key);
  }
  template <class R>
  R& put(const KeyOf<R>& key, R record) {
    return DraftRecords<R>::put(*this, key, std::move(record));
  }
  template <class R>
  void remove(const KeyOf<R>& key) {
    DraftRecords<R>::remove(*this, key);
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
    DraftRecords<R>::note_absent(*this, key);
  }

  void tell(Notice notice) { notices_.push_back(std::move(notice)); }
  /// Executions that have ended, and whose dependents do not know it yet.
  std::vector<ExecutionId>& ended() noexcept { return ended_; }

  const std::pmr::vector<Notice>& notices() const noexcept { return notices_; }
  bool has_missing() const noexcept { return missing_ != nullptr; }
  const Missing& missing() const noexcept;
  /// Null if nothing is.
  std::unique_ptr<Missing> take_missing() noexcept;
  /// Calls `function(key, record)` for each record of a kind that it changes.
  template <class R, class Function>
  void each_change(Function&& function) const {
    for (const auto& [key, record] : DraftRecords<R>::changes(*this)) function(key, record);
  }
  /// Makes it true in the working set, which is the one that it was made of. Only the keys of what
  /// it changes are left.
  void apply(WorkingSet& to);

 private:
  template <class R>
  friend struct DraftRecords;

  const WorkingSet& base_;
  const Time now_;
  std::uint64_t random_;
  /// Of tables and changes. What most commands need is here already.
  std::array<std::byte, 4096> memory_;
  std::pmr::monotonic_buffer_resource arena_{memory_.data(), memory_.size()};
  /// By kind; null where there is nothing.
  std::array<std::unique_ptr<DraftTable, EndTable>, RecordKinds::size> tables_;
  std::pmr::vector<Notice> notices_{&arena_};
  std::vector<ExecutionId> ended_;
  std::unique_ptr<Missing> missing_;  // null if nothing is
};

}  // namespace weir::flow::workflow::internal
