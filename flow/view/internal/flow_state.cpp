#include <weir/flow/view/internal/flow_state.hpp>

#include <utility>

#include <weir/flow/operator/errc.hpp>

namespace weir::flow::view::internal {
namespace {

std::string plain_value(std::string_view stored) {
  if (!stored.empty() && stored.front() == '\0') stored.remove_prefix(1);
  return std::string(stored);
}

}  // namespace

EncodedKey flow_state_key(std::uint64_t flow, std::string_view key) {
  EncodedKey encoded;
  storage::KeyCodec<std::uint64_t>::encode(flow, encoded.bytes);
  encoded.bytes.append(key);
  return encoded;
}

EncodedValue flow_state_value(std::string_view value) {
  EncodedValue encoded;
  if (value.empty() || value.front() == '\0') encoded.bytes.push_back('\0');
  encoded.bytes.append(value);
  return encoded;
}

Result<std::optional<std::string>> FlowStateReader::get(std::string_view key) {
  auto reading = transaction().get(space_, flow_state_key(flow_, key));
  if (!may_wait_ && !reading.await_ready()) return operators::Errc::would_block;
  auto value = may_wait_ ? std::move(reading).blocking() : reading.await_resume();
  if (!value) return std::move(value).error();
  if (!*value) return std::optional<std::string>();
  return std::optional(plain_value((*value)->bytes));
}

Result<std::vector<operators::StateReader::Entry>> FlowStateReader::scan(const Range& range) {
  auto scan = transaction().scan(
      space_, storage::KeyRange<EncodedKey>::between(flow_state_key(flow_, range.from),
                                                     flow_state_key(flow_, range.until)));
  const std::size_t prefix = flow_state_key(flow_, "").bytes.size();
  std::vector<Entry> entries;
  while (entries.size() < range.limit) {
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
    if (!row) break;
    entries.push_back({row->key.bytes.substr(prefix), plain_value(row->value.bytes)});
  }
  return entries;
}

}  // namespace weir::flow::view::internal
