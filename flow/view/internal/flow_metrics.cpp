#include <weir/flow/view/internal/flow_metrics.hpp>

#include <map>
#include <string>
#include <utility>

#include <weir/telemetry/meter.hpp>

namespace weir::flow::view::internal {
namespace {

using telemetry::Observer;

/// The sum over all views.
template <class Member>
double total(const FlowBoard& board, Member member) {
  double sum = 0;
  for (const auto& [id, status] : board.all()) sum += static_cast<double>(status.counts.*member);
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
  observe_views(board, meter);
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

void FlowMetrics::observe_counts(const std::shared_ptr<const FlowBoard>& board,
                                 telemetry::Meter& meter) {
  const auto add = [&](const char* name, telemetry::InstrumentOptions options,
                       std::uint64_t ViewCounts::* member) {
    observations_.push_back(meter.observe_counter(
        name, options,
        [board, member](Observer& observer) { observer.report(total(*board, member)); }));
  };
  add("weir.flow.rows.in", {.unit = "{row}", .description = "Changes that views were given."},
      &ViewCounts::rows_in);
  add("weir.flow.rows.out", {.unit = "{row}", .description = "Changes of rows of views."},
      &ViewCounts::rows_out);
  add("weir.flow.row_errors", {.unit = "{row}", .description = "Rows that cannot be computed."},
      &ViewCounts::row_errors);
  add("weir.flow.late_rows", {.unit = "{row}", .description = "Rows that came too late."},
      &ViewCounts::late_rows);
  add("weir.flow.failures", {.unit = "{failure}", .description = "Views that failed in a cycle."},
      &ViewCounts::failures);
  add("weir.flow.backfill.rows",
      {.unit = "{row}", .description = "Rows taken that were there before a view."},
      &ViewCounts::backfill_rows);
  observations_.push_back(meter.observe_up_down_counter(
      "weir.flow.state.size", {.unit = "By", .description = "State of views in memory."},
      [board](Observer& observer) { observer.report(total(*board, &ViewCounts::state_bytes)); }));
}

}  // namespace weir::flow::view::internal
