#include <weir/flow/operator/map.hpp>

#include <algorithm>

#include <weir/flow/operator/internal/projection.hpp>

namespace weir::flow::operators {
namespace {

class MapOperator final : public Operator {
 public:
  MapOperator(data::SchemaRef schema, internal::Projection projection)
      : Operator(std::move(schema)), projection_(std::move(projection)) {}

  Result<> apply(const Input& input, Output& out) override {
    auto computed = projection_.compute(input.batch, out);
    if (!computed) return std::move(computed).error();
    out.emit(computed->batch.with_columns(schema(), std::move(computed->columns)));
    return {};
  }

 private:
  internal::Projection projection_;
};

/// The names that the columns of the primary key have afterwards; none if one of them is gone.
std::vector<std::string> key_after(const data::Schema& schema,
                                   std::span<const NamedExpression> columns) {
  std::vector<std::string> key;
  for (const std::size_t index : schema.primary_key()) {
    const auto same = std::ranges::find_if(columns, [&](const NamedExpression& column) {
      return column.value.column_name() == schema[index].name;
    });
    if (same == columns.end()) return {};
    key.push_back(same->name);
  }
  return key;
}

}  // namespace

Result<std::unique_ptr<Operator>> Map::make(std::span<const data::SchemaRef> inputs,
                                            const Library& library) const {
  if (columns.empty()) return Error(Errc::invalid_argument, "a map must have a column");
  auto projection = internal::Projection::make(columns, *inputs[0], library);
  if (!projection) return std::move(projection).error();
  auto schema = data::Schema::make(projection->fields(), key_after(*inputs[0], columns));
  if (!schema) return std::move(schema).error();
  return std::make_unique<MapOperator>(std::make_shared<const data::Schema>(*std::move(schema)),
                                       *std::move(projection));
}

}  // namespace weir::flow::operators
