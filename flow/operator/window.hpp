#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weir/flow/data/expression.hpp>
#include <weir/flow/operator/operator_spec.hpp>

namespace weir::flow::operators {

// Persisted: never renumber.
enum class WindowForm : std::uint8_t {
  hopping = 1,
  session = 2,
  tumbling_rows = 3,
  rolling = 4,
  rolling_rows = 5,
  hopping_rows = 6,
  sliding = 7,
};

/// When the rows of a window are given. Persisted: never renumber.
enum class WindowEmit : std::uint8_t {
  at_once = 0,   // as they come
  on_close = 1,  // all together, once the watermark has passed the window's end
};

/// Gives each row once for each window that it is in, with two more columns: `window_start` and
/// `window_end`. What is to be known of a window is then an aggregate, grouped by them:
///
///     orders.window(tumbling(col("at"), 5min)).group_by({"window_start"}).aggregate({...})
///
/// Made by the functions below, one for each form. A row whose time is null, or has a window beyond
/// what a timestamp can hold, is in no window: it cannot be computed, so the flow's policy for
/// such rows decides; where that is `null`, the row is left out and counted. Dates are their
/// midnight.
///
/// The primary key stays, together with `window_start` (of `rolling` and `sliding`, `window_end`)
/// where a row may be in several windows. Rows of `rolling_rows`, and of `hopping_rows` that
/// overlap, have none. Windows that close keep rows that have gone or become others since: of
/// `tumbling` and `hopping` ones `window_start` tells them apart, others have no key then.
///
/// **Closing.** With a lateness, `on_close` or a period, windows close, and what is given depends
/// on when rows came. The watermark is the greatest of: times that came, less the lateness; what
/// the flow is told; the clock less the lateness, with a period. A window whose end it has reached,
/// or passed if the end is in the window, is final: rows neither come to it nor go from it any
/// more, also not those that were in it. The rows of a batch are measured by the watermark before
/// it; those that cancel each other never came. Late rows are left out, and counted:
///
/// | form | a row is late when the watermark has reached |
/// |---|---|
/// | `tumbling`, `hopping` | the ends of all its windows; until then it is in those that are open |
/// | `session` | the end of a session that it would be alone |
/// | all others | more than its time, as the window that ends with it is final then |
///
/// Windows by rows are ordered by a time if they close. They do when they are full: until then
/// `on_close` gives none of their rows. What no open window needs is forgotten, so that the state
/// of windows that close has an end. `on_close` with neither a lateness nor a period is for flows
/// that are told watermarks, as views are not.
struct Window final : OperatorSpec {
  Window(WindowForm form, data::Expression order) : form(form), order(std::move(order)) {}

  WindowForm form;
  /// The time of a row; of windows by rows, whatever they are ordered by.
  data::Expression order;
  /// How long windows are; of sessions, the gap between them.
  std::chrono::microseconds size = {};
  std::chrono::microseconds hop = {};
  std::chrono::microseconds offset = {};
  /// How many rows are in a window.
  std::uint64_t rows = 0;
  /// Of `hopping_rows`: how many from the start of a window to that of the next.
  std::uint64_t hop_rows = 0;
  std::vector<std::string> per;
  std::optional<std::chrono::microseconds> lateness;
  WindowEmit emit = WindowEmit::at_once;
  std::optional<std::chrono::microseconds> tick_period;

  /// Whether what it gives depends on when rows came.
  bool closes() const noexcept { return lateness || emit == WindowEmit::on_close || tick_period; }

  std::string_view name() const noexcept override { return "window"; }
  void write(SpecWriter& out) const override;
  Result<std::unique_ptr<Operator>> make(std::span<const data::SchemaRef> inputs,
                                         const Library& library) const override;
};

struct TumblingOptions {
  /// Where windows begin, from the beginning of 1970.
  std::chrono::microseconds offset = {};
  /// How much earlier than the greatest time a row may still come. None: times close nothing.
  std::optional<std::chrono::microseconds> lateness = {};
  WindowEmit emit = WindowEmit::at_once;
  /// Closes by the clock too, so often.
  std::optional<std::chrono::microseconds> tick_period = {};
};

/// Windows one behind the other: `tumbling(col("at"), 5min)`. Each has its start, not its end.
Window tumbling(data::Expression time, std::chrono::microseconds size,
                const TumblingOptions& options = {});

struct HoppingOptions {
  std::chrono::microseconds size = {};
  /// From the start of a window to that of the next. More than `size`: rows between two windows are
  /// in none. At most 10'000 windows may have a row in common.
  std::chrono::microseconds hop = {};
  std::chrono::microseconds offset = {};
  std::optional<std::chrono::microseconds> lateness = {};
  WindowEmit emit = WindowEmit::at_once;
  std::optional<std::chrono::microseconds> tick_period = {};
};

/// Windows that overlap: `hopping(col("at"), {.size = 5min, .hop = 1min})`.
Window hopping(data::Expression time, const HoppingOptions& options);

struct WindowGroups {
  /// Columns whose every combination of values has windows of its own. They close together.
  std::vector<std::string> per = {};
  std::optional<std::chrono::microseconds> lateness = {};
  WindowEmit emit = WindowEmit::at_once;
  std::optional<std::chrono::microseconds> tick_period = {};
};

/// Rows with less than `gap` from each to the next: `session(col("at"), 30min, {.per = {"user"}})`.
/// From the first time to `gap` behind the last. Sessions merge and split as rows come and go; a
/// change costs as much as the sessions it is in or next to have rows.
Window session(data::Expression time, std::chrono::microseconds gap, WindowGroups groups = {});

/// The first `rows` rows, the next ones, and so on, ordered by a value of any type and then by all
/// columns. From the first to the last value of the window, which may be the same for two windows
/// if it is not unique. A change costs as much as the rows from its window on.
Window tumbling_rows(data::Expression order, std::uint64_t rows, WindowGroups groups = {});

struct HoppingRowsOptions {
  std::uint64_t rows = 0;
  /// More than `rows`: rows between two windows are in none. At most 10'000 windows may have a row
  /// in common.
  std::uint64_t hop = 0;
};

/// The first `rows` rows, as many without the first `hop`, and so on, ordered as by
/// `tumbling_rows`: `hopping_rows(col("at"), {.rows = 100, .hop = 10})`. Towards the end of the
/// rows windows are shorter. A change costs as much as the rows from its first window on.
Window hopping_rows(data::Expression order, const HoppingRowsOptions& options,
                    WindowGroups groups = {});

/// For each time that a row has, all rows of the `size` before it and of that time: from
/// `time - size` to `time`, both in it, as in SQL `range between ... preceding and current row`.
Window rolling(data::Expression time, std::chrono::microseconds size, WindowGroups groups = {});

/// The rows of the last `size`, whenever they become others: for each time at which a row comes
/// into the window or leaves it. From `time - size`, which is not in it, to `time`, which is.
Window sliding(data::Expression time, std::chrono::microseconds size, WindowGroups groups = {});

/// For each row, itself and the `preceding` rows before it, ordered as by `tumbling_rows`, as in
/// SQL `rows between ... preceding and current row`; at most 10'000 of them. Two windows have the
/// same start and end if their values have: order by what is unique to tell them apart.
Window rolling_rows(data::Expression order, std::uint64_t preceding, WindowGroups groups = {});

}  // namespace weir::flow::operators
