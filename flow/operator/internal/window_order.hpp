#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/data/compiled_expression.hpp>
#include <weir/flow/operator/operator_spec.hpp>

namespace weir::flow::operators::internal {

/// `invalid_argument` unless `what` is a length of time that windows or rows may have.
Result<> check_length(const char* what, std::chrono::microseconds length);

inline constexpr std::int64_t time_min = data::timestamp_min.time_since_epoch().count();
inline constexpr std::int64_t time_max = data::timestamp_max.time_since_epoch().count();

/// The times that the windows of a row may be made of, in microseconds.
struct TimeRange {
  std::int64_t min;
  std::int64_t max;
};

/// What windows go by: the time of each row, or another value that orders rows.
class WindowOrder {
 public:
  struct Ordered {
    data::ChangeBatch batch;  // the rows that are left
    data::ColumnRef order;    // as long, without nulls; dates as timestamps
  };

  /// A time: `type_mismatch` if it is neither a timestamp nor a date. Those out of range are errors
  /// of their row.
  static Result<WindowOrder> make_time(const data::Expression& time, TimeRange range,
                                       const data::Schema& schema, const Library& library);
  /// A value of any type.
  static Result<WindowOrder> make(const data::Expression& order, const data::Schema& schema,
                                  const Library& library);

  /// As what `compute` gives.
  data::DataType type() const noexcept;
  Result<Ordered> compute(const data::ChangeBatch& batch, Output& out) const;

 private:
  WindowOrder(data::CompiledExpression expression, std::string text, bool is_time, TimeRange range)
      : expression_(std::move(expression)),
        text_(std::move(text)),
        is_time_(is_time),
        range_(range) {}
  bool is_out_of_range(const data::Column& order, std::size_t row) const noexcept;
  Result<Ordered> without(const std::vector<std::uint32_t>& bad, const Ordered& all,
                          const data::RowErrors& errors, Output& out) const;

  data::CompiledExpression expression_;
  std::string text_;
  bool is_time_;
  TimeRange range_;
};

}  // namespace weir::flow::operators::internal
