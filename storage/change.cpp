#include <weir/storage/change.hpp>

#include <algorithm>

#include <weir/storage/errc.hpp>
#include <weir/storage/internal/bytes.hpp>
#include <weir/storage/internal/change_format.hpp>

namespace weir::storage {
namespace {

using internal::ByteReader;

/// Leaves `kind` zero if it is none.
Change take_change(ByteReader& reader) noexcept {
  Change change{};
  const std::uint8_t kind = reader.byte();
  if (kind < 1 || kind > 3) return change;
  change.kind = static_cast<ChangeKind>(kind);
  change.key = reader.text();
  if (change.kind != ChangeKind::insert) change.before = reader.text();
  if (change.kind != ChangeKind::remove) change.after = reader.text();
  return change;
}

/// False if there are fewer than `count` whole changes.
bool skip_changes(ByteReader& reader, std::uint64_t count) noexcept {
  for (; count > 0 && reader.is_ok(); --count) {
    if (take_change(reader).kind == ChangeKind{}) return false;
  }
  return reader.is_ok();
}

telemetry::TraceContext take_trace(ByteReader& reader) {
  telemetry::TraceContext trace;
  const std::uint8_t flags = reader.byte();
  if (flags == 0) return trace;
  const std::string_view trace_id = reader.bytes(trace.trace.bytes.size());
  const std::string_view span_id = reader.bytes(trace.span.bytes.size());
  std::copy(trace_id.begin(), trace_id.end(), trace.trace.bytes.begin());
  std::copy(span_id.begin(), span_id.end(), trace.span.bytes.begin());
  trace.is_sampled = (flags & internal::trace_is_sampled) != 0;
  return trace;
}

}  // namespace

const char* to_string(ChangeKind kind) noexcept {
  switch (kind) {
    case ChangeKind::insert: return "insert";
    case ChangeKind::update: return "update";
    case ChangeKind::remove: return "remove";
  }
  return "unknown";
}

void SpaceChanges::Iterator::take() noexcept {
  ByteReader reader(rest_);
  change_ = take_change(reader);
  rest_ = reader.rest();
}

Result<ChangeRecord> ChangeRecord::decode(Version version, std::string_view bytes) {
  auto copy = std::make_shared<const std::string>(bytes);
  const std::string_view view = *copy;
  return decode(version, view, std::move(copy));
}

Result<ChangeRecord> ChangeRecord::decode(Version version, std::string_view bytes,
                                          std::shared_ptr<const void> owner) {
  ChangeRecord record;
  record.version_ = version;
  record.bytes_ = bytes;
  record.owner_ = std::move(owner);
  if (!record.parse()) {
    return Error(Errc::corruption, "change log: version " + storage::to_string(version) +
                                       ": not a change record (" + std::to_string(bytes.size()) +
                                       " bytes)");
  }
  return record;
}

bool ChangeRecord::parse() {
  ByteReader reader(bytes_);
  if (reader.byte() != internal::change_format) return false;
  time_ += std::chrono::microseconds(reader.varint());
  total_bytes_ = reader.varint();
  origin_ = reader.text();
  trace_ = take_trace(reader);
  const std::uint64_t spaces = reader.varint();
  for (std::uint64_t i = 0; i < spaces && reader.is_ok(); ++i) {
    const auto space = static_cast<std::uint32_t>(reader.varint());
    const std::uint64_t count = reader.varint();
    const std::string_view rest = reader.rest();
    if (!skip_changes(reader, count)) return false;
    spaces_.push_back(SpaceChanges(space, count, rest));
  }
  return reader.is_ok() && reader.is_at_end();
}

SpaceChanges ChangeRecord::of(std::uint32_t space) const noexcept {
  for (const SpaceChanges& changes : spaces_) {
    if (changes.space() == space) return changes;
  }
  return SpaceChanges(space, 0, {});
}

}  // namespace weir::storage
