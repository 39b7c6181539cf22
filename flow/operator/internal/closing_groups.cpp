#include <algorithm>
#include <map>

#include <weir/flow/operator/internal/ordered_rows.hpp>
#include <weir/flow/operator/internal/window_closing.hpp>
#include <weir/flow/operator/internal/window_operators.hpp>

namespace weir::flow::operators::internal {
namespace {

/// Which windows have closed, and which rows are late, in microseconds.
struct ClosingRules {
  /// Of windows that have their end, which must have passed.
  bool has_end = true;
  /// How long after its time a row may still come or go.
  std::int64_t late_after = 0;
  /// How long after its time a row may be needed at least.
  std::int64_t needed_for = 0;

  /// The last end of windows that have closed.
  std::int64_t closed_until(std::int64_t watermark) const noexcept {
    return watermark == nothing_closed || !has_end ? watermark : watermark - 1;
  }
};

/// Windows of groups, with a watermark that they close at: late rows do not reach them, what they
/// give waits for their end if it is to, and they forget what has closed.
///
/// State: a `Watermark`, `WaitingRows`, `DueGroups`, then that of the windows.
class ClosingGroups final : public Operator {
 public:
  ClosingGroups(const Window& window, WindowOrder time, std::vector<std::size_t> per,
                ClosingRules rules, std::unique_ptr<GroupedWindows> windows)
      : Operator(windows->schema()),
        time_(std::move(time)),
        per_(std::move(per)),
        rules_(rules),
        windows_(std::move(windows)),
        watermark_(window),
        waits_(window.emit == WindowEmit::on_close),
        tick_period_(window.tick_period) {}

  void open(State& state) override {
    watermark_.open(state);
    waiting_.open(state);
    due_.open(state);
    windows_->open(state);
  }
  bool needs_each_version() const override { return true; }
  std::optional<std::chrono::microseconds> tick_period() const override { return tick_period_; }

  Result<> apply(const Input& input, Output& out) override {
    // Rows that cancel each other neither are late nor tell how late it is.
    auto timed = time_.compute(input.batch.consolidated(), out);
    if (!timed) return std::move(timed).error();
    auto watermark = watermark_.current();
    if (!watermark) return std::move(watermark).error();
    const std::int64_t closed_until = rules_.closed_until(*watermark);
    std::map<std::string, std::int64_t> due;
    if (auto done = forget(closed_until, due); !done) return done;
    const data::ChangeBatch batch = take_in_time(*timed, closed_until, due, out);
    if (auto done = run({.port = 0, .batch = batch}, out); !done) return done;
    for (const auto& [group, time] : due)
      if (auto marked = due_.mark(group, time); !marked) return marked;
    return advance(watermark_.after(timed->batch, timed->order->values<std::int64_t>()), out);
  }
  Result<> tick(data::Timestamp now, Output& out) override {
    return advance(watermark_.at(now), out);
  }
  Result<> watermark(data::Timestamp time, Output& out) override {
    return advance(time.time_since_epoch().count(), out);
  }
  Result<> filled(Output& out) override { return advance(nothing_closed, out); }

 private:
  /// What has closed since rows came the last time. Nothing is forgotten in the cycle that wrote
  /// it, so that it is the same whether the state is in memory or not.
  Result<> forget(std::int64_t closed_until, std::map<std::string, std::int64_t>& due) {
    if (closed_until == nothing_closed) return {};
    auto groups = due_.take(closed_until);
    if (!groups) return std::move(groups).error();
    for (const std::string& group : *groups) {
      auto next = windows_->forget(group, closed_until);
      if (!next) return std::move(next).error();
      if (*next) due.emplace(group, **next);
    }
    return {};
  }

  /// The rows that are not late, and when their groups are to be looked at.
  data::ChangeBatch take_in_time(const WindowOrder::Ordered& timed, std::int64_t closed_until,
                                 std::map<std::string, std::int64_t>& due, Output& out) {
    const auto times = timed.order->values<std::int64_t>();
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < times.size(); ++row) {
      if (times[row] + rules_.late_after <= closed_until) continue;
      rows.push_back(row);
      group_.clear();
      append_columns(timed.batch.columns(), per_, row, group_);
      // Where a row goes, what is left may have been over for long.
      const bool comes = timed.batch.weights()[row] > 0;
      const std::int64_t time = comes ? times[row] + rules_.needed_for : nothing_closed;
      std::int64_t& first = due.try_emplace(group_, time).first->second;
      first = std::min(first, time);
    }
    out.counts().late_rows += times.size() - rows.size();
    return rows.size() == times.size() ? timed.batch : timed.batch.take(rows);
  }

  Result<> run(const Input& input, Output& out) {
    if (input.batch.is_empty()) return {};
    if (!waits_) return windows_->apply(input, out);
    Output given(out.row_error_policy(), out.is_filling());
    if (auto done = windows_->apply(input, given); !done) return done;
    for (const data::ChangeBatch& batch : given.take())
      if (auto added = waiting_.add(batch.consolidated()); !added) return added;
    return {};
  }

  /// Also where it does not move: rows that went may have left windows that are over.
  Result<> advance(std::int64_t to, Output& out) {
    auto watermark = watermark_.advance(to, out);
    if (!watermark) return std::move(watermark).error();
    return waits_ ? waiting_.close(rules_.closed_until(*watermark), schema(), out) : Result<>();
  }

  WindowOrder time_;
  std::vector<std::size_t> per_;
  ClosingRules rules_;
  std::unique_ptr<GroupedWindows> windows_;
  Watermark watermark_;
  WaitingRows waiting_;
  DueGroups due_;
  bool waits_;
  std::optional<std::chrono::microseconds> tick_period_;
  std::string group_;  // to use its memory again
};

ClosingRules rules_of(const Window& window) {
  const std::int64_t size = window.size.count();
  switch (window.form) {
    case WindowForm::session: return {.has_end = false, .late_after = size, .needed_for = size};
    case WindowForm::rolling:
    case WindowForm::sliding: return {.needed_for = size};
    default: return {};
  }
}

}  // namespace

Result<std::unique_ptr<Operator>> make_closing(const Window& window, const data::Schema& input,
                                               const Library& library,
                                               std::unique_ptr<GroupedWindows> windows) {
  auto time = WindowOrder::make_time(window.order, OrderedRows::range_of(window), input, library);
  if (!time) return std::move(time).error();
  std::vector<std::size_t> per;
  for (const std::string& column : window.per) per.push_back(input.index_of(column).value());
  return std::make_unique<ClosingGroups>(window, *std::move(time), std::move(per), rules_of(window),
                                         std::move(windows));
}

}  // namespace weir::flow::operators::internal
