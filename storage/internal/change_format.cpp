#include <weir/storage/internal/change_format.hpp>

namespace weir::storage::internal {
namespace {

void append_trace(std::string& out, const telemetry::TraceContext* trace) {
  if (!trace || !trace->is_valid()) {
    out.push_back(0);
    return;
  }
  out.push_back(static_cast<char>(trace_is_present | (trace->is_sampled ? trace_is_sampled : 0)));
  out.append(reinterpret_cast<const char*>(trace->trace.bytes.data()), trace->trace.bytes.size());
  out.append(reinterpret_cast<const char*>(trace->span.bytes.data()), trace->span.bytes.size());
}

std::size_t varint_size(std::uint64_t number) noexcept {
  std::size_t size = 1;
  for (; number >= 0x80; number >>= 7) ++size;
  return size;
}

}  // namespace

ChangeList::Space& ChangeList::space(std::uint32_t id) {
  // A transaction touches few spaces, and mostly the same one again.
  for (std::size_t i = used_; i > 0; --i) {
    if (spaces_[i - 1].id == id) return spaces_[i - 1];
  }
  if (used_ == spaces_.size()) spaces_.emplace_back();
  Space& fresh = spaces_[used_++];
  fresh.id = id;
  fresh.count = 0;
  fresh.bytes.clear();
  return fresh;
}

void ChangeList::add(std::uint32_t id, const Change& change) {
  Space& into = space(id);
  ++into.count;
  into.bytes.push_back(static_cast<char>(change.kind));
  append_sized(change.key, into.bytes);
  if (change.kind != ChangeKind::insert) append_sized(change.before, into.bytes);
  if (change.kind != ChangeKind::remove) append_sized(change.after, into.bytes);
}

void ChangeList::append_to(std::string& out) const {
  append_varint(used_, out);
  for (std::size_t i = 0; i < used_; ++i) {
    append_varint(spaces_[i].id, out);
    append_varint(spaces_[i].count, out);
    out.append(spaces_[i].bytes);
  }
}

std::uint64_t encode_changes(std::string& out, const ChangeHeader& header,
                             std::uint64_t total_before, const ChangeList& changes) {
  std::string tail;
  append_sized(header.origin, tail);
  append_trace(tail, header.trace);
  changes.append_to(tail);

  out.clear();
  out.push_back(static_cast<char>(change_format));
  append_varint(header.microseconds, out);
  // The total counts its own digits as well.
  const std::uint64_t without = total_before + out.size() + tail.size();
  std::uint64_t total = without + varint_size(without);
  if (varint_size(total) != varint_size(without)) ++total;
  append_varint(total, out);
  out.append(tail);
  return total;
}

}  // namespace weir::storage::internal
