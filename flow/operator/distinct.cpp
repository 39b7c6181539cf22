#include <weir/flow/operator/distinct.hpp>

#include <weir/flow/operator/internal/projection.hpp>
#include <weir/flow/operator/internal/row_bytes.hpp>

namespace weir::flow::operators {
namespace {

class DistinctOperator final : public Operator {
 public:
  using Operator::Operator;

  /// All columns of a row: how often it is there.
  void open(State& state) override { rows_ = &state.add_table(); }

  Result<> apply(const Input& input, Output& out) override {
    const data::ChangeBatch batch = input.batch.consolidated();
    data::BatchBuilder changes(schema());
    for (std::size_t row = 0; row < batch.size(); ++row) {
      key_.clear();
      internal::append_columns(batch.columns(), row, key_);
      auto slot = rows_->find(key_);
      if (!slot) return std::move(slot).error();
      auto before = internal::weight_of(slot->value());
      if (!before) return std::move(before).error();
      const data::Weight after = *before + batch.weights()[row];
      if (after < 0) {
        return Error(Errc::unknown_row,
                     "row " + internal::describe_row(batch, row) + " went more often than it came");
      }
      if (after == 0) {
        slot->remove();
      } else {
        std::string& value = slot->edit();
        value.clear();
        internal::append_weight(after, value);
      }
      if ((*before == 0) != (after == 0)) changes.add_from(batch, row, after == 0 ? -1 : 1);
    }
    out.emit(changes.finish());
    return {};
  }

 private:
  StateTable* rows_ = nullptr;
  std::string key_;  // to use its memory again
};

}  // namespace

Result<std::unique_ptr<Operator>> Distinct::make(std::span<const data::SchemaRef> inputs,
                                                 const Library& /*library*/) const {
  return std::make_unique<DistinctOperator>(inputs[0]);
}

}  // namespace weir::flow::operators
