#include <weir/flow/operator/source.hpp>

namespace weir::flow::operators {
namespace {

class SourceOperator final : public Operator {
 public:
  using Operator::Operator;

  Result<> apply(const Input& input, Output& out) override {
    out.emit(input.batch);
    return {};
  }
};

}  // namespace

Result<std::unique_ptr<Operator>> Source::make(std::span<const data::SchemaRef> /*inputs*/,
                                               const Library& /*library*/) const {
  return std::make_unique<SourceOperator>(schema);
}

}  // namespace weir::flow::operators
