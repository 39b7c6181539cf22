#include <weir/flow/operator/state_table.hpp>

namespace weir::flow::operators {

using internal::hash_bytes;
using internal::Record;

const Record* StateTable::Slot::known() const noexcept {
  // Another slot of the key may have made one since.
  return record_ != nullptr ? record_ : table_->index_.find(key_, hash_);
}

bool StateTable::Slot::exists() const noexcept {
  const Record* record = known();
  if (record == nullptr) return false;
  return record->is_pending() ? !table_->pending_[record->pending].is_removal : record->exists();
}

std::string_view StateTable::Slot::value() const noexcept {
  const Record* record = known();
  if (record == nullptr) return {};
  if (!record->is_pending()) return record->exists() ? record->value() : std::string_view();
  const auto& write = table_->pending_[record->pending];
  return write.is_removal ? std::string_view() : std::string_view(write.value);
}

Record& StateTable::Slot::record() {
  if (record_ == nullptr) record_ = table_->index_.find(key_, hash_);
  if (record_ == nullptr) record_ = table_->insert(table_->make(key_, 0), hash_);
  return *record_;
}

std::uint32_t StateTable::Slot::pending() {
  Record& record = this->record();
  if (!record.is_pending()) {
    record.pending = table_->pending_.add(&record);
    auto& write = table_->pending_[record.pending];
    write.is_removal = !record.exists();
    write.value.assign(record.value());
  }
  return record.pending;
}

std::string& StateTable::Slot::edit() {
  auto& write = table_->pending_[pending()];
  if (write.is_removal) write.value.clear();
  write.is_removal = false;
  return write.value;
}

void StateTable::Slot::remove() {
  if (exists()) table_->pending_[pending()].is_removal = true;
}

std::uint32_t& StateTable::Slot::mark() { return table_->pending_[pending()].mark; }

StateTable::~StateTable() {
  for (std::size_t place = 0; place < index_.places(); ++place)
    if (index_.at(place) != nullptr) free(index_.at(place));
}

Record* StateTable::make(std::string_view key, std::size_t value_capacity) {
  void* memory = pool_.take(Record::bytes_for(key, value_capacity));
  return Record::make_at(memory, key, value_capacity);
}

void StateTable::free(Record* record) noexcept { pool_.give_back(record, record->bytes()); }

std::size_t StateTable::memory_of(const Record& record) noexcept {
  return internal::RecordPool::memory_of(record.bytes());
}

void StateTable::prefetch(std::span<const std::string_view> keys) {
  hashes_.clear();
  for (const std::string_view key : keys) {
    hashes_.push_back(hash_bytes(key));
    index_.prefetch(hashes_.back());
  }
  for (const std::uint64_t hash : hashes_)
    if (const Record* record = index_.likely(hash)) record->prefetch();
}

Result<StateTable::Slot> StateTable::find(std::string_view key) {
  return find(key, hash_bytes(key));
}

Result<> StateTable::find_all(std::span<const std::string_view> keys, std::vector<Slot>& found) {
  prefetch(keys);
  found.clear();
  found.reserve(keys.size());
  const bool is_all_here = is_complete_ || shared_->reader == nullptr;
  for (std::size_t at = 0; at < keys.size(); ++at) {
    if (is_all_here) {
      Record* record = index_.find(keys[at], hashes_[at]);
      if (record != nullptr) record->was_used = true;
      found.push_back(Slot(*this, keys[at], hashes_[at], record));
      continue;
    }
    auto slot = find(keys[at], hashes_[at]);
    if (!slot) return std::move(slot).error();
    found.push_back(*slot);
  }
  return {};
}

Result<StateTable::Slot> StateTable::find(std::string_view key, std::uint64_t hash) {
  Record* record = index_.find(key, hash);
  if (record != nullptr) {
    record->was_used = true;
  } else if (!is_complete_ && shared_->reader != nullptr) {
    auto loaded = load(key, hash);
    if (!loaded) return std::move(loaded).error();
    record = *loaded;
  }
  return Slot(*this, key, hash, record);
}

Result<Record*> StateTable::load(std::string_view key, std::uint64_t hash) {
  auto value = shared_->reader->get(prefix_ + key);
  if (!value) return std::move(value).error();
  if (!value->has_value()) return static_cast<Record*>(nullptr);
  Record* record = make(key, (*value)->size());
  record->set_value(**value);
  return insert(record, hash);
}

Record* StateTable::insert(Record* record, std::uint64_t hash) {
  memory_ += memory_of(*record);
  index_.insert(record, hash);
  return record;
}

void StateTable::erase(Record* record) noexcept {
  memory_ -= memory_of(*record);
  index_.erase(record, hash_bytes(record->key()));
  free(record);
}

void StateTable::visit_writes(const internal::VisitWrite& visit) const {
  for (std::uint32_t index = 0; index < pending_.size(); ++index) {
    const auto& write = pending_[index];
    const Record& record = *write.place;
    const bool is_same =
        write.is_removal ? !record.exists() : record.exists() && record.value() == write.value;
    if (is_same) continue;
    visit(prefix_ + record.key(),
          write.is_removal ? std::nullopt : std::optional<std::string_view>(write.value));
  }
}

void StateTable::commit() {
  for (std::uint32_t index = 0; index < pending_.size(); ++index) {
    const auto& write = pending_[index];
    Record* record = write.place;
    if (write.is_removal) {
      erase(record);
      continue;
    }
    if (!record->fits(write.value.size())) {
      // Values that grow tend to grow again.
      const bool is_first = !record->exists();
      Record* larger =
          make(record->key(), is_first ? write.value.size() : write.value.size() * 5 / 4);
      memory_ += memory_of(*larger) - memory_of(*record);
      index_.replace(record, larger, hash_bytes(record->key()));
      free(record);
      record = larger;
    }
    record->set_value(write.value);
    record->pending = Record::not_pending;
  }
  pending_.clear();
}

void StateTable::roll_back() {
  for (std::uint32_t index = 0; index < pending_.size(); ++index) {
    Record* record = pending_[index].place;
    record->pending = Record::not_pending;
    if (!record->exists()) erase(record);
  }
  pending_.clear();
}

void StateTable::evict(std::size_t bytes) {
  const std::size_t enough = memory_ > bytes ? memory_ - bytes : 0;
  // Twice around: the first time it may only find what was used.
  for (std::size_t steps = 2 * index_.places(); steps > 0 && memory_ > enough; --steps) {
    hand_ = hand_ + 1 < index_.places() ? hand_ + 1 : 0;
    Record* record = index_.at(hand_);
    if (record == nullptr) continue;
    if (record->was_used) {
      record->was_used = false;
      continue;
    }
    erase(record);
    is_complete_ = false;
    hand_ = hand_ == 0 ? index_.places() - 1 : hand_ - 1;  // another may have moved up
  }
}

}  // namespace weir::flow::operators
