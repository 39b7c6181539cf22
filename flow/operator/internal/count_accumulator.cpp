#include <weir/flow/operator/internal/accumulator.hpp>
#include <weir/flow/operator/internal/group_results.hpp>
#include <weir/flow/operator/internal/row_bytes.hpp>
#include <weir/flow/operator/internal/row_selection.hpp>

namespace weir::flow::operators::internal {
namespace {

/// State: the count; nothing if it is that of all rows, which the group has anyway.
class CountAccumulator final : public Accumulator {
 public:
  explicit CountAccumulator(bool is_of_all) : is_of_all_(is_of_all) {}

  data::DataType type() const noexcept override { return data::Kind::int64; }

  Result<> apply(GroupedRows& rows, const Arguments& arguments) override {
    if (is_of_all_) {
      before_.assign(rows.before.begin(), rows.before.end());
      after_.assign(rows.after.begin(), rows.after.end());
      return {};
    }
    before_.assign(rows.groups(), 0);
    for (std::size_t group = 0; group < rows.groups(); ++group) {
      if (rows.before[group] != 0 && !take_weight(rows.states[group], before_[group]))
        return Error(Errc::corruption, "state: a count");
    }
    after_.assign(before_.begin(), before_.end());
    selection_.select(rows.rows(), arguments.condition, arguments.value);
    selection_.for_each(
        [&](std::uint32_t row) { after_[rows.group_of[row]] += rows.weights[row]; });
    for (std::size_t group = 0; group < rows.groups(); ++group) {
      if (after_[group] < 0 || after_[group] > rows.after[group]) return rows.unknown_row(group);
    }
    return {};
  }
  void compare(std::span<std::uint8_t> is_changed) const noexcept override {
    for (std::size_t group = 0; group < is_changed.size(); ++group)
      is_changed[group] |= before_[group] != after_[group] ? 1 : 0;
  }
  Result<> emit(std::span<const OutputRow> rows, data::Column& out) const override {
    std::int64_t* to = out.resize<std::int64_t>(rows.size()).data();
    for (const auto [group, is_after] : rows) *to++ = (is_after ? after_ : before_)[group];
    return {};
  }
  void save(std::span<std::string* const> states) const override {
    if (is_of_all_) return;
    for (std::size_t group = 0; group < states.size(); ++group)
      if (states[group] != nullptr) append_weight(after_[group], *states[group]);
  }

 private:
  bool is_of_all_;
  RowSelection selection_;
  std::vector<data::Weight> before_;
  std::vector<data::Weight> after_;
};

}  // namespace

std::unique_ptr<Accumulator> make_count(const AccumulatorInput& input) {
  return std::make_unique<CountAccumulator>(input.value == nullptr && !input.has_condition);
}

}  // namespace weir::flow::operators::internal
