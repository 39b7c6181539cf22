#include <algorithm>
#include <limits>

#include <weir/flow/data/decimal.hpp>
#include <weir/flow/operator/internal/accumulator.hpp>
#include <weir/flow/operator/internal/group_results.hpp>
#include <weir/flow/operator/internal/row_bytes.hpp>
#include <weir/flow/operator/internal/row_selection.hpp>
#include <weir/flow/operator/internal/wide_sum.hpp>

namespace weir::flow::operators::internal {
namespace {

using data::Int128;
using Status = Accumulator::Status;

/// Values that are not null, and their sum.
struct Total {
  data::Weight count = 0;
  WideSum sum = {};

  bool is_valid() const noexcept { return count > 0 || (count == 0 && sum.is_zero()); }
};

/// The sum, if it is one of the numbers of `T`.
template <class T>
struct SumOf {
  using Out = T;
  static Status compute(const Total& total, T& out) noexcept {
    Int128 sum = 0;
    if (!total.sum.value(sum)) return Status::overflow;
    if constexpr (std::is_same_v<T, Int128>) {
      if (!data::is_coefficient(sum)) return Status::overflow;
    } else if (sum < Int128{std::numeric_limits<T>::min()} ||
               sum > Int128{std::numeric_limits<T>::max()}) {
      return Status::overflow;
    }
    out = static_cast<T>(sum);
    return Status::value;
  }
};

struct FloatMean {
  using Out = double;
  static Status compute(const Total& total, double& out) noexcept {
    out = total.sum.to_double() / static_cast<double>(total.count);
    return Status::value;
  }
};

/// With as many more digits behind the point as `factor` has zeros.
template <class T, std::uint64_t factor>
struct ExactMean {
  using Out = T;
  static Status compute(const Total& total, T& out) noexcept {
    Int128 mean = 0;
    if (!total.sum.scaled(factor, static_cast<std::uint64_t>(total.count), mean) ||
        !data::is_coefficient(mean))
      return Status::overflow;
    out = static_cast<T>(mean);
    return Status::value;
  }
};

/// Sums and means of integers, exactly. State: the count of values, and their sum.
template <class In, class Function>
class SumAccumulator final : public Accumulator {
 public:
  using Out = typename Function::Out;

  explicit SumAccumulator(data::DataType type) : type_(type) {}

  data::DataType type() const noexcept override { return type_; }

  Result<> apply(GroupedRows& rows, const Arguments& arguments) override {
    totals_.assign(rows.groups(), {});
    results_.resize(rows.groups());
    for (std::size_t group = 0; group < rows.groups(); ++group) {
      Total& total = totals_[group];
      std::string_view& state = rows.states[group];
      if (rows.before[group] != 0 && !(take_weight(state, total.count) && total.sum.take(state)))
        return Error(Errc::corruption, "state: a sum");
      set_result(false, group);
    }
    selection_.select(rows.rows(), arguments.condition, arguments.value);
    const In* values = arguments.value->values<In>().data();
    selection_.for_each([&](std::uint32_t row) {
      Total& total = totals_[rows.group_of[row]];
      total.count += rows.weights[row];
      total.sum.add(values[row], rows.weights[row]);
    });
    for (std::size_t group = 0; group < rows.groups(); ++group) {
      const Total& total = totals_[group];
      if (!total.is_valid() || total.count > rows.after[group]) return rows.unknown_row(group);
      set_result(true, group);
    }
    return {};
  }
  std::span<const Status> statuses(bool is_after) const noexcept override {
    return results_.statuses(is_after);
  }
  void compare(std::span<std::uint8_t> is_changed) const noexcept override {
    results_.compare(is_changed);
  }
  Result<> emit(std::span<const OutputRow> rows, data::Column& out) const override {
    results_.emit(rows, out);
    return {};
  }
  void save(std::span<std::string* const> states) const override {
    for (std::size_t group = 0; group < states.size(); ++group) {
      if (states[group] == nullptr) continue;
      append_weight(totals_[group].count, *states[group]);
      totals_[group].sum.append_to(*states[group]);
    }
  }

 private:
  void set_result(bool is_after, std::size_t group) noexcept {
    Out value{};
    const Total& total = totals_[group];
    const Status status = total.count == 0 ? Status::null : Function::compute(total, value);
    results_.set(is_after, group, status, value);
  }

  data::DataType type_;
  RowSelection selection_;
  std::vector<Total> totals_;
  GroupResults<Out> results_;
};

template <class In, class Function>
std::unique_ptr<Accumulator> make(data::DataType type) {
  return std::make_unique<SumAccumulator<In, Function>>(type);
}

template <std::uint64_t factor>
std::unique_ptr<Accumulator> make_decimal_mean(std::uint8_t scale) {
  return make<Int128, ExactMean<Int128, factor>>(data::DataType::decimal(scale));
}

/// Six more digits behind the point, if there are six.
std::unique_ptr<Accumulator> make_decimal_mean(data::DataType type) {
  switch (data::decimal_digits_max - type.scale) {
    case 0: return make_decimal_mean<1>(38);
    case 1: return make_decimal_mean<10>(38);
    case 2: return make_decimal_mean<100>(38);
    case 3: return make_decimal_mean<1'000>(38);
    case 4: return make_decimal_mean<10'000>(38);
    case 5: return make_decimal_mean<100'000>(38);
    default: return make_decimal_mean<1'000'000>(static_cast<std::uint8_t>(type.scale + 6));
  }
}

}  // namespace

std::unique_ptr<Accumulator> make_sum(const AccumulatorInput& input) {
  const data::DataType type = input.value->type;
  const bool is_sum = input.function == AggregateFunction::sum;
  using data::Kind;
  switch (type.kind) {
    case Kind::int64:
      return is_sum ? make<std::int64_t, SumOf<std::int64_t>>(type)
                    : make<std::int64_t, FloatMean>(Kind::float64);
    case Kind::uint64:
      return is_sum ? make<std::uint64_t, SumOf<std::uint64_t>>(type)
                    : make<std::uint64_t, FloatMean>(Kind::float64);
    case Kind::duration:
      return is_sum ? make<std::int64_t, SumOf<std::int64_t>>(type)
                    : make<std::int64_t, ExactMean<std::int64_t, 1>>(type);
    case Kind::decimal: return is_sum ? make<Int128, SumOf<Int128>>(type) : make_decimal_mean(type);
    default: return nullptr;
  }
}

}  // namespace weir::flow::operators::internal
