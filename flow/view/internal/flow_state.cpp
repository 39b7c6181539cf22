#include <weir/flow/view/internal/flow_state.hpp>

#include <algorithm>
#include <utility>

#include <weir/flow/operator/errc.hpp>

namespace weir::flow::view::internal {
namespace {

std::string plain_value(std::string_view stored) {
  if (!stored.empty() && stored.front() == '\0') stored.remove_prefix(1);
  return std::string(stored);
}

}  // namespace

EncodedValue flow_state_value(std::string_view value) {
  EncodedValue encoded;
  if (value.empty() || value.front() == '\0') encoded.bytes.push_back('\0');
  encoded.bytes.append(value);
  return encoded;
}

void FlowStateReader::remember(storage::Version version,
                               std::vector<operators::State::Write> writes) {
  refresh();
  if (!writes.empty()) submitted_.push_back({version, std::move(writes)});
}

void FlowStateReader::refresh() {
  while (!submitted_.empty() && submitted_.front().version <= store_->version())
    submitted_.pop_front();
  while (!submitted_rows_.empty() && submitted_rows_.front().version <= store_->version())
    submitted_rows_.pop_front();
}

void FlowStateReader::remember(storage::Version version, Rows rows) {
  if (!rows.empty()) submitted_rows_.push_back({version, std::move(rows)});
}

Result<std::optional<std::string>> FlowStateReader::get(std::string_view key) {
  if (const auto* write = find_submitted(key)) return write->value;
  auto reading = store_->current_state().get(space_, EncodedKey{std::string(key)});
  if (!may_wait_ && !reading.await_ready()) return operators::Errc::would_block;
  auto value = may_wait_ ? std::move(reading).blocking() : reading.await_resume();
  if (!value) return std::move(value).error();
  if (!*value) return std::optional<std::string>();
  return std::optional(plain_value((*value)->bytes));
}

/// The newest one of this key.
const operators::State::Write* FlowStateReader::find_submitted(std::string_view key) const {
  using operators::State;
  for (auto commit = submitted_.rbegin(); commit != submitted_.rend(); ++commit) {
    const auto at = std::ranges::lower_bound(commit->writes, key, {}, &State::Write::key);
    if (at != commit->writes.end() && at->key == key) return &*at;
  }
  return nullptr;
}

FlowStateReader::Overlay FlowStateReader::submitted_in(const Range& range) const {
  using operators::State;
  Overlay overlay;
  for (const Submitted& commit : submitted_) {
    auto at = std::ranges::lower_bound(commit.writes, range.from, {}, &State::Write::key);
    for (; at != commit.writes.end() && at->key < range.until; ++at)
      overlay.insert_or_assign(at->key, at->value);
  }
  return overlay;
}

Result<std::optional<operators::StateReader::Entry>> FlowStateReader::next(
    storage::Scan<EncodedKey, EncodedValue>& scan) const {
  std::optional<storage::Row<EncodedKey, EncodedValue>> row;
  if (may_wait_) {
    auto read = scan.next_blocking();
    if (!read) return std::move(read).error();
    row = *std::move(read);
  } else {
    auto reading = scan.next();
    if (!reading.await_ready()) return operators::Errc::would_block;
    auto read = reading.await_resume();
    if (!read) return std::move(read).error();
    row = *std::move(read);
  }
  if (!row) return std::optional<Entry>();
  return std::optional(Entry{std::move(row->key.bytes), plain_value(row->value.bytes)});
}

Result<std::optional<EncodedValue>> FlowStateReader::get_row(
    const storage::RowSpace<EncodedKey, EncodedValue>& rows, const EncodedKey& key) {
  for (auto commit = submitted_rows_.rbegin(); commit != submitted_rows_.rend(); ++commit)
    if (const auto at = commit->rows.find(key.bytes); at != commit->rows.end()) return at->second;
  const auto transaction = store_->read();
  auto reading = transaction.get(rows, key);
  if (!may_wait_ && !reading.await_ready()) return operators::Errc::would_block;
  return may_wait_ ? std::move(reading).blocking() : reading.await_resume();
}

Result<std::vector<operators::StateReader::Entry>> FlowStateReader::scan(const Range& range) {
  auto scan = store_->current_state().scan(
      space_, storage::KeyRange<EncodedKey>::between(EncodedKey{std::string(range.from)},
                                                     EncodedKey{std::string(range.until)}));
  const Overlay overlay = submitted_in(range);
  auto over = overlay.begin();
  std::vector<Entry> entries;
  // Of what was submitted all before a stored entry, or that one itself: true if so.
  const auto take_submitted = [&](const std::optional<Entry>& stored) {
    bool is_replaced = false;
    for (; over != overlay.end() && entries.size() < range.limit && !is_replaced; ++over) {
      if (stored && over->first > stored->key) break;
      is_replaced = stored && over->first == stored->key;
      if (over->second) entries.push_back({std::string(over->first), std::string(*over->second)});
    }
    return is_replaced;
  };
  while (entries.size() < range.limit) {
    auto stored = next(scan);
    if (!stored) return std::move(stored).error();
    const bool is_replaced = take_submitted(*stored);
    if (!*stored) break;
    if (!is_replaced && entries.size() < range.limit) entries.push_back(**std::move(stored));
  }
  return entries;
}

}  // namespace weir::flow::view::internal
