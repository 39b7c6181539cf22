#include <weir/tests/flow/operator/support/oracle_window.hpp>

#include <algorithm>
#include <optional>
#include <set>

namespace weir::flow::operators::test {
namespace {

using data::Timestamp;
using data::Value;
using std::chrono::microseconds;

/// One row, once: a group has as many of them as the row's weight.
struct WindowMember {
  Value order;
  Row row;
  friend auto operator<=>(const WindowMember&, const WindowMember&) = default;
};
using WindowMembers = std::vector<WindowMember>;

void give(Rows& out, const Row& row, const Value& start, const Value& end,
          data::Weight weight = 1) {
  Row longer = row;
  longer.push_back(start);
  longer.push_back(end);
  add(out, longer, weight);
}

Timestamp time(const WindowMember& member) { return member.order.as<Timestamp>(); }

/// Null where the row is in no window.
Value order_of(const Window& window, const data::SchemaRef& schema, const Row& row) {
  const auto value = try_evaluate(window.order, schema, row);
  if (!value || value->is_null()) return {};
  const bool is_by_rows = window.form == WindowForm::tumbling_rows ||
                          window.form == WindowForm::hopping_rows ||
                          window.form == WindowForm::rolling_rows;
  const bool is_time = !is_by_rows || window.closes();
  if (!is_time || value->type() == data::Kind::timestamp) return *value;
  return Timestamp(value->as<data::Date>());
}

void hop(const Window& window, const WindowMember& member, data::Weight weight, Rows& out) {
  const std::int64_t at = time(member).time_since_epoch().count();
  const std::int64_t about = (at - window.offset.count()) / window.hop.count();
  const std::int64_t reach = window.size / window.hop + 2;
  std::vector<Timestamp> starts;
  for (std::int64_t number = about - reach; number <= about + reach; ++number) {
    const std::int64_t start = window.offset.count() + number * window.hop.count();
    if (start > at || at >= start + window.size.count()) continue;
    starts.emplace_back(microseconds(start));
    if (!data::is_in_range(starts.back()) || !data::is_in_range(starts.back() + window.size))
      return;
  }
  for (const Timestamp start : starts) give(out, member.row, start, start + window.size, weight);
}

void cut_at_gaps(const Window& window, const WindowMembers& members, Rows& out) {
  for (std::size_t first = 0; first < members.size();) {
    std::size_t end = first + 1;
    while (end < members.size() && time(members[end]) - time(members[end - 1]) < window.size) ++end;
    for (std::size_t row = first; row < end; ++row)
      give(out, members[row].row, members[first].order, time(members[end - 1]) + window.size);
    first = end;
  }
}

/// Those that are not full come only when they are given at once.
void hop_by_rows(const Window& window, std::uint64_t hop, const WindowMembers& members, Rows& out) {
  for (std::size_t first = 0; first < members.size(); first += hop) {
    const bool is_full = window.rows <= members.size() - first;
    if (!is_full && window.emit == WindowEmit::on_close) return;
    const std::size_t last = is_full ? first + window.rows - 1 : members.size() - 1;
    for (std::size_t row = first; row <= last; ++row)
      give(out, members[row].row, members[first].order, members[last].order);
  }
}

void roll(const Window& window, const WindowMembers& members, Rows& out) {
  std::set<Timestamp> ends;
  for (const WindowMember& member : members) ends.insert(time(member));
  for (const Timestamp end : ends)
    for (const WindowMember& member : members)
      if (time(member) >= end - window.size && time(member) <= end)
        give(out, member.row, end - window.size, end);
}

void slide(const Window& window, const WindowMembers& members, Rows& out) {
  std::set<Timestamp> ends;
  for (const WindowMember& member : members)
    ends.insert({time(member), time(member) + window.size});
  for (const Timestamp end : ends)
    for (const WindowMember& member : members)
      if (time(member) > end - window.size && time(member) <= end)
        give(out, member.row, end - window.size, end);
}

void roll_rows(const Window& window, const WindowMembers& members, Rows& out) {
  for (std::size_t last = 0; last < members.size(); ++last) {
    const std::size_t first = last - std::min<std::size_t>(last, window.rows);
    for (std::size_t row = first; row <= last; ++row)
      give(out, members[row].row, members[first].order, members[last].order);
  }
}

bool has_window(const Window& window, const Value& order) {
  const bool has_before = window.form == WindowForm::rolling || window.form == WindowForm::sliding;
  const bool has_behind = window.form == WindowForm::session || window.form == WindowForm::sliding;
  return (!has_before || data::is_in_range(order.as<Timestamp>() - window.size)) &&
         (!has_behind || data::is_in_range(order.as<Timestamp>() + window.size));
}

}  // namespace

Rows evaluate(const Window& window, const Rows& rows, const data::SchemaRef& schema) {
  Rows out;
  std::map<Row, WindowMembers> groups;
  for (const auto& [row, weight] : rows) {
    const Value order = order_of(window, schema, row);
    if (order.is_null() || !has_window(window, order)) continue;
    if (window.form == WindowForm::hopping) {
      hop(window, {order, row}, weight, out);
      continue;
    }
    Row group;
    for (const std::string& column : window.per) group.push_back(row[schema->find(column).value()]);
    WindowMembers& members = groups[group];
    members.insert(members.end(), static_cast<std::size_t>(weight), {order, row});
  }
  for (auto& [group, members] : groups) {
    std::ranges::sort(members);
    switch (window.form) {
      case WindowForm::hopping: break;
      case WindowForm::session: cut_at_gaps(window, members, out); break;
      case WindowForm::tumbling_rows: hop_by_rows(window, window.rows, members, out); break;
      case WindowForm::hopping_rows: hop_by_rows(window, window.hop_rows, members, out); break;
      case WindowForm::rolling: roll(window, members, out); break;
      case WindowForm::sliding: slide(window, members, out); break;
      case WindowForm::rolling_rows: roll_rows(window, members, out); break;
    }
  }
  return out;
}

void ClosingHistory::apply(const Rows& changes) {
  std::optional<Timestamp> greatest;
  for (const auto& [row, weight] : changes) {
    const Value order = order_of(window_, schema_, row);
    if (order.is_null() || !has_window(window_, order)) continue;
    const bool is_hopping = window_.form == WindowForm::hopping;
    const Rows panes = is_hopping ? evaluate(window_, Rows{{row, 1}}, schema_) : Rows{{row, 1}};
    if (panes.empty()) continue;
    std::size_t in_time = 0;
    for (const auto& [pane, unused] : panes) {
      if (is_hopping ? is_over(pane.back()) : is_late(order)) continue;
      add(open_, pane, weight);
      ++in_time;
    }
    late_rows_ += in_time == 0 ? 1 : 0;
    if (weight > 0)
      greatest = std::max(greatest.value_or(data::timestamp_min), order.as<Timestamp>());
  }
  if (greatest && window_.lateness) advance(*greatest - *window_.lateness);
  close();
}

void ClosingHistory::advance(Timestamp to) {
  watermark_ = std::max(watermark_, to);
  close();
}

/// Sessions that are over go: rows that come later are in others.
void ClosingHistory::close() {
  if (window_.form != WindowForm::session) return;
  for (const auto& [pane, weight] : evaluate(window_, open_, schema_)) {
    if (!is_over(pane.back())) continue;
    add(closed_, pane, weight);
    add(open_, Row(pane.begin(), pane.end() - 2), -weight);
  }
}

Rows ClosingHistory::rows() const {
  Rows rows = window_.form == WindowForm::hopping ? open_ : evaluate(window_, open_, schema_);
  if (window_.emit == WindowEmit::on_close)
    std::erase_if(rows, [this](const auto& row) { return !is_over(row.first.back()); });
  for (const auto& [row, weight] : closed_) add(rows, row, weight);
  return rows;
}

bool ClosingHistory::is_over(const Value& end) const {
  const bool has_end = window_.form != WindowForm::hopping && window_.form != WindowForm::session;
  return has_end ? end.as<Timestamp>() < watermark_ : end.as<Timestamp>() <= watermark_;
}

bool ClosingHistory::is_late(const Value& order) const {
  const bool is_session = window_.form == WindowForm::session;
  return is_over(is_session ? Value(order.as<Timestamp>() + window_.size) : order);
}

}  // namespace weir::flow::operators::test
