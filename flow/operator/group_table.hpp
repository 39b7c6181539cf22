#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/operator/internal/hash_index.hpp>
#include <weir/flow/operator/internal/sorted_records.hpp>
#include <weir/flow/operator/internal/table.hpp>

namespace weir::flow::operators {

namespace internal {

/// Items that were read: all before `until`, or all that there are.
struct ReadRange {
  std::string until = {};
  bool is_complete = false;

  bool contains(std::string_view item) const noexcept { return is_complete || item < until; }
};

/// The items of one group that are in memory: all that come before `resident_until`, and those
/// behind it that the current cycle writes.
struct GroupEntry {
  std::string group;
  // What is looked at most lies together.
  SortedRecords records = {};
  std::size_t memory = 0;
  bool is_complete = false;
  bool was_used = true;
  std::string resident_until = {};

  std::string_view key() const noexcept { return group; }
  bool is_resident(std::string_view item) const noexcept {
    return is_complete || item < resident_until;
  }
};

}  // namespace internal

/// Items by group and key, in order within each group; all are bytes. State of an operator that
/// goes through what belongs together: rows to join with, the least of some values.
///
/// The bytes of no group begin with those of another. What a cycle writes is seen by that cycle,
/// and becomes true when the cycle is committed. Of a large group only the beginning need be in
/// memory.
class GroupTable final : public internal::Table {
 public:
  class Cursor;
  class Slot;

  /// One group, whether it has items or not. Good until the end of the cycle.
  class Group {
   public:
    /// The value is good until the item is written.
    Result<std::optional<std::string_view>> get(std::string_view item);
    void put(std::string_view item, std::string_view value);
    void remove(std::string_view item);
    /// An item, to be read and then written. `item` must outlive the slot; whatever else is written
    /// makes it invalid.
    Result<Slot> find(std::string_view item);
    Result<bool> is_empty();
    /// Calls `use(item, value)`, which gives a `Result<>`, for each item in order. It must not
    /// write to the group.
    template <class Use>
    Result<> for_each(Use use);
    /// Has the processor fetch an item that is looked for soon.
    void prefetch(std::string_view item) const noexcept { entry_->records.prefetch(item); }
    /// All items, or those from `from` on. Whatever else is done with the group makes the cursor
    /// invalid.
    Cursor scan(std::string_view from = {});

   private:
    friend class GroupTable;
    Group(GroupTable& table, internal::GroupEntry& entry) noexcept
        : table_(&table), entry_(&entry) {}

    GroupTable* table_;
    internal::GroupEntry* entry_;
  };

  /// One item, whether it is there or not.
  class Slot {
   public:
    bool exists() const noexcept { return record_ != nullptr && table_->exists(*record_); }
    /// Empty if it is not there.
    std::string_view value() const noexcept {
      return exists() ? table_->value(*record_) : std::string_view();
    }
    void put(std::string_view value);
    /// The value, to be changed in place; empty if it was not there. Good until another item is
    /// written.
    std::string& edit();
    void remove();

   private:
    friend class Group;
    Slot(GroupTable& table, internal::GroupEntry& entry, std::string_view item) noexcept
        : table_(&table), entry_(&entry), item_(item) {}

    GroupTable* table_;
    internal::GroupEntry* entry_;
    std::string_view item_;
    internal::SortedRecords::Position position_;
    internal::Record* record_ = nullptr;
  };

  /// Goes through items in order:
  ///
  ///     auto cursor = group.scan();
  ///     for (auto more = cursor.next(); ...; more = cursor.next()) use(cursor.item());
  class Cursor {
   public:
    /// Goes to the first item, then to the next one. False at the end.
    Result<bool> next();
    /// Of where it is.
    std::string_view item() const noexcept { return record_->key(); }
    std::string_view value() const noexcept;

   private:
    friend class Group;
    Cursor(GroupTable& table, internal::GroupEntry& entry, std::string_view from)
        : table_(&table), entry_(&entry), from_(from) {}
    void begin();
    /// Whether nothing is missing in memory from where it began up to this item.
    bool is_read(std::string_view item) const noexcept;
    bool is_all_read() const noexcept;
    Result<> read_more();

    GroupTable* table_;
    internal::GroupEntry* entry_;
    std::string from_;
    // Where it begins behind what is in memory: what has been read from there on.
    bool is_apart_ = false;
    internal::ReadRange read_;
    internal::SortedRecords::Position position_;
    internal::Record* record_ = nullptr;
    bool has_begun_ = false;
  };

  GroupTable(const internal::StateShared& shared, std::uint16_t number, bool is_new)
      : shared_(&shared), prefix_(number), is_complete_(is_new) {}
  GroupTable(GroupTable&&) = delete;
  ~GroupTable() override;

  /// Fetches what is in memory of many groups at the same time: finding them is faster then.
  void prefetch(std::span<const std::string_view> groups);
  /// Never waits; reading the group may have to.
  Group find(std::string_view group);
  /// The same for many, faster: what they need is fetched from memory at the same time.
  void find_all(std::span<const std::string_view> groups, std::vector<Group>& found);
  /// To be read only, and good only until the table is written: groups that are not there need no
  /// memory.
  void peek_all(std::span<const std::string_view> groups, std::vector<Group>& found);
  /// Has the processor fetch the first items of groups that are gone through soon.
  static void prefetch_items(std::span<const Group> groups) noexcept;

  void visit_writes(const internal::VisitWrite& visit) const override;
  void commit() override;
  void roll_back() override;
  std::size_t memory() const noexcept override { return memory_ + index_.memory(); }
  void evict(std::size_t bytes) override;

 private:
  struct Place {
    internal::GroupEntry* group;
    internal::Record* record;
  };

  bool exists(const internal::Record& record) const noexcept;
  std::string_view value(const internal::Record& record) const noexcept;
  internal::GroupEntry* find(std::string_view group, std::uint64_t hash);
  static void prefetch_blocks(std::span<const Group> groups) noexcept;
  void prefetch_write(std::uint32_t index) const noexcept;
  /// The record that is there, or a new one.
  internal::Record* make(internal::GroupEntry& group, std::string_view item,
                         internal::SortedRecords::Position position, std::size_t value_size);
  internal::Record::Ptr make(std::string_view item, std::size_t value_size);
  std::uint32_t pending(internal::GroupEntry& group, internal::Record* record);
  /// The next items of the store, into memory.
  Result<> load(internal::GroupEntry& group);
  /// Those from `range.until` on, for this cycle only, as they are not next to those in memory.
  Result<> load_apart(internal::GroupEntry& group, internal::ReadRange& range);
  Result<std::vector<StateReader::Entry>> read(const internal::GroupEntry& group,
                                               internal::ReadRange& range);
  /// What is true of an item that this cycle writes. False if there is no record of it.
  bool note(internal::GroupEntry& group, std::string_view item, std::string_view value);
  /// Until the cycle ends: the record is among its writes, which say the same.
  void insert_apart(internal::GroupEntry& group, internal::Record::Ptr record);
  void insert(internal::GroupEntry& group, internal::Record::Ptr record);
  void erase(internal::GroupEntry& group, internal::Record* record) noexcept;
  void set_true(internal::GroupEntry& group, internal::Record* record, std::string_view value);
  void erase(internal::GroupEntry* group) noexcept;
  /// After a cycle: lets go of groups that have nothing to remember.
  void forget_empty();
  void drop_tail(internal::GroupEntry& group, std::size_t enough);

  const internal::StateShared* shared_;
  internal::TablePrefix prefix_;
  /// Whether groups that are not in memory are nowhere.
  bool is_complete_;
  internal::HashIndex<internal::GroupEntry> index_;                 // owns the groups
  internal::GroupEntry nothing_{.group = {}, .is_complete = true};  // for groups not there
  internal::PendingWrites<Place> pending_;
  std::vector<internal::GroupEntry*> found_;  // that may be empty when the cycle ends
  std::size_t memory_ = 0;
  std::size_t hand_ = 0;  // where the sweep goes on
  // To use their memory again.
  std::vector<std::uint64_t> hashes_;
  std::vector<internal::Record::Ptr> spare_;
};

template <class Use>
Result<> GroupTable::Group::for_each(Use use) {
  if (!entry_->is_complete) {
    for (Cursor cursor = scan();;) {
      auto more = cursor.next();
      if (!more) return std::move(more).error();
      if (!*more) return {};
      if (auto used = use(cursor.item(), cursor.value()); !used) return used;
    }
  }
  // Nothing has to be read for it.
  const internal::SortedRecords& records = entry_->records;
  internal::SortedRecords::Position position;
  for (const internal::Record* record; (record = records.at(position)) != nullptr;
       position = records.next(position)) {
    if (!table_->exists(*record)) continue;
    if (auto used = use(record->key(), table_->value(*record)); !used) return used;
  }
  return {};
}

}  // namespace weir::flow::operators
