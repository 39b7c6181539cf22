#include <weir/tests/flow/operator/support/oracle_window.hpp>

#include <algorithm>
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
  const bool is_time =
      window.form != WindowForm::tumbling_rows && window.form != WindowForm::rolling_rows;
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

void cut_by_rows(const Window& window, const WindowMembers& members, Rows& out) {
  for (std::size_t row = 0; row < members.size(); ++row) {
    const std::size_t first = row - row % window.rows;
    const std::size_t last = std::min<std::size_t>(first + window.rows, members.size()) - 1;
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

void roll_rows(const Window& window, const WindowMembers& members, Rows& out) {
  for (std::size_t last = 0; last < members.size(); ++last) {
    const std::size_t first = last - std::min<std::size_t>(last, window.rows);
    for (std::size_t row = first; row <= last; ++row)
      give(out, members[row].row, members[first].order, members[last].order);
  }
}

bool has_window(const Window& window, const Value& order) {
  if (window.form == WindowForm::session)
    return data::is_in_range(order.as<Timestamp>() + window.size);
  if (window.form == WindowForm::rolling)
    return data::is_in_range(order.as<Timestamp>() - window.size);
  return true;
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
      case WindowForm::tumbling_rows: cut_by_rows(window, members, out); break;
      case WindowForm::rolling: roll(window, members, out); break;
      case WindowForm::rolling_rows: roll_rows(window, members, out); break;
    }
  }
  return out;
}

}  // namespace weir::flow::operators::test
