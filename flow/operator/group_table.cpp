#include <weir/flow/operator/group_table.hpp>

#include <algorithm>
#include <memory>

namespace weir::flow::operators {

using internal::GroupEntry;
using internal::hash_bytes;
using internal::Record;
using internal::SortedRecords;

namespace {

constexpr std::size_t load_items = 256;
/// Room for a count, so that a new item need not move for it.
constexpr std::size_t small_value = 8;

/// What it takes in memory beside its records.
std::size_t memory_of(const GroupEntry& group) noexcept {
  return sizeof(GroupEntry) + group.group.capacity() + 64;
}

/// The least text that is greater than all that begin with these bytes; empty if there is none.
std::string end_of_prefix(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xFF') prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

}  // namespace

GroupTable::~GroupTable() {
  for (std::size_t place = 0; place < index_.places(); ++place)
    std::unique_ptr<GroupEntry>(index_.at(place)).reset();
}

void GroupTable::prefetch(std::span<const std::string_view> groups) {
  hashes_.clear();
  near_.clear();
  for (const std::string_view group : groups) {
    hashes_.push_back(hash_bytes(group));
    index_.prefetch_slot(hashes_.back());
  }
  for (const std::uint64_t hash : hashes_)
    if (GroupEntry* entry = index_.prefetch_entry(hash)) near_.push_back(entry);
  for (const GroupEntry* entry : near_) entry->records.prefetch_blocks();
  for (const GroupEntry* entry : near_) entry->records.prefetch_entries();
}

GroupTable::Group GroupTable::find(std::string_view group) {
  const std::uint64_t hash = hash_bytes(group);
  GroupEntry* entry = index_.find(group, hash);
  if (entry == nullptr) {
    auto made = std::make_unique<GroupEntry>(GroupEntry{.group = std::string(group)});
    made->is_complete = is_complete_ || shared_->reader == nullptr;
    memory_ += memory_of(*made);
    index_.insert(made.get(), hash);
    entry = made.release();
    found_.push_back(entry);
  }
  entry->was_used = true;
  return Group(*this, *entry);
}

bool GroupTable::exists(const Record& record) const noexcept {
  return record.is_pending() ? !pending_[record.pending].is_removal : record.exists();
}

std::string_view GroupTable::value(const Record& record) const noexcept {
  return record.is_pending() ? std::string_view(pending_[record.pending].value) : record.value();
}

Result<std::optional<std::string_view>> GroupTable::Group::get(std::string_view item) {
  Record* record = entry_->records.find(item);
  if (record == nullptr && !entry_->is_resident(item)) {
    auto read = table_->read(*entry_, item);
    if (!read) return std::move(read).error();
    record = *read;
  }
  if (record == nullptr || !table_->exists(*record)) return std::optional<std::string_view>();
  return std::optional(table_->value(*record));
}

Result<Record*> GroupTable::read(GroupEntry& group, std::string_view item) {
  auto value = shared_->reader->get(prefix_ + (group.group + std::string(item)));
  if (!value) return std::move(value).error();
  // It goes again when the cycle ends, as it is not next to those in memory.
  Record::Ptr made = Record::make(item, value->has_value() ? (*value)->size() : 0);
  if (value->has_value()) made->set_value(**value);
  Record* record = made.get();
  insert(group, std::move(made));
  record->pending = pending_.add({&group, record});
  auto& write = pending_[record->pending];
  write.is_removal = !record->exists();
  write.value.assign(record->value());
  return record;
}

Result<GroupTable::Item> GroupTable::Group::edit(std::string_view item) {
  const auto position = entry_->records.lower_bound(item);
  Record* record = entry_->records.at(position);
  if (record == nullptr || record->key() != item) {
    if (!entry_->is_resident(item)) {
      auto read = table_->read(*entry_, item);
      if (!read) return std::move(read).error();
      return Item(*table_, (*read)->pending);
    }
    record = table_->insert(*entry_, position, Record::make(item, small_value));
  }
  if (!record->is_pending()) {
    record->pending = table_->pending_.add({entry_, record});
    auto& write = table_->pending_[record->pending];
    write.is_removal = !record->exists();
    write.value.assign(record->value());
  }
  return Item(*table_, record->pending);
}

bool GroupTable::Item::exists() const noexcept { return !table_->pending_[pending_].is_removal; }

std::string_view GroupTable::Item::value() const noexcept {
  return exists() ? std::string_view(table_->pending_[pending_].value) : std::string_view();
}

std::string& GroupTable::Item::edit() {
  auto& write = table_->pending_[pending_];
  if (write.is_removal) write.value.clear();
  write.is_removal = false;
  return write.value;
}

void GroupTable::Item::remove() { table_->pending_[pending_].is_removal = true; }

std::uint32_t GroupTable::pending(GroupEntry& group, std::string_view item) {
  const auto position = group.records.lower_bound(item);
  Record* record = group.records.at(position);
  if (record == nullptr || record->key() != item) {
    Record::Ptr made = Record::make(item, 0);
    made->is_known = group.is_resident(item);
    record = insert(group, position, std::move(made));
  }
  if (!record->is_pending()) record->pending = pending_.add({&group, record});
  return record->pending;
}

void GroupTable::Group::put(std::string_view item, std::string_view value) {
  auto& write = table_->pending_[table_->pending(*entry_, item)];
  write.is_removal = false;
  write.value.assign(value);
}

void GroupTable::Group::remove(std::string_view item) {
  table_->pending_[table_->pending(*entry_, item)].is_removal = true;
}

GroupTable::Cursor GroupTable::Group::scan(std::string_view from) {
  return Cursor(*table_, *entry_, from);
}

std::string_view GroupTable::Cursor::value() const noexcept { return table_->value(*record_); }

Result<bool> GroupTable::Cursor::next() {
  if (has_begun_) {
    position_ = entry_->records.next(position_);
  } else {
    // Items before `from` need not be read, but memory holds the beginning without a gap.
    position_ = entry_->records.lower_bound(from_);
    has_begun_ = true;
  }
  for (;;) {
    Record* record = entry_->records.at(position_);
    if (record == nullptr || !entry_->is_resident(record->key())) {
      if (entry_->is_complete) return false;
      const std::string last = record_ != nullptr ? std::string(record_->key()) : std::string();
      if (auto loaded = table_->load(*entry_); !loaded) return std::move(loaded).error();
      position_ = entry_->records.lower_bound(record_ != nullptr ? last : from_);
      if (record_ != nullptr) {
        const Record* found = entry_->records.at(position_);
        if (found != nullptr && found->key() == last) position_ = entry_->records.next(position_);
      }
      continue;
    }
    if (table_->exists(*record)) {
      record_ = record;
      return true;
    }
    position_ = entry_->records.next(position_);
  }
}

Result<> GroupTable::load(GroupEntry& group) {
  const std::string prefix = prefix_ + group.group;
  const std::string from = prefix + group.resident_until;
  const std::string until = end_of_prefix(prefix);
  auto entries = shared_->reader->scan({.from = from, .until = until, .limit = load_items});
  if (!entries) return std::move(entries).error();
  for (const StateReader::Entry& entry : *entries) {
    const std::string_view item = std::string_view(entry.key).substr(prefix.size());
    if (Record* record = group.records.find(item); record == nullptr) {
      Record::Ptr made = Record::make(item, entry.value.size());
      made->set_value(entry.value);
      insert(group, std::move(made));
    } else if (!record->is_known) {
      record->is_known = true;
      set_true(group, record, entry.value);
    }
  }
  if (entries->size() < load_items) {
    group.is_complete = true;
    group.resident_until.clear();
  } else {
    group.resident_until = entries->back().key.substr(prefix.size()) + '\0';
  }
  return {};
}

void GroupTable::insert(GroupEntry& group, Record::Ptr record) {
  const auto position = group.records.lower_bound(record->key());
  insert(group, position, std::move(record));
}

Record* GroupTable::insert(GroupEntry& group, SortedRecords::Position position,
                           Record::Ptr record) {
  Record* inserted = record.get();
  memory_ += record->memory();
  group.memory += record->memory();
  group.records.insert(position, std::move(record));
  return inserted;
}

void GroupTable::erase(GroupEntry& group, Record* record) noexcept {
  memory_ -= record->memory();
  group.memory -= record->memory();
  group.records.erase(group.records.lower_bound(record->key()));
}

void GroupTable::set_true(GroupEntry& group, Record* record, std::string_view value) {
  if (!record->fits(value.size())) {
    Record::Ptr larger = Record::make(record->key(), value.size());
    larger->pending = record->pending;
    larger->is_known = record->is_known;
    if (larger->is_pending()) pending_[larger->pending].place.record = larger.get();
    memory_ += larger->memory() - record->memory();
    group.memory += larger->memory() - record->memory();
    const auto position = group.records.lower_bound(record->key());
    record = larger.get();
    group.records.replace(position, std::move(larger));
  }
  record->set_value(value);
}

void GroupTable::visit_writes(const internal::VisitWrite& visit) const {
  for (std::uint32_t index = 0; index < pending_.size(); ++index) {
    const auto& write = pending_[index];
    const Record& record = *write.place.record;
    const bool is_same =
        record.is_known &&
        (write.is_removal ? !record.exists() : record.exists() && record.value() == write.value);
    if (is_same) continue;
    visit((prefix_ + write.place.group->group).append(record.key()),
          write.is_removal ? std::nullopt : std::optional<std::string_view>(write.value));
  }
}

void GroupTable::commit() {
  for (std::uint32_t index = 0; index < pending_.size(); ++index) {
    auto& write = pending_[index];
    const auto [group, record] = write.place;
    record->pending = Record::not_pending;
    if (write.is_removal || !group->is_resident(record->key())) {
      erase(*group, record);
    } else {
      record->is_known = true;
      set_true(*group, record, write.value);
    }
    if (group->records.is_empty()) found_.push_back(group);
  }
  pending_.clear();
  forget_empty();
}

void GroupTable::roll_back() {
  for (std::uint32_t index = 0; index < pending_.size(); ++index) {
    const auto [group, record] = pending_[index].place;
    record->pending = Record::not_pending;
    if (!record->exists() || !group->is_resident(record->key())) erase(*group, record);
    if (group->records.is_empty()) found_.push_back(group);
  }
  pending_.clear();
  forget_empty();
}

void GroupTable::erase(GroupEntry* group) noexcept {
  if (!group->is_complete) is_complete_ = false;
  memory_ -= group->memory + memory_of(*group);
  index_.erase(group, hash_bytes(group->group));
  std::unique_ptr<GroupEntry>(group).reset();
}

void GroupTable::forget_empty() {
  std::ranges::sort(found_);
  const auto repeated = std::ranges::unique(found_);
  found_.erase(repeated.begin(), repeated.end());
  for (GroupEntry* group : found_)
    if (group->records.is_empty()) erase(group);
  found_.clear();
}

void GroupTable::evict(std::size_t bytes) {
  const std::size_t enough = memory_ > bytes ? memory_ - bytes : 0;
  // Twice around: the first time it may only find what was used.
  for (std::size_t steps = 2 * index_.places(); steps > 0 && memory_ > enough; --steps) {
    hand_ = hand_ + 1 < index_.places() ? hand_ + 1 : 0;
    GroupEntry* group = index_.at(hand_);
    if (group == nullptr) continue;
    if (group->was_used) {
      group->was_used = false;
      // One that does not fit by itself keeps its beginning.
      if (group->memory > enough) drop_tail(*group, enough / 2);
      continue;
    }
    erase(group);
    is_complete_ = false;
    hand_ = hand_ == 0 ? index_.places() - 1 : hand_ - 1;  // another may have moved up
  }
}

void GroupTable::drop_tail(GroupEntry& group, std::size_t enough) {
  while (group.memory > enough) {
    Record* last = group.records.last();
    if (last == nullptr) break;
    group.resident_until.assign(last->key());
    group.is_complete = false;
    erase(group, last);
  }
}

}  // namespace weir::flow::operators
