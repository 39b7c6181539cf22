#pragma once

#include <memory>
#include <vector>

#include <weir/flow/workflow/internal/engine_figures.hpp>
#include <weir/telemetry/instrument.hpp>
#include <weir/telemetry/observer.hpp>

namespace weir::telemetry {
class Meter;
}

namespace weir::flow::workflow::internal {

/// The figures of an engine, asked for whenever metrics are collected.
class EngineMetrics {
 public:
  EngineMetrics(std::shared_ptr<const EngineFigures> figures, telemetry::Meter& meter);

  /// How many records were written together.
  void record_commit(std::size_t records) const {
    commit_size_.record(static_cast<double>(records));
  }

 private:
  telemetry::Histogram commit_size_;
  std::vector<telemetry::Observation> observations_;
};

}  // namespace weir::flow::workflow::internal
