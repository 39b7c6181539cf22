#include <weir/flow/operator/internal/window_closing.hpp>

#include <algorithm>

#include <weir/flow/operator/internal/ordered_rows.hpp>
#include <weir/flow/operator/internal/row_bytes.hpp>

namespace weir::flow::operators::internal {
namespace {

constexpr std::string_view held_key = "held";

}  // namespace

Result<std::int64_t> Watermark::read(std::string_view key) {
  auto slot = table_->find(key);
  if (!slot) return std::move(slot).error();
  if (!slot->exists()) return nothing_closed;
  std::string_view bytes = slot->value();
  data::Column time(data::Kind::timestamp);
  if (!data::take_ordered(bytes, time) || !bytes.empty() || time.has_nulls())
    return Error(Errc::corruption, "state: a watermark");
  return time.values<std::int64_t>()[0];
}

Result<std::int64_t> Watermark::current() { return read({}); }

Result<std::int64_t> Watermark::advance(std::int64_t to, const Output& out) {
  auto before = current();
  if (!before) return before;
  auto held = read(held_key);
  if (!held) return held;
  // Beyond these nothing more can close, and they can be written down.
  const std::int64_t until = std::min(std::max(to, *held), time_max);
  const bool moves = until > *before && until >= time_min;
  auto slot = table_->find(out.is_filling() ? held_key : std::string_view());
  if (!slot) return std::move(slot).error();
  if (moves) slot->put(time_bytes(until));
  if (out.is_filling()) return before;
  if (*held != nothing_closed) {
    auto over = table_->find(held_key);
    if (!over) return std::move(over).error();
    over->remove();
  }
  return moves ? until : before;
}

std::int64_t Watermark::after(const data::ChangeBatch& batch,
                              std::span<const std::int64_t> times) const noexcept {
  std::int64_t time = nothing_closed;
  if (!lateness_) return time;
  for (std::size_t row = 0; row < times.size(); ++row)
    if (batch.weights()[row] > 0) time = std::max(time, times[row] - lateness_->count());
  return time;
}

std::int64_t Watermark::at(data::Timestamp now) const noexcept {
  return (now - lateness_.value_or(std::chrono::microseconds(0))).time_since_epoch().count();
}

Result<> WaitingRows::add(const data::ChangeBatch& batch) {
  const std::size_t input_columns = batch.columns().size() - 2;
  const std::span<const data::ColumnRef> columns(batch.columns());
  GroupTable::Group rows = rows_->find({});
  for (std::size_t row = 0; row < batch.size(); ++row) {
    bytes_.clear();
    append_columns(columns.subspan(input_columns + 1), row, bytes_);
    append_columns(columns.first(input_columns + 1).last(1), row, bytes_);
    append_columns(columns.first(input_columns), row, bytes_);
    if (auto added = add_weight(rows, bytes_, batch, row); !added) return added;
  }
  return {};
}

Result<> WaitingRows::close(std::int64_t until, const data::SchemaRef& schema, Output& out) {
  const std::size_t input_columns = schema->size() - 2;
  data::BatchBuilder given(schema);
  std::vector<std::string> closed;
  GroupTable::Group rows = rows_->find({});
  auto cursor = rows.scan();
  for (;;) {
    auto more = cursor.next();
    if (!more) return std::move(more).error();
    if (!*more) break;
    std::string_view item = cursor.item();
    data::Column end(data::Kind::timestamp);
    if (!data::take_ordered(item, end)) return Error(Errc::corruption, "state: a window");
    if (end.values<std::int64_t>()[0] > until) break;
    auto weight = weight_of(cursor.value());
    if (!weight) return std::move(weight).error();
    given.column(input_columns + 1).append_from(end, 0);
    const bool is_row = data::take_ordered(item, given.column(input_columns)) &&
                        take_row(item, input_columns, given) && item.empty();
    if (!is_row) return Error(Errc::corruption, "state: a row of a window");
    given.add_weight(*weight);
    closed.emplace_back(cursor.item());
  }
  for (const std::string& item : closed) rows.remove(item);
  out.emit(given.finish());
  return {};
}

Result<> DueGroups::mark(std::string_view group, std::int64_t time) {
  auto slot = times_->find(group);
  if (!slot) return std::move(slot).error();
  GroupTable::Group due = due_->find({});
  if (slot->exists()) {
    if (slot->value().size() != time_size) return Error(Errc::corruption, "state: a time");
    if (time_of(slot->value()) <= time) return {};
    due.remove(std::string(slot->value()).append(group));
  }
  const std::string bytes = time_bytes(time);
  slot->put(bytes);
  due.put(bytes + std::string(group), {});
  return {};
}

Result<std::vector<std::string>> DueGroups::take(std::int64_t until) {
  std::vector<std::string> groups;
  std::vector<std::string> items;
  GroupTable::Group due = due_->find({});
  auto cursor = due.scan();
  for (;;) {
    auto more = cursor.next();
    if (!more) return std::move(more).error();
    if (!*more) break;
    const std::string_view item = cursor.item();
    if (item.size() < time_size) return Error(Errc::corruption, "state: a group that is due");
    if (time_of(item) > until) break;
    items.emplace_back(item);
    groups.emplace_back(item.substr(time_size));
  }
  for (const std::string& item : items) due.remove(item);
  for (const std::string& group : groups) {
    auto slot = times_->find(group);
    if (!slot) return std::move(slot).error();
    slot->remove();
  }
  return groups;
}

}  // namespace weir::flow::operators::internal
