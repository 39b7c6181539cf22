#include <weir/tests/flow/operator/support/oracle_ordered.hpp>

#include <algorithm>

namespace weir::flow::operators::test {
namespace {

struct Sorted {
  Row order;
  Row row;
};

/// Each row as often as it is there, in order, by group.
std::map<Row, std::vector<Row>> sorted_groups(const OrderOptions& options, const Rows& rows,
                                              const data::SchemaRef& schema) {
  std::map<Row, std::vector<Sorted>> groups;
  for (const auto& [row, weight] : rows) {
    Row group;
    for (const std::string& name : options.per)
      group.push_back(row[schema->index_of(name).value()]);
    Row order;
    for (const Order& part : options.order) order.push_back(evaluate(part.value, schema, row));
    for (data::Weight copy = 0; copy < weight; ++copy) groups[group].push_back({order, row});
  }
  std::map<Row, std::vector<Row>> result;
  for (auto& [group, members] : groups) {
    std::ranges::sort(members, [&](const Sorted& a, const Sorted& b) {
      for (std::size_t part = 0; part < options.order.size(); ++part) {
        if (a.order[part] == b.order[part]) continue;
        return options.order[part].is_descending ? b.order[part] < a.order[part]
                                                 : a.order[part] < b.order[part];
      }
      return a.row < b.row;
    });
    for (const Sorted& member : members) result[group].push_back(member.row);
  }
  return result;
}

}  // namespace

Rows evaluate(const Top& spec, const Rows& rows, const data::SchemaRef& schema) {
  Rows result;
  for (const auto& [group, members] : sorted_groups(spec.options, rows, schema)) {
    for (std::size_t place = 0; place < members.size() && place < spec.count; ++place)
      add(result, members[place], 1);
  }
  return result;
}

Rows evaluate(const RowNumber& spec, const Rows& rows, const data::SchemaRef& schema) {
  Rows result;
  for (const auto& [group, members] : sorted_groups(spec.options, rows, schema)) {
    for (std::size_t place = 0; place < members.size(); ++place) {
      Row row = members[place];
      row.push_back(static_cast<std::int64_t>(place + 1));
      add(result, row, 1);
    }
  }
  return result;
}

}  // namespace weir::flow::operators::test
