#include <weir/tests/flow/operator/support/oracle_history.hpp>

#include <algorithm>

namespace weir::flow::operators::test {
namespace {

/// All columns if there is no primary key.
Row primary_key(const Row& row, const data::Schema& schema) {
  if (schema.primary_key().empty()) return row;
  Row key;
  for (const std::size_t index : schema.primary_key()) key.push_back(row[index]);
  return key;
}

}  // namespace

Rows LatchHistory::next(const Gate& gate, const Rows& input, const data::SchemaRef& schema) {
  std::map<Row, Row> after;
  for (const auto& [row, weight] : input) after.emplace(primary_key(row, *schema), row);
  Rows passing;
  for (const auto& [key, row] : after) {
    const auto was = before_.find(key);
    const bool is_as_it_was = was != before_.end() && was->second == row;
    const auto value = try_evaluate(gate.condition, schema, row);
    if (!is_as_it_was && value && *value == data::Value(true)) open_.insert(key);
    if (open_.contains(key)) add(passing, row, 1);
  }
  std::erase_if(open_, [&](const Row& key) { return !after.contains(key); });
  before_ = std::move(after);
  return passing;
}

const std::list<ArrivalHistory::Numbered>& ArrivalHistory::next(const Rows& input,
                                                                const data::Schema& schema) {
  std::map<Row, std::pair<Row, data::Weight>> came;
  for (const auto& [row, weight] : input) {
    const auto was = before_.find(row);
    const data::Weight more = weight - (was == before_.end() ? 0 : was->second);
    if (more > 0) came.emplace(primary_key(row, schema), std::pair(row, more));
  }
  for (const auto& [row, weight] : before_) {
    const auto is = input.find(row);
    const data::Weight less = weight - (is == input.end() ? 0 : is->second);
    if (less <= 0) continue;
    const auto becomes = came.find(primary_key(row, schema));
    if (becomes != came.end()) {  // another row with its primary key
      for (Numbered& numbered : rows_)
        if (numbered.row == row) numbered.row = becomes->second.first;
      came.erase(becomes);
    } else {
      for (data::Weight times = 0; times < less; ++times) remove(row);
    }
  }
  for (const auto& [key, row] : came)
    for (data::Weight times = 0; times < row.second; ++times)
      rows_.push_back({++given_, row.first});
  while (capacity_ && rows_.size() > *capacity_) rows_.pop_front();
  before_ = input;
  return rows_;
}

void ArrivalHistory::remove(const Row& row) {
  const auto at = std::ranges::find(rows_.rbegin(), rows_.rend(), row, &Numbered::row);
  if (at != rows_.rend()) rows_.erase(std::next(at).base());
}

}  // namespace weir::flow::operators::test
