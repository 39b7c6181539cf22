#pragma once

#include <memory>
#include <vector>

#include <weir/flow/view/internal/flow_board.hpp>
#include <weir/storage/store.hpp>
#include <weir/telemetry/instrument.hpp>
#include <weir/telemetry/observer.hpp>

namespace weir::telemetry {
class Meter;
}

namespace weir::flow::view::internal {

/// The figures of views, asked for whenever metrics are collected. Ends before the store.
class FlowMetrics {
 public:
  FlowMetrics(std::shared_ptr<const FlowBoard> board, const storage::Store* store,
              telemetry::Meter& meter);

  telemetry::Histogram* cycle_duration() noexcept { return &cycle_duration_; }

 private:
  void observe_views(const std::shared_ptr<const FlowBoard>& board, telemetry::Meter& meter);
  void observe_backfill(const std::shared_ptr<const FlowBoard>& board, telemetry::Meter& meter);
  void observe_counts(const std::shared_ptr<const FlowBoard>& board, telemetry::Meter& meter);

  telemetry::Histogram cycle_duration_;
  std::vector<telemetry::Observation> observations_;
};

}  // namespace weir::flow::view::internal
