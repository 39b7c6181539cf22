#include <weir/flow/operator/internal/projection.hpp>

#include <algorithm>
#include <numeric>

namespace weir::flow::operators::internal {
namespace {

Error row_error(std::string_view what, const data::ChangeBatch& batch,
                const data::RowError& error) {
  return Error(Errc::row_error, std::string(what) + ": " + make_error_code(error.code).message() +
                                    " in row " + describe_row(batch, error.row));
}

/// Computed from one column, so that what is known of that is known of it.
bool is_nullable(const data::Expression& expression, const data::Schema& schema) {
  const auto name = expression.column_name();
  const auto column = name ? schema.find(*name) : std::nullopt;
  return !column || schema[*column].is_nullable;
}

}  // namespace

std::string describe_row(const data::ChangeBatch& batch, std::size_t row) {
  std::string text = "(";
  for (const data::Value& value : batch.row(row)) {
    if (text.size() > 1) text += ", ";
    text += to_string(value);
  }
  return text + ")";
}

Result<Projection> Projection::make(std::span<const NamedExpression> expressions,
                                    const data::Schema& schema, const Library& library) {
  Projection projection;
  for (const auto& [name, value] : expressions) {
    auto compiled = data::CompiledExpression::compile(value, schema, *library.functions);
    if (!compiled) {
      return Error(compiled.error().code(), "column '" + name + "': " + compiled.error().detail());
    }
    projection.fields_.push_back(
        {.name = name, .type = compiled->type(), .is_nullable = is_nullable(value, schema)});
    projection.expressions_.push_back(*std::move(compiled));
  }
  return projection;
}

Result<Projection::Computed> Projection::compute(const data::ChangeBatch& batch,
                                                 Output& out) const {
  Computed computed{batch, {}};
  std::vector<std::uint32_t> bad;
  std::optional<Error> example;
  for (std::size_t index = 0; index < expressions_.size(); ++index) {
    auto [column, errors] = expressions_[index].evaluate(batch);
    computed.columns.push_back(std::move(column));
    if (errors.empty()) continue;
    if (out.row_error_policy() == RowErrorPolicy::fail) {
      return row_error("column '" + fields_[index].name + "'", batch, errors.front());
    }
    if (!example && !out.row_error())
      example = row_error("column '" + fields_[index].name + "'", batch, errors.front());
    for (const data::RowError& error : errors) bad.push_back(error.row);
  }
  if (bad.empty()) return computed;

  std::ranges::sort(bad);
  const auto repeated = std::ranges::unique(bad);
  bad.erase(repeated.begin(), repeated.end());
  out.add_row_errors(bad.size(), [&] { return std::move(example); });
  if (out.row_error_policy() == RowErrorPolicy::null) return computed;

  std::vector<std::uint32_t> all(batch.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::uint32_t> good;
  std::ranges::set_difference(all, bad, std::back_inserter(good));
  computed.batch = batch.take(good);
  for (data::ColumnRef& column : computed.columns)
    column = std::make_shared<data::Column>(column->take(good));
  return computed;
}

Result<Projection> make_projection(const data::Expression& expression, const data::Schema& schema,
                                   const Library& library) {
  const NamedExpression named{to_string(expression), expression};
  return Projection::make({&named, 1}, schema, library);
}

Result<Condition> Condition::make(const data::Expression& condition, const data::Schema& schema,
                                  const Library& library) {
  auto compiled = data::CompiledExpression::compile(condition, schema, *library.functions);
  if (!compiled) return std::move(compiled).error();
  std::string text = to_string(condition);
  if (compiled->type() != data::Kind::boolean) {
    return Error(data::Errc::type_mismatch,
                 text + " is a condition, so it must be bool, not " + to_string(compiled->type()));
  }
  return Condition(*std::move(compiled), std::move(text));
}

Result<data::Values<std::uint32_t>> Condition::select(const data::ChangeBatch& batch,
                                                      Output& out) const {
  const auto evaluation = expression_.evaluate(batch);
  if (!evaluation.errors.empty()) {
    if (out.row_error_policy() == RowErrorPolicy::fail)
      return row_error(text_, batch, evaluation.errors.front());
    out.add_row_errors(evaluation.errors.size(),
                       [&] { return row_error(text_, batch, evaluation.errors.front()); });
  }
  data::Values<std::uint32_t> rows;
  select_true(evaluation, rows);
  return rows;
}

}  // namespace weir::flow::operators::internal
