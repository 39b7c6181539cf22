#include <weir/flow/view/internal/flow_metrics.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <weir/telemetry/meter.hpp>

namespace weir::flow::view::internal {
namespace {

using telemetry::Observer;

double state_bytes(const FlowBoard& board) {
  double sum = 0;
  for (const auto& [id, status] : board.all())
    sum += static_cast<double>(status.counts.state_bytes);
  return sum;
}

/// Upper bounds for what takes some microseconds to some seconds.
std::vector<double> cycle_bounds() {
  return {1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2,
          2e-2, 5e-2, 1e-1, 2e-1, 5e-1, 1,    2,    5,    10};
}

}  // namespace

FlowMetrics::FlowMetrics(std::shared_ptr<const FlowBoard> board, const storage::Store* store,
                         telemetry::Meter& meter)
    : cycle_duration_(meter.histogram("weir.flow.cycle.duration",
                                      {.unit = "s",
                                       .description = "From changes to the commit of views.",
                                       .bounds = cycle_bounds()})) {
  observations_.push_back(meter.observe_gauge(
      "weir.flow.lag", {.unit = "{version}", .description = "Versions that views have not seen."},
      [board, store](Observer& observer) {
        const auto newest = store->version().number;
        const auto seen = board->position().number;
        observer.report(newest > seen ? static_cast<double>(newest - seen) : 0);
      }));
  observations_.push_back(meter.observe_counter(
      "weir.flow.cycles", {.unit = "{cycle}", .description = "Cycles that were committed."},
      [board](Observer& observer) { observer.report(static_cast<double>(board->cycles())); }));
  observations_.push_back(meter.observe_gauge(
      "weir.flow.stopped",
      {.unit = "1", .description = "Whether views go no further, as the store has failed."},
      [board](Observer& observer) {
        const bool is_stopped =
            board->stopped(ViewUpdate::deferred) || board->stopped(ViewUpdate::transactional);
        observer.report(is_stopped ? 1 : 0);
      }));
  observe_views(board, meter);
  observe_backfill(board, meter);
  observe_counts(board, meter);
}

void FlowMetrics::observe_views(const std::shared_ptr<const FlowBoard>& board,
                                telemetry::Meter& meter) {
  observations_.push_back(meter.observe_up_down_counter(
      "weir.flow.views", {.unit = "{view}", .description = "Views, by what they are doing."},
      [board](Observer& observer) {
        std::map<std::string, double> phases;
        for (const auto& [id, status] : board->all()) ++phases[to_string(status.phase)];
        for (const auto& [phase, views] : phases) observer.report(views, {{"weir.phase", phase}});
      }));
  observations_.push_back(meter.observe_gauge(
      "weir.flow.view.lag",
      {.unit = "{version}", .description = "Versions that a view is behind the others."},
      [board](Observer& observer) {
        const auto position = board->position().number;
        for (const auto& [id, status] : board->all()) {
          if (!status.is_behind()) continue;
          observer.report(static_cast<double>(position - status.position.number),
                          {{"weir.view", status.name}});
        }
      }));
}

/// Of views that are new, as far as it is known.
void FlowMetrics::observe_backfill(const std::shared_ptr<const FlowBoard>& board,
                                   telemetry::Meter& meter) {
  using Figure = std::optional<double> (*)(const ViewStatus& status);
  const auto add = [&](const char* name, telemetry::InstrumentOptions options, Figure figure) {
    observations_.push_back(meter.observe_gauge(name, options, [board, figure](Observer& observer) {
      for (const auto& [id, status] : board->all()) {
        if (status.phase != ViewPhase::backfilling) continue;
        if (const auto value = figure(status))
          observer.report(*value, {{"weir.view", status.name}});
      }
    }));
  };
  add("weir.flow.backfill.rows_taken",
      {.unit = "{row}", .description = "Rows that a new view has taken."},
      [](const ViewStatus& status) {
        return std::optional(static_cast<double>(status.rows_taken));
      });
  add("weir.flow.backfill.rows_expected",
      {.unit = "{row}", .description = "Rows that a new view will have taken, about."},
      [](const ViewStatus& status) {
        return status.rows_total > 0 ? std::optional(static_cast<double>(status.rows_total))
                                     : std::nullopt;
      });
  add("weir.flow.backfill.rate",
      {.unit = "{row}/s", .description = "Rows that a new view takes in a second."},
      [](const ViewStatus& status) {
        return status.rows_per_second > 0 ? std::optional(status.rows_per_second) : std::nullopt;
      });
  add("weir.flow.backfill.time_left",
      {.unit = "s", .description = "How long a new view will take rows, about."},
      [](const ViewStatus& status) -> std::optional<double> {
        if (!status.time_left) return std::nullopt;
        return std::chrono::duration<double>(*status.time_left).count();
      });
}

void FlowMetrics::observe_counts(const std::shared_ptr<const FlowBoard>& board,
                                 telemetry::Meter& meter) {
  const auto add = [&](const char* name, telemetry::InstrumentOptions options,
                       std::uint64_t ViewTotals::* member) {
    observations_.push_back(
        meter.observe_counter(name, options, [board, member](Observer& observer) {
          observer.report(static_cast<double>(board->totals().*member));
        }));
  };
  add("weir.flow.rows.in", {.unit = "{row}", .description = "Changes that views were given."},
      &ViewTotals::rows_in);
  add("weir.flow.rows.out", {.unit = "{row}", .description = "Changes of rows of views."},
      &ViewTotals::rows_out);
  add("weir.flow.row_errors", {.unit = "{row}", .description = "Rows that cannot be computed."},
      &ViewTotals::row_errors);
  add("weir.flow.late_rows", {.unit = "{row}", .description = "Rows that came too late."},
      &ViewTotals::late_rows);
  add("weir.flow.failures", {.unit = "{failure}", .description = "Views that failed in a cycle."},
      &ViewTotals::failures);
  add("weir.flow.backfill.rows",
      {.unit = "{row}", .description = "Rows taken that were there before a view."},
      &ViewTotals::backfill_rows);
  observations_.push_back(meter.observe_up_down_counter(
      "weir.flow.state.size", {.unit = "By", .description = "State of views in memory."},
      [board](Observer& observer) { observer.report(state_bytes(*board)); }));
}

}  // namespace weir::flow::view::internal
