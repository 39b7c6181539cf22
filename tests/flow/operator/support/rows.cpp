#include <weir/tests/flow/operator/support/rows.hpp>

#include <memory>
#include <stdexcept>

#include <weir/flow/data/compiled_expression.hpp>

namespace weir::flow::operators::test {

data::SchemaRef make_schema(std::vector<data::Field> fields,
                            const std::vector<std::string>& primary_key) {
  return std::make_shared<const data::Schema>(
      data::Schema::make(std::move(fields), primary_key).value());
}

data::ChangeBatch make_batch(const data::SchemaRef& schema,
                             const std::vector<std::pair<Row, data::Weight>>& rows) {
  data::BatchBuilder builder(schema);
  for (const auto& [row, weight] : rows) builder.add(row, weight).value();
  return builder.finish();
}

data::ChangeBatch make_batch(const data::SchemaRef& schema, const Rows& rows) {
  return make_batch(schema, std::vector<std::pair<Row, data::Weight>>(rows.begin(), rows.end()));
}

void add(Rows& rows, const Row& row, data::Weight weight) {
  const auto at = rows.try_emplace(row, 0).first;
  if ((at->second += weight) == 0) rows.erase(at);
}

void add(Rows& rows, const data::ChangeBatch& batch) {
  for (std::size_t row = 0; row < batch.size(); ++row)
    add(rows, batch.row(row), batch.weights()[row]);
}

std::optional<data::Value> try_evaluate(const data::Expression& expression,
                                        const data::SchemaRef& schema, const Row& row) {
  const auto compiled = data::CompiledExpression::compile(expression, *schema).value();
  const auto evaluation = compiled.evaluate(make_batch(schema, Rows{{row, 1}}));
  if (!evaluation.errors.empty()) return std::nullopt;
  return evaluation.column->value(0);
}

data::Value evaluate(const data::Expression& expression, const data::SchemaRef& schema,
                     const Row& row) {
  auto value = try_evaluate(expression, schema, row);
  if (!value) throw std::runtime_error(to_string(expression) + " cannot be computed");
  return *std::move(value);
}

bool is_true(const data::Expression& condition, const data::SchemaRef& schema, const Row& row) {
  const data::Value value = evaluate(condition, schema, row);
  return !value.is_null() && value.as<bool>();
}

std::string to_string(const Rows& rows) {
  std::string text;
  for (const auto& [row, weight] : rows) {
    text += std::to_string(weight) + " (";
    for (std::size_t index = 0; index < row.size(); ++index)
      text += (index == 0 ? "" : ", ") + data::to_string(row[index]);
    text += ")\n";
  }
  return text;
}

}  // namespace weir::flow::operators::test
