#include <weir/flow/operator/row_number.hpp>

#include <limits>

#include <weir/flow/operator/internal/ordered_operator.hpp>

namespace weir::flow::operators {

Result<std::unique_ptr<Operator>> RowNumber::make(std::span<const data::SchemaRef> inputs,
                                                  const Library& library) const {
  auto order = internal::check_order(options, *inputs[0], library);
  if (!order) return std::move(order).error();
  std::vector<data::Field> fields = inputs[0]->fields();
  fields.push_back({column, data::Kind::int64, false});
  std::vector<std::string> key;
  for (const std::size_t index : inputs[0]->primary_key()) key.push_back((*inputs[0])[index].name);
  auto schema = data::Schema::make(std::move(fields), key);
  if (!schema) return std::move(schema).error();
  return std::make_unique<internal::OrderedOperator>(
      *std::move(order), internal::OrderedOperator::What{
                             .input = inputs[0],
                             .schema = std::make_shared<const data::Schema>(*std::move(schema)),
                             .rows_max = std::numeric_limits<data::Weight>::max(),
                             .is_numbered = true});
}

}  // namespace weir::flow::operators
