#include <algorithm>

#include <weir/flow/operator/internal/window_closing.hpp>
#include <weir/flow/operator/internal/window_operators.hpp>
#include <weir/flow/operator/internal/window_order.hpp>

namespace weir::flow::operators::internal {
namespace {

/// Where windows are, in microseconds.
struct Grid {
  std::int64_t size;
  std::int64_t hop;
  std::int64_t offset;

  /// The last start that is not behind `time`, also before 1970.
  std::int64_t last_start(std::int64_t time) const noexcept {
    const std::int64_t past = (time - offset) % hop;
    return time - (past < 0 ? past + hop : past);
  }
  /// Windows that a row may be in.
  std::size_t most() const noexcept { return static_cast<std::size_t>((size + hop - 1) / hop); }
  /// The first start of a window that `time` is in, if it is in one.
  std::int64_t first_start(std::int64_t time) const noexcept {
    return last_start(time - size) + hop;
  }
  /// The times all of whose windows can be written down.
  TimeRange range() const noexcept {
    const std::int64_t first = last_start(time_min - 1) + hop;
    const std::int64_t last = last_start(time_max - size);
    return {std::max(time_min, first - hop + size), std::min(time_max, last + hop - 1)};
  }
};

/// Rows of a batch, one for each window that they are in.
struct Panes {
  std::vector<std::uint32_t> rows;
  std::shared_ptr<data::Column> starts;
  std::shared_ptr<data::Column> ends;
  std::uint64_t late_rows = 0;

  std::size_t size() const noexcept { return rows.size(); }
};

/// So many are made at once, about: as much is not known to be too much before it is given.
constexpr std::size_t panes_max = std::size_t{1} << 18;

struct Slice {
  std::uint32_t begin;
  std::uint32_t end;
};

/// The windows of some of the rows. Leaves out those that end at `closed_until` or before.
Panes assign(const Grid& grid, std::span<const std::int64_t> times, Slice slice,
             std::int64_t closed_until) {
  const std::size_t most = grid.most();
  Panes panes{.rows = std::vector<std::uint32_t>((slice.end - slice.begin) * most),
              .starts = std::make_shared<data::Column>(data::Kind::timestamp),
              .ends = std::make_shared<data::Column>(data::Kind::timestamp)};
  std::int64_t* const starts = panes.starts->resize<std::int64_t>(panes.rows.size()).data();
  std::size_t count = 0;
  for (std::uint32_t row = slice.begin; row < slice.end; ++row) {
    const std::size_t before = count;
    const std::int64_t last = grid.last_start(times[row]);
    const std::int64_t first = most == 1 ? last : grid.first_start(times[row]);
    for (std::int64_t start = first; start <= last; start += grid.hop) {
      panes.rows[count] = row;
      starts[count] = start;
      count += start + grid.size > closed_until ? 1 : 0;
    }
    // One window at most, and between two of them there may be times that are in none.
    if (most == 1 && last + grid.size <= times[row]) {
      count = before;
    } else if (count == before) {
      ++panes.late_rows;
    }
  }
  panes.rows.resize(count);
  panes.starts->resize<std::int64_t>(count);
  const std::span<std::int64_t> ends = panes.ends->resize<std::int64_t>(count);
  for (std::size_t pane = 0; pane < count; ++pane) ends[pane] = starts[pane] + grid.size;
  return panes;
}

/// The rows with their windows. Columns are shared where each row is in one window.
data::ChangeBatch with_windows(const data::ChangeBatch& batch, const Panes& panes,
                               const data::SchemaRef& schema, bool is_at_most_one) {
  const bool is_each_once = is_at_most_one && panes.size() == batch.size();
  const data::ChangeBatch rows = is_each_once ? batch : batch.take(panes.rows);
  data::Columns columns = rows.columns();
  columns.push_back(panes.starts);
  columns.push_back(panes.ends);
  return rows.with_columns(schema, std::move(columns));
}

/// Gives the rows with their windows to `take`, some at a time. Gives how many are in none that is
/// still open, or what `take` fails with.
template <class Take>
Result<std::uint64_t> for_each_slice(const Grid& grid, const WindowOrder::Ordered& timed,
                                     const data::SchemaRef& schema, std::int64_t closed_until,
                                     Take take) {
  const auto times = timed.order->values<std::int64_t>();
  const auto rows = static_cast<std::uint32_t>(times.size());
  const auto at_once =
      static_cast<std::uint32_t>(std::max<std::size_t>(panes_max / grid.most(), 1));
  std::uint64_t late_rows = 0;
  for (std::uint32_t begin = 0; begin < rows;) {
    const std::uint32_t end = begin + std::min(at_once, rows - begin);
    const Panes panes = assign(grid, times, {begin, end}, closed_until);
    late_rows += panes.late_rows;
    auto taken = take(with_windows(timed.batch, panes, schema, grid.size <= grid.hop));
    if (!taken) return std::move(taken).error();
    begin = end;
  }
  return late_rows;
}

class HoppingOperator final : public Operator {
 public:
  HoppingOperator(data::SchemaRef schema, WindowOrder time, Grid grid)
      : Operator(std::move(schema)), time_(std::move(time)), grid_(grid) {}

  Result<> apply(const Input& input, Output& out) override {
    auto timed = time_.compute(input.batch, out);
    if (!timed) return std::move(timed).error();
    auto given = for_each_slice(grid_, *timed, schema(), nothing_closed, [&](auto batch) {
      out.emit(std::move(batch));
      return out.check_size();
    });
    return given ? Result<>() : std::move(given).error();
  }

 private:
  WindowOrder time_;
  Grid grid_;
};

/// The same, with a watermark that windows close at. State: a `Watermark` and `WaitingRows`.
class ClosingOperator final : public Operator {
 public:
  ClosingOperator(data::SchemaRef schema, WindowOrder time, const Window& window, Grid grid)
      : Operator(std::move(schema)),
        time_(std::move(time)),
        grid_(grid),
        watermark_(window),
        waits_(window.emit == WindowEmit::on_close),
        tick_period_(window.tick_period) {}

  void open(State& state) override {
    watermark_.open(state);
    waiting_.open(state);
  }
  bool needs_each_version() const override { return true; }
  std::optional<std::chrono::microseconds> tick_period() const override { return tick_period_; }

  Result<> apply(const Input& input, Output& out) override {
    // Rows that cancel each other neither are late nor tell how late it is.
    auto timed = time_.compute(input.batch.consolidated(), out);
    if (!timed) return std::move(timed).error();
    auto closed_until = watermark_.current();
    if (!closed_until) return std::move(closed_until).error();
    auto late_rows = for_each_slice(grid_, *timed, schema(), *closed_until, [&](auto batch) {
      if (waits_) return waiting_.add(batch.consolidated());
      out.emit(std::move(batch));
      return out.check_size();
    });
    if (!late_rows) return std::move(late_rows).error();
    out.counts().late_rows += *late_rows;
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
  Result<> advance(std::int64_t to, Output& out) {
    auto until = watermark_.advance(to, out);
    if (!until) return std::move(until).error();
    return waits_ ? waiting_.close(*until, schema(), out) : Result<>();
  }

  WindowOrder time_;
  Grid grid_;
  Watermark watermark_;
  WaitingRows waiting_;
  bool waits_;
  std::optional<std::chrono::microseconds> tick_period_;
};

}  // namespace

Result<std::unique_ptr<Operator>> make_hopping(const Window& window, const data::Schema& input,
                                               const Library& library) {
  const Grid grid{window.size.count(), window.hop.count(), window.offset.count()};
  auto time = WindowOrder::make_time(window.order, grid.range(), input, library);
  if (!time) return std::move(time).error();
  // A window that has closed has a row that may be in another by now.
  const bool is_once = grid.hop >= grid.size && !window.closes();
  auto schema =
      window_schema(input, time->type(), is_once ? WindowKey::as_it_is : WindowKey::with_start);
  if (!schema) return std::move(schema).error();
  if (window.closes()) {
    return std::make_unique<ClosingOperator>(*std::move(schema), *std::move(time), window, grid);
  }
  return std::make_unique<HoppingOperator>(*std::move(schema), *std::move(time), grid);
}

}  // namespace weir::flow::operators::internal
