#include <weir/flow/operator/group_table.hpp>

#include <utility>

// How groups are read from the store, and gone through.
namespace weir::flow::operators {

using internal::GroupEntry;
using internal::Record;

namespace {

constexpr std::size_t load_items = 256;
/// A group that takes more than this is not read from its beginning to somewhere behind it.
constexpr std::size_t beginning_bytes = 64 << 10;

/// The least text that is greater than all that begin with these bytes; empty if there is none.
std::string end_of_prefix(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xFF') prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

}  // namespace

std::string_view GroupTable::Cursor::value() const noexcept { return table_->value(*record_); }

void GroupTable::Cursor::begin() {
  if (!from_.empty()) position_ = entry_->records.lower_bound(from_);
  has_begun_ = true;
}

bool GroupTable::Cursor::is_read(std::string_view item) const noexcept {
  return entry_->is_resident(item) || (is_apart_ && read_.contains(item));
}

bool GroupTable::Cursor::is_all_read() const noexcept {
  return entry_->is_complete || (is_apart_ && read_.is_complete);
}

Result<> GroupTable::Cursor::read_more() {
  // Memory holds the beginning without a gap: what is far behind it is read by itself.
  const bool is_far =
      !from_.empty() && !entry_->is_resident(from_) && entry_->memory > beginning_bytes;
  if (is_far && !is_apart_) {
    is_apart_ = true;
    read_.until = from_;
  }
  return is_apart_ ? table_->load_apart(*entry_, read_) : table_->load(*entry_);
}

Result<bool> GroupTable::Cursor::next() {
  if (has_begun_) {
    position_ = entry_->records.next(position_);
  } else {
    begin();
  }
  for (;;) {
    Record* record = entry_->records.at(position_);
    if (record == nullptr || !is_read(record->key())) {
      if (is_all_read()) return false;
      const std::string last = record_ != nullptr ? std::string(record_->key()) : std::string();
      if (auto loaded = read_more(); !loaded) return std::move(loaded).error();
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

Result<std::vector<StateReader::Entry>> GroupTable::read(const GroupEntry& group,
                                                         internal::ReadRange& range) {
  const std::string prefix = prefix_ + group.group;
  const std::string from = prefix + range.until;
  const std::string until = end_of_prefix(prefix);
  auto entries = shared_->reader->scan({.from = from, .until = until, .limit = load_items});
  if (!entries) return entries;
  for (StateReader::Entry& entry : *entries) entry.key.erase(0, prefix.size());
  range.is_complete = entries->size() < load_items;
  if (range.is_complete) {
    range.until.clear();
  } else {
    range.until = entries->back().key + '\0';
  }
  return entries;
}

Result<> GroupTable::load(GroupEntry& group) {
  internal::ReadRange range{.until = group.resident_until};
  auto entries = read(group, range);
  if (!entries) return std::move(entries).error();
  for (const auto& [item, value] : *entries) {
    if (note(group, item, value)) continue;
    Record::Ptr made = Record::make(item, value.size());
    made->set_value(value);
    insert(group, std::move(made));
  }
  group.is_complete = range.is_complete;
  group.resident_until = std::move(range.until);
  return {};
}

Result<> GroupTable::load_apart(GroupEntry& group, internal::ReadRange& range) {
  auto entries = read(group, range);
  if (!entries) return std::move(entries).error();
  for (const auto& [item, value] : *entries) {
    if (note(group, item, value)) continue;
    Record::Ptr made = Record::make(item, value.size());
    made->set_value(value);
    insert_apart(group, std::move(made));
  }
  return {};
}

bool GroupTable::note(GroupEntry& group, std::string_view item, std::string_view value) {
  Record* record = group.records.find(item);
  if (record == nullptr) return false;
  if (!record->is_known) {
    record->is_known = true;
    set_true(group, record, value);
  }
  return true;
}

void GroupTable::insert_apart(GroupEntry& group, Record::Ptr record) {
  Record* inserted = record.get();
  insert(group, std::move(record));
  auto& write = pending_[pending(group, inserted)];
  write.is_removal = !inserted->exists();
  write.value.assign(inserted->value());
}

}  // namespace weir::flow::operators
