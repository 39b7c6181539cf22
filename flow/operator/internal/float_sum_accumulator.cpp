#include <weir/flow/operator/internal/accumulator.hpp>
#include <weir/flow/operator/internal/exact_sum.hpp>
#include <weir/flow/operator/internal/group_results.hpp>
#include <weir/flow/operator/internal/row_bytes.hpp>
#include <weir/flow/operator/internal/row_selection.hpp>

namespace weir::flow::operators::internal {
namespace {

/// Sums and means of floating-point numbers. State: the count of values, and their exact sum.
///
/// An exact sum takes much room when it is being added to, so rows are sorted by their groups, and
/// one is used for all.
class FloatSumAccumulator final : public Accumulator {
 public:
  explicit FloatSumAccumulator(bool is_mean) : is_mean_(is_mean) {}

  data::DataType type() const noexcept override { return data::Kind::float64; }

  Result<> apply(GroupedRows& rows, const Arguments& arguments) override {
    selection_.select(rows.rows(), arguments.condition, arguments.value);
    sort(rows);
    results_.resize(rows.groups());
    states_.clear();
    ends_.clear();
    const double* values = arguments.value->values<double>().data();
    for (std::size_t group = 0; group < rows.groups(); ++group) {
      data::Weight count = 0;
      sum_.clear();
      std::string_view& state = rows.states[group];
      if (rows.before[group] != 0 && !(take_weight(state, count) && sum_.take(state)))
        return Error(Errc::corruption, "state: an exact sum");
      set_result(false, group, count);
      for (std::size_t at = starts_[group]; at < starts_[group + 1]; ++at) {
        const data::Weight weight = rows.weights[sorted_[at]];
        count += weight;
        sum_.add(values[sorted_[at]], weight);
      }
      sum_.normalize();
      const bool is_valid = sum_.is_valid() && (count > 0 || (count == 0 && sum_.is_zero()));
      if (!is_valid || count > rows.after[group]) return rows.unknown_row(group);
      set_result(true, group, count);
      append_weight(count, states_);
      sum_.append_to(states_);
      ends_.push_back(states_.size());
    }
    return {};
  }
  void compare(std::span<std::uint8_t> is_changed) const noexcept override {
    results_.compare(is_changed);
  }
  Result<> emit(std::span<const OutputRow> rows, data::Column& out) const override {
    results_.emit(rows, out);
    return {};
  }
  void save(std::span<std::string* const> states) const override {
    std::size_t begin = 0;
    for (std::size_t group = 0; group < states.size(); ++group) {
      if (states[group] != nullptr) states[group]->append(states_, begin, ends_[group] - begin);
      begin = ends_[group];
    }
  }

 private:
  /// Those of group `g` from `starts_[g]` on.
  void sort(const GroupedRows& rows) {
    starts_.assign(rows.groups() + 2, 0);
    selection_.for_each([&](std::uint32_t row) { ++starts_[rows.group_of[row] + 2]; });
    for (std::size_t group = 2; group < starts_.size(); ++group)
      starts_[group] += starts_[group - 1];
    sorted_.resize(starts_.back());
    selection_.for_each(
        [&](std::uint32_t row) { sorted_[starts_[rows.group_of[row] + 1]++] = row; });
  }
  void set_result(bool is_after, std::size_t group, data::Weight count) noexcept {
    const double value = count == 0 ? 0 : is_mean_ ? sum_.mean(count) : sum_.value();
    results_.set(is_after, group, count == 0 ? Status::null : Status::value, value);
  }

  bool is_mean_;
  RowSelection selection_;
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint32_t> sorted_;
  ExactSum sum_;
  GroupResults<double> results_;
  // The new states, one behind the other.
  std::string states_;
  std::vector<std::size_t> ends_;
};

}  // namespace

std::unique_ptr<Accumulator> make_float_sum(const AccumulatorInput& input) {
  return std::make_unique<FloatSumAccumulator>(input.function == AggregateFunction::avg);
}

}  // namespace weir::flow::operators::internal
