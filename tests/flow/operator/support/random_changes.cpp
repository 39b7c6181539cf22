#include <weir/tests/flow/operator/support/random_changes.hpp>

#include <iterator>

namespace weir::flow::operators::test {

RandomChanges::RandomChanges(data::test::RandomData& random, data::SchemaRef schema,
                             std::size_t values_max)
    : random_(random), schema_(std::move(schema)) {
  for (const data::Field& field : schema_->fields()) {
    auto& values = values_.emplace_back();
    for (std::size_t i = 1 + random_.below(values_max); i > 0; --i)
      values.push_back(random_.value(field.type, field.is_nullable));
  }
}

void RandomChanges::share_values(const RandomChanges& other, std::size_t column) {
  auto& values = values_[column];
  const bool may_be_null = (*schema_)[column].is_nullable;
  for (const data::Value& value : other.values_[column])
    if (may_be_null || !value.is_null()) values.push_back(value);
}

Row RandomChanges::new_row() {
  Row row;
  for (const auto& values : values_) row.push_back(values[random_.below(values.size())]);
  return row;
}

Row RandomChanges::some_row() {
  const auto steps = static_cast<std::ptrdiff_t>(random_.below(rows_.size()));
  return std::next(rows_.begin(), steps)->first;
}

data::ChangeBatch RandomChanges::next(std::size_t changes_max) {
  std::vector<std::pair<Row, data::Weight>> changes;
  const auto change = [&](Row row, data::Weight weight) {
    add(rows_, row, weight);
    changes.emplace_back(std::move(row), weight);
  };
  for (std::size_t i = random_.below(changes_max + 1); i > 0; --i) {
    if (!rows_.empty() && random_.one_in(2)) {
      const Row row = some_row();
      change(row, random_.one_in(3) ? -rows_.at(row) : -1);
      if (random_.one_in(2)) change(new_row(), 1);
    } else {
      change(new_row(), 1 + static_cast<data::Weight>(random_.below(2)));
    }
  }
  return make_batch(schema_, changes);
}

}  // namespace weir::flow::operators::test
