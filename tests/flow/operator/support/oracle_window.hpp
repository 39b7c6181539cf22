#pragma once

#include <cstdint>
#include <utility>

#include <weir/flow/operator/window.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::operators::test {

/// What a window that does not close gives, computed from all rows: written apart from the
/// operator, so that both are not wrong in the same way.
///
/// Rows that cannot be computed are left out, as by the policy `drop`.
Rows evaluate(const Window& window, const Rows& rows, const data::SchemaRef& schema);

/// What windows that close give, from all that ever happened. Of hopping ones, those without gaps:
/// there a row that is in no window moves the watermark, too.
class ClosingHistory {
 public:
  ClosingHistory(Window window, data::SchemaRef schema)
      : window_(std::move(window)), schema_(std::move(schema)) {}

  /// One commit: how many of each row came or went.
  void apply(const Rows& changes);
  /// Tells the watermark.
  void advance(data::Timestamp to);
  Rows rows() const;
  std::uint64_t late_rows() const noexcept { return late_rows_; }

 private:
  void close();
  bool is_over(const data::Value& end) const;
  bool is_late(const data::Value& order) const;

  Window window_;
  data::SchemaRef schema_;
  Rows open_;    // of hopping windows with their windows, else as they came
  Rows closed_;  // rows of sessions that are over
  data::Timestamp watermark_ = data::timestamp_min;
  std::uint64_t late_rows_ = 0;
};

}  // namespace weir::flow::operators::test
