#include <weir/flow/operator/append.hpp>

namespace weir::flow::operators {
namespace {

class AppendOperator final : public Operator {
 public:
  using Operator::Operator;

  Result<> apply(const Input& input, Output& out) override {
    out.emit(input.batch.with_columns(schema(), input.batch.columns()));
    return {};
  }
};

Result<> add_input(std::vector<data::Field>& fields, const data::Schema& schema) {
  if (schema.size() != fields.size()) {
    return Error(Errc::wrong_schema, "an input has " + std::to_string(schema.size()) +
                                         " columns, the first one has " +
                                         std::to_string(fields.size()));
  }
  for (std::size_t index = 0; index < fields.size(); ++index) {
    if (schema[index].type != fields[index].type) {
      return Error(data::Errc::type_mismatch, "column '" + schema[index].name + "' is " +
                                                  to_string(schema[index].type) + ", but '" +
                                                  fields[index].name + "' of the first input is " +
                                                  to_string(fields[index].type));
    }
    fields[index].is_nullable |= schema[index].is_nullable;
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Operator>> Append::make(std::span<const data::SchemaRef> inputs,
                                               const Library& /*library*/) const {
  std::vector<data::Field> fields = inputs[0]->fields();
  for (const data::SchemaRef& input : inputs.subspan(1))
    if (auto added = add_input(fields, *input); !added) return std::move(added).error();
  auto schema = data::Schema::make(std::move(fields));
  if (!schema) return std::move(schema).error();
  return std::make_unique<AppendOperator>(std::make_shared<const data::Schema>(*std::move(schema)));
}

}  // namespace weir::flow::operators
