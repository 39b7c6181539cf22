#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <weir/flow/workflow/internal/record_key.hpp>

namespace weir::flow::workflow::internal {

/// A record as it is and as it is stored. None: there is none.
template <class R>
struct Slot {
  std::optional<R> current;
  std::optional<R> stored;
  bool is_changed = false;
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
    tables_.of<R>().slots.try_emplace(key, Slot<R>{record, record, false});
  }

  template <class R>
  void change(const KeyOf<R>& key, std::optional<R> record) {
    auto& table = tables_.of<R>();
    Slot<R>& slot = table.slots[key];
    if (!slot.is_changed) table.changed.push_back(key);
    slot.is_changed = true;
    slot.current = std::move(record);
  }
  void tell(Notice notice) { notices_.push_back(std::move(notice)); }

  bool is_changed() const {
    bool is_changed = !notices_.empty();
    tables_.each([&](const auto& table) { is_changed = is_changed || !table.changed.empty(); });
    return is_changed;
  }
  const std::vector<Notice>& notices() const noexcept { return notices_; }
  template <class R>
  const SlotTable<R>& table() const {
    return tables_.of<R>();
  }
  template <class Function>
  void each_table(Function&& function) const {
    tables_.each(function);
  }

  /// Everything is stored as it is. Forgets what is not needed if there is more than
  /// `records_max` of a kind.
  void note_stored(std::size_t records_max) {
    tables_.each([&](auto& table) {
      for (const auto& key : table.changed) {
        auto& slot = table.slots.find(key)->second;
        slot.stored = slot.current;
        slot.is_changed = false;
      }
      table.changed.clear();
      if (table.slots.size() > records_max) table.slots.clear();
    });
    notices_.clear();
  }
  void clear() { *this = WorkingSet(); }

 private:
  PerRecord<SlotTable> tables_;
  std::vector<Notice> notices_;
};

}  // namespace weir::flow::workflow::internal
