#include <weir/flow/operator/internal/ordered_rows.hpp>

#include <algorithm>
#include <tuple>

#include <weir/flow/operator/internal/projection.hpp>

namespace weir::flow::operators::internal {

Result<> add_weight(GroupTable::Group& group, std::string_view item, const data::ChangeBatch& batch,
                    std::size_t row) {
  auto value = group.get(item);
  if (!value) return std::move(value).error();
  auto before = weight_of(value->value_or(std::string_view()));
  if (!before) return std::move(before).error();
  const data::Weight after = *before + batch.weights()[row];
  if (after < 0) {
    return Error(Errc::unknown_row,
                 "row " + describe_row(batch, row) + " went more often than it came");
  }
  if (after == 0) {
    group.remove(item);
    return {};
  }
  std::string bytes;
  append_weight(after, bytes);
  group.put(item, bytes);
  return {};
}

std::string complement(std::string_view bytes) {
  std::string complemented(bytes);
  for (char& byte : complemented) byte = static_cast<char>(~byte);
  return complemented;
}

std::int64_t time_of(std::string_view item) noexcept {
  std::uint64_t bits = 0;
  for (std::size_t at = 1; at < time_size; ++at)
    bits = bits << 8 | static_cast<std::uint8_t>(item[at]);
  return static_cast<std::int64_t>(bits ^ std::uint64_t{1} << 63);
}

std::string time_bytes(std::int64_t time) {
  const std::uint64_t bits = static_cast<std::uint64_t>(time) ^ std::uint64_t{1} << 63;
  std::string bytes = "\1";
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(bits >> shift));
  return bytes;
}

bool is_by_time(WindowForm form) noexcept {
  return form == WindowForm::session || form == WindowForm::rolling || form == WindowForm::sliding;
}

TimeRange OrderedRows::range_of(const Window& window) noexcept {
  const auto none = std::chrono::microseconds(0);
  const bool has_before = window.form == WindowForm::rolling || window.form == WindowForm::sliding;
  const bool has_behind = window.form == WindowForm::session || window.form == WindowForm::sliding;
  const auto min = data::timestamp_min + (has_before ? window.size : none);
  const auto max = data::timestamp_max - (has_behind ? window.size : none);
  return {min.time_since_epoch().count(), max.time_since_epoch().count()};
}

Result<OrderedRows> OrderedRows::make(const Window& window, const data::Schema& input,
                                      const Library& library) {
  std::vector<std::size_t> per;
  for (const std::string& column : window.per) {
    auto index = input.index_of(column);
    if (!index) return std::move(index).error();
    per.push_back(*index);
  }
  const bool is_time = is_by_time(window.form) || window.closes();
  auto order = is_time ? WindowOrder::make_time(window.order, range_of(window), input, library)
                       : WindowOrder::make(window.order, input, library);
  if (!order) return std::move(order).error();
  return OrderedRows(*std::move(order), std::move(per), input.size());
}

Result<OrderedRows::Changes> OrderedRows::changes(const data::ChangeBatch& batch,
                                                  Output& out) const {
  auto ordered = order_.compute(batch.consolidated(), out);
  if (!ordered) return std::move(ordered).error();
  Changes changes{ordered->batch, {}};
  const data::Columns& columns = changes.batch.columns();
  for (std::size_t row = 0; row < changes.batch.size(); ++row) {
    Change change{.group = {}, .item = {}, .row = row};
    append_columns(columns, per_, row, change.group);
    data::append_ordered(*ordered->order, row, change.item);
    append_columns(columns, row, change.item);
    changes.rows.push_back(std::move(change));
  }
  std::ranges::sort(changes.rows, {}, [](const Change& change) {
    return std::tuple<const std::string&, const std::string&>(change.group, change.item);
  });
  return changes;
}

std::span<const OrderedRows::Change> take_group(
    std::span<const OrderedRows::Change>& all) noexcept {
  std::size_t count = 1;
  while (count < all.size() && all[count].group == all[0].group) ++count;
  const auto group = all.first(count);
  all = all.subspan(count);
  return group;
}

Result<data::Weight> OrderedRows::weight_after(data::Weight before, const data::ChangeBatch& batch,
                                               std::size_t row) {
  const data::Weight after = before + batch.weights()[row];
  if (after >= 0) return after;
  return Error(Errc::unknown_row,
               "row " + describe_row(batch, row) + " went more often than it came");
}

void OrderedRows::write(std::string_view group, const std::vector<Entry>& entries) {
  GroupTable::Group rows = find(group);
  std::string value;
  for (const auto& [item, before, after] : entries) {
    if (before == after) continue;
    if (after == 0) {
      rows.remove(item);
      continue;
    }
    value.clear();
    append_weight(after, value);
    rows.put(item, value);
  }
}

Result<OrderedRows::Front> OrderedRows::front(std::string_view group, std::int64_t until) {
  Front front;
  GroupTable::Group rows = find(group);
  auto cursor = rows.scan();
  for (;;) {
    auto more = cursor.next();
    if (!more) return std::move(more).error();
    if (!*more) return front;
    const std::int64_t time = time_of(cursor.item());
    if (time > until) {
      front.next = time;
      return front;
    }
    auto weight = weight_of(cursor.value());
    if (!weight) return std::move(weight).error();
    front.rows.push_back({std::string(cursor.item()), *weight, *weight});
    front.count += *weight;
  }
}

void OrderedRows::take(std::vector<Entry>& rows, data::Weight count) noexcept {
  for (Entry& row : rows) {
    row.after -= std::min(row.before, count);
    count -= row.before - row.after;
  }
}

std::string_view OrderedRows::order_of(std::string_view item) const noexcept {
  if (order_.type() == data::Kind::timestamp) return item.substr(0, time_size);
  std::string_view rest = item;
  data::Column order(order_.type());
  (void)data::take_ordered(rest, order);
  return item.substr(0, item.size() - rest.size());
}

Result<> OrderedRows::give(std::string_view item, std::string_view start, std::string_view end,
                           data::Weight weight, data::BatchBuilder& out) const {
  item.remove_prefix(order_of(item).size());
  const bool is_row = take_row(item, columns_, out) && item.empty() &&
                      data::take_ordered(start, out.column(columns_)) &&
                      data::take_ordered(end, out.column(columns_ + 1));
  if (!is_row) return Error(Errc::corruption, "state: a row of a window");
  out.add_weight(weight);
  return {};
}

Result<> OrderedRows::give(const std::vector<Entry>& entries, std::vector<Part>& parts,
                           data::BatchBuilder& out) const {
  std::ranges::sort(parts, [](const Part& a, const Part& b) { return a.place() < b.place(); });
  for (std::size_t begin = 0; begin < parts.size();) {
    const Part& part = parts[begin];
    data::Weight weight = 0;
    std::size_t end = begin;
    for (; end < parts.size() && parts[end].place() == part.place(); ++end)
      weight += parts[end].weight;
    begin = end;
    if (weight == 0) continue;
    auto done = give(entries[part.row].item, order_of(entries[part.first].item),
                     order_of(entries[part.last].item), weight, out);
    if (!done) return done;
  }
  return {};
}

}  // namespace weir::flow::operators::internal
