#include <weir/flow/operator/extend.hpp>

#include <weir/flow/operator/internal/projection.hpp>

namespace weir::flow::operators {
namespace {

class ExtendOperator final : public Operator {
 public:
  ExtendOperator(data::SchemaRef schema, internal::Projection projection)
      : Operator(std::move(schema)), projection_(std::move(projection)) {}

  Result<> apply(const Input& input, Output& out) override {
    auto computed = projection_.compute(input.batch, out);
    if (!computed) return std::move(computed).error();
    data::Columns columns = computed->batch.columns();
    columns.insert(columns.end(), computed->columns.begin(), computed->columns.end());
    out.emit(computed->batch.with_columns(schema(), std::move(columns)));
    return {};
  }

 private:
  internal::Projection projection_;
};

}  // namespace

Result<std::unique_ptr<Operator>> Extend::make(std::span<const data::SchemaRef> inputs,
                                               const Library& library) const {
  auto projection = internal::Projection::make(columns, *inputs[0], library);
  if (!projection) return std::move(projection).error();
  std::vector<data::Field> fields = inputs[0]->fields();
  fields.insert(fields.end(), projection->fields().begin(), projection->fields().end());
  std::vector<std::string> key;
  for (const std::size_t index : inputs[0]->primary_key()) key.push_back((*inputs[0])[index].name);
  auto schema = data::Schema::make(std::move(fields), key);
  if (!schema) return std::move(schema).error();
  return std::make_unique<ExtendOperator>(std::make_shared<const data::Schema>(*std::move(schema)),
                                          *std::move(projection));
}

}  // namespace weir::flow::operators
