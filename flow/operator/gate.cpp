#include <weir/flow/operator/gate.hpp>

#include <algorithm>
#include <vector>

#include <weir/flow/operator/internal/projection.hpp>
#include <weir/flow/operator/internal/row_bytes.hpp>

namespace weir::flow::operators {
namespace {

class GateOperator final : public Operator {
 public:
  GateOperator(data::SchemaRef schema, internal::Condition condition)
      : Operator(std::move(schema)), condition_(std::move(condition)) {}

  /// The primary keys of the rows that pass.
  void open(State& state) override { open_ = &state.add_table(); }
  bool needs_each_version() const override { return true; }

  Result<> apply(const Input& input, Output& out) override {
    const data::ChangeBatch batch = input.batch.consolidated();
    auto selected = condition_.select(batch, out);
    if (!selected) return std::move(selected).error();
    is_true_.assign(batch.size(), false);
    for (const std::uint32_t row : *selected) is_true_[row] = true;

    // What goes, then what comes: a key that has both is a row that became another.
    data::BatchBuilder changes(schema());
    closing_.clear();
    for (std::uint32_t row = 0; row < batch.size(); ++row) {
      if (batch.weights()[row] > 0) continue;
      auto slot = find(batch, row);
      if (!slot) return std::move(slot).error();
      if (!slot->exists()) continue;
      changes.add_from(batch, row, -1);
      closing_.push_back(row);
    }
    for (std::uint32_t row = 0; row < batch.size(); ++row) {
      if (batch.weights()[row] < 0) continue;
      auto slot = find(batch, row);
      if (!slot) return std::move(slot).error();
      if (!slot->exists() && !is_true_[row]) continue;
      slot->put(stays_open);
      changes.add_from(batch, row, 1);
    }
    if (auto closed = close(batch); !closed) return closed;
    out.emit(changes.finish());
    return {};
  }

 private:
  static constexpr std::string_view is_open = "\1";
  static constexpr std::string_view stays_open = "\2";  // in this cycle only

  Result<StateTable::Slot> find(const data::ChangeBatch& batch, std::size_t row) {
    key_.clear();
    internal::append_columns(batch.columns(), schema()->primary_key(), row, key_);
    return open_->find(key_);
  }

  Result<> close(const data::ChangeBatch& batch) {
    for (const std::uint32_t row : closing_) {
      auto slot = find(batch, row);
      if (!slot) return std::move(slot).error();
      if (slot->value() == is_open) slot->remove();
    }
    for (std::uint32_t row = 0; row < batch.size(); ++row) {
      if (batch.weights()[row] < 0) continue;
      auto slot = find(batch, row);
      if (!slot) return std::move(slot).error();
      if (slot->exists()) slot->put(is_open);
    }
    return {};
  }

  internal::Condition condition_;
  StateTable* open_ = nullptr;
  // To use their memory again.
  std::string key_;
  std::vector<bool> is_true_;
  std::vector<std::uint32_t> closing_;
};

}  // namespace

Result<std::unique_ptr<Operator>> Gate::make(std::span<const data::SchemaRef> inputs,
                                             const Library& library) const {
  if (inputs[0]->primary_key().empty())
    return Error(Errc::wrong_schema, "a gate needs rows with a primary key");
  auto compiled = internal::Condition::make(condition, *inputs[0], library);
  if (!compiled) return std::move(compiled).error();
  return std::make_unique<GateOperator>(inputs[0], *std::move(compiled));
}

}  // namespace weir::flow::operators
