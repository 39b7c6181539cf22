#include <weir/tests/flow/operator/support/random_table.hpp>

namespace weir::flow::operators::test {

RandomTable RandomTable::make(std::string name, char letter, std::size_t columns_max,
                              data::test::RandomData& random) {
  std::vector<data::Field> fields{{"id", data::Kind::int64, false}};
  const std::size_t columns = random.below(columns_max + 1);
  for (std::size_t index = 0; index < columns; ++index)
    fields.push_back({letter + std::to_string(index), random.type(), !random.one_in(3)});
  return RandomTable(std::move(name), make_schema(std::move(fields), {"id"}));
}

Rows RandomTable::rows() const {
  Rows rows;
  for (const auto& [id, row] : by_id_) rows.emplace(row, 1);
  return rows;
}

Row RandomTable::random_row(const data::Value& id, data::test::RandomData& random) const {
  Row row = random.row(*schema_);
  row[0] = id;
  return row;
}

data::ChangeBatch RandomTable::change(std::size_t changes_max, data::test::RandomData& random) {
  std::vector<std::pair<Row, data::Weight>> changes;
  for (std::uint64_t count = random.below(changes_max) + 1; count > 0; --count) {
    const data::Value id(static_cast<std::int64_t>(random.below(30)));
    const auto at = by_id_.find(id);
    if (at == by_id_.end()) {
      changes.emplace_back(by_id_[id] = random_row(id, random), 1);
    } else if (random.one_in(3)) {
      changes.emplace_back(at->second, -1);
      by_id_.erase(at);
    } else {
      changes.emplace_back(at->second, -1);
      changes.emplace_back(at->second = random_row(id, random), 1);
    }
  }
  return make_batch(schema_, changes);
}

}  // namespace weir::flow::operators::test
