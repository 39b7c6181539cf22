#include <weir/tests/flow/operator/support/oracle_join.hpp>

#include <set>

namespace weir::flow::operators::test {
namespace {

Row joined(const Row& left, const Row& right) {
  Row row = left;
  row.insert(row.end(), right.begin(), right.end());
  return row;
}

/// The key of each row, in the order of the rows; empty if a part is null.
std::vector<Row> keys_of(const Rows& rows, const data::SchemaRef& schema,
                         const std::vector<data::Expression>& parts) {
  std::vector<Row> keys;
  for (const auto& entry : rows) {
    Row key;
    for (const data::Expression& part : parts) key.push_back(evaluate(part, schema, entry.first));
    for (const data::Value& value : Row(key))
      if (value.is_null()) key.clear();
    keys.push_back(key);
  }
  return keys;
}

data::SchemaRef schema_of_pairs(const JoinOptions& options, const data::SchemaRef& left,
                                const data::SchemaRef& right) {
  std::vector<data::Field> fields;
  for (const data::Field& field : left->fields())
    fields.push_back({options.left_prefix + field.name, field.type});
  for (const data::Field& field : right->fields())
    fields.push_back({options.right_prefix + field.name, field.type});
  return make_schema(fields);
}

}  // namespace

Rows evaluate(const Join& spec, const Rows& left, const data::SchemaRef& left_schema,
              const Rows& right, const data::SchemaRef& right_schema) {
  const JoinOptions& options = spec.options;
  std::vector<data::Expression> left_parts;
  std::vector<data::Expression> right_parts;
  for (const JoinKey& key : options.on) {
    left_parts.push_back(key.left.value);
    right_parts.push_back(key.right.value);
  }
  const std::vector<Row> left_keys = keys_of(left, left_schema, left_parts);
  const std::vector<Row> right_keys = keys_of(right, right_schema, right_parts);
  const data::SchemaRef pairs =
      options.condition ? schema_of_pairs(options, left_schema, right_schema) : nullptr;

  Rows result;
  std::set<Row> matched_left;
  std::set<Row> matched_right;
  const bool gives_pairs = options.kind != JoinKind::semi && options.kind != JoinKind::anti;
  auto left_key = left_keys.begin();
  for (const auto& [left_row, left_weight] : left) {
    const Row& key = *left_key++;
    auto right_key = right_keys.begin();
    for (const auto& [right_row, right_weight] : right) {
      if (key != *right_key++ || key.empty()) continue;
      const Row pair = joined(left_row, right_row);
      if (options.condition && !is_true(*options.condition, pairs, pair)) continue;
      matched_left.insert(left_row);
      matched_right.insert(right_row);
      if (gives_pairs) add(result, pair, left_weight * right_weight);
    }
  }
  for (const auto& [row, weight] : left) {
    const bool is_matched = matched_left.contains(row);
    if (options.kind == JoinKind::semi && is_matched) add(result, row, weight);
    if (options.kind == JoinKind::anti && !is_matched) add(result, row, weight);
    if ((options.kind == JoinKind::left || options.kind == JoinKind::full) && !is_matched)
      add(result, joined(row, Row(right_schema->size())), weight);
  }
  for (const auto& [row, weight] : right) {
    if ((options.kind == JoinKind::right || options.kind == JoinKind::full) &&
        !matched_right.contains(row))
      add(result, joined(Row(left_schema->size()), row), weight);
  }
  return result;
}

}  // namespace weir::flow::operators::test
