#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <weir/runtime/clock.hpp>
#include <weir/storage/postgres/internal/pool_core.hpp>
#include <weir/telemetry/instrument.hpp>
#include <weir/telemetry/observer.hpp>

namespace weir::telemetry {
class Telemetry;
}

namespace weir::storage::postgres::internal {

/// The figures of a pool. Without telemetry it does nothing.
class PoolMetrics {
 public:
  PoolMetrics(telemetry::Telemetry* telemetry, const std::string& name,
              const std::shared_ptr<PoolStatus>& status);

  /// A call has ended.
  void record(Duration duration, const Unit::Outcome& outcome) const;

 private:
  telemetry::Histogram::Series succeeded_;
  std::array<telemetry::Histogram::Series, 14> failed_;  // by code; first: not of this module
  std::vector<telemetry::Observation> observations_;
};

}  // namespace weir::storage::postgres::internal
