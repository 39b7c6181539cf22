#include <weir/flow/operator/filter.hpp>

#include <weir/flow/operator/internal/projection.hpp>

namespace weir::flow::operators {
namespace {

class FilterOperator final : public Operator {
 public:
  FilterOperator(data::SchemaRef schema, internal::Condition condition)
      : Operator(std::move(schema)), condition_(std::move(condition)) {}

  Result<> apply(const Input& input, Output& out) override {
    auto rows = condition_.select(input.batch, out);
    if (!rows) return std::move(rows).error();
    out.emit(rows->size() == input.batch.size() ? input.batch : input.batch.take(*rows));
    return {};
  }

 private:
  internal::Condition condition_;
};

}  // namespace

Result<std::unique_ptr<Operator>> Filter::make(std::span<const data::SchemaRef> inputs,
                                               const Library& library) const {
  auto compiled = internal::Condition::make(condition, *inputs[0], library);
  if (!compiled) return std::move(compiled).error();
  return std::make_unique<FilterOperator>(inputs[0], *std::move(compiled));
}

}  // namespace weir::flow::operators
