#include <weir/flow/operator/group_table.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include <weir/runtime/check.hpp>

namespace weir::flow::operators {

using internal::GroupEntry;
using internal::hash_bytes;
using internal::Record;

namespace {

/// So many records that are gone are kept for their memory.
constexpr std::size_t spare_max = 1024;
/// Room for a count, so that a new item need not move for it.
constexpr std::size_t small_value = 8;

/// What it takes in memory beside its records.
std::size_t memory_of(const GroupEntry& group) noexcept {
  return sizeof(GroupEntry) + group.group.capacity() + 64;
}

}  // namespace

GroupTable::~GroupTable() {
  for (std::size_t place = 0; place < index_.places(); ++place)
    std::unique_ptr<GroupEntry>(index_.at(place)).reset();
}

GroupEntry* GroupTable::find(std::string_view group, std::uint64_t hash) {
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
  return entry;
}

GroupTable::Group GroupTable::find(std::string_view group) {
  return Group(*this, *find(group, hash_bytes(group)));
}

void GroupTable::find_all(std::span<const std::string_view> groups, std::vector<Group>& found) {
  prefetch(groups);
  found.clear();
  for (std::size_t at = 0; at < groups.size(); ++at)
    found.push_back(Group(*this, *find(groups[at], hashes_[at])));
  prefetch_blocks(found);
}

void GroupTable::peek_all(std::span<const std::string_view> groups, std::vector<Group>& found) {
  prefetch(groups);
  found.clear();
  const bool is_all_here = is_complete_ || shared_->reader == nullptr;
  for (std::size_t at = 0; at < groups.size(); ++at) {
    GroupEntry* entry =
        is_all_here ? index_.find(groups[at], hashes_[at]) : find(groups[at], hashes_[at]);
    if (entry != nullptr) entry->was_used = true;
    found.push_back(Group(*this, entry != nullptr ? *entry : nothing_));
  }
  prefetch_blocks(found);
}

void GroupTable::prefetch(std::span<const std::string_view> groups) {
  hashes_.resize(groups.size());
  for (std::size_t at = 0; at < groups.size(); ++at) {
    hashes_[at] = hash_bytes(groups[at]);
    index_.prefetch(hashes_[at]);
  }
  for (const std::uint64_t hash : hashes_) {
    const char* entry = reinterpret_cast<const char*>(index_.likely(hash));
    if (entry == nullptr) continue;
    __builtin_prefetch(entry);
    __builtin_prefetch(entry + 64);
  }
}

void GroupTable::prefetch_blocks(std::span<const Group> groups) noexcept {
  for (const Group& group : groups) group.entry_->records.prefetch_block();
}

void GroupTable::prefetch_items(std::span<const Group> groups) noexcept {
  for (const Group& group : groups) group.entry_->records.prefetch_records();
}

bool GroupTable::exists(const Record& record) const noexcept {
  return record.is_pending() ? !pending_[record.pending].is_removal : record.exists();
}

std::string_view GroupTable::value(const Record& record) const noexcept {
  return record.is_pending() ? std::string_view(pending_[record.pending].value) : record.value();
}

Result<GroupTable::Slot> GroupTable::Group::find(std::string_view item) {
  Slot slot(*table_, *entry_, item);
  slot.position_ = entry_->records.lower_bound(item);
  Record* record = entry_->records.at(slot.position_);
  if (record != nullptr && record->key() == item) {
    slot.record_ = record;
  } else if (!entry_->is_resident(item)) {
    auto value =
        table_->shared_->reader->get(table_->prefix_ + (entry_->group + std::string(item)));
    if (!value) return std::move(value).error();
    Record::Ptr read = Record::make(item, value->has_value() ? (*value)->size() : 0);
    if (value->has_value()) read->set_value(**value);
    slot.record_ = read.get();
    table_->insert_apart(*entry_, std::move(read));
  }
  return slot;
}

Result<std::optional<std::string_view>> GroupTable::Group::get(std::string_view item) {
  auto slot = find(item);
  if (!slot) return std::move(slot).error();
  return slot->exists() ? std::optional(slot->value()) : std::nullopt;
}

Record* GroupTable::make(GroupEntry& group, std::string_view item,
                         internal::SortedRecords::Position position, std::size_t value_size) {
  Record* record = group.records.at(position);
  if (record != nullptr && record->key() == item) return record;
  check(&group != &nothing_, "what was only peeked at is not written");
  Record::Ptr made = make(item, value_size);
  made->is_known = group.is_resident(item);
  record = made.get();
  memory_ += record->memory();
  group.memory += record->memory();
  group.records.insert(position, std::move(made));
  return record;
}

Record::Ptr GroupTable::make(std::string_view item, std::size_t value_size) {
  if (!spare_.empty()) {
    Record::Ptr gone = std::move(spare_.back());
    spare_.pop_back();
    if (auto made = Record::make_in(std::move(gone), item, value_size)) return made;
  }
  return Record::make(item, value_size);
}

std::uint32_t GroupTable::pending(GroupEntry& group, Record* record) {
  if (!record->is_pending()) record->pending = pending_.add({&group, record});
  return record->pending;
}

void GroupTable::Slot::put(std::string_view value) {
  if (record_ == nullptr) record_ = table_->make(*entry_, item_, position_, value.size());
  auto& write = table_->pending_[table_->pending(*entry_, record_)];
  write.is_removal = false;
  write.value.assign(value);
}

std::string& GroupTable::Slot::edit() {
  if (record_ == nullptr) record_ = table_->make(*entry_, item_, position_, small_value);
  const bool is_first = !record_->is_pending();
  auto& write = table_->pending_[table_->pending(*entry_, record_)];
  if (is_first) {
    write.value.assign(record_->value());
  } else if (write.is_removal) {
    write.value.clear();
  }
  write.is_removal = false;
  return write.value;
}

void GroupTable::Slot::remove() {
  if (record_ == nullptr) return;
  table_->pending_[table_->pending(*entry_, record_)].is_removal = true;
}

void GroupTable::Group::put(std::string_view item, std::string_view value) {
  Record* record = table_->make(*entry_, item, entry_->records.lower_bound(item), value.size());
  auto& write = table_->pending_[table_->pending(*entry_, record)];
  write.is_removal = false;
  write.value.assign(value);
}

void GroupTable::Group::remove(std::string_view item) {
  Record* record = table_->make(*entry_, item, entry_->records.lower_bound(item), 0);
  table_->pending_[table_->pending(*entry_, record)].is_removal = true;
}

Result<bool> GroupTable::Group::is_empty() {
  if (entry_->is_complete && entry_->records.is_empty()) return true;
  auto has_item = scan().next();
  return has_item ? Result<bool>(!*has_item) : std::move(has_item).error();
}

GroupTable::Cursor GroupTable::Group::scan(std::string_view from) {
  return Cursor(*table_, *entry_, from);
}

void GroupTable::insert(GroupEntry& group, Record::Ptr record) {
  memory_ += record->memory();
  group.memory += record->memory();
  const auto position = group.records.lower_bound(record->key());
  group.records.insert(position, std::move(record));
}

void GroupTable::erase(GroupEntry& group, Record* record) noexcept {
  memory_ -= record->memory();
  group.memory -= record->memory();
  Record::Ptr gone = group.records.erase(group.records.position_of(record));
  if (spare_.size() < spare_max) spare_.push_back(std::move(gone));
}

void GroupTable::set_true(GroupEntry& group, Record* record, std::string_view value) {
  if (!record->fits(value.size())) {
    Record::Ptr larger = Record::make(record->key(), value.size());
    larger->pending = record->pending;
    larger->is_known = record->is_known;
    if (larger->is_pending()) pending_[larger->pending].place.record = larger.get();
    memory_ += larger->memory() - record->memory();
    group.memory += larger->memory() - record->memory();
    const auto position = group.records.position_of(record);
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
    std::string key;
    key.reserve(prefix_.bytes().size() + write.place.group->group.size() + record.key().size());
    key.append(prefix_.bytes()).append(write.place.group->group).append(record.key());
    visit(std::move(key),
          write.is_removal ? std::nullopt : std::optional<std::string_view>(write.value));
  }
}

void GroupTable::prefetch_write(std::uint32_t index) const noexcept {
  if (index >= pending_.size()) return;
  __builtin_prefetch(pending_[index].place.record);
  __builtin_prefetch(pending_[index].place.group);
}

void GroupTable::commit() {
  for (std::uint32_t index = 0; index < pending_.size(); ++index) {
    prefetch_write(index + 8);
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
