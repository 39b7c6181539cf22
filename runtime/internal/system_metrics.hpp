#pragma once

#include <vector>

#include <weir/telemetry/observer.hpp>

namespace weir::telemetry {
class Meter;
}

namespace weir::internal {

struct Core;

/// What a system of actors tells about itself when somebody collects metrics. Counting costs the
/// actors nothing beyond what introspection keeps anyway.
class SystemMetrics {
 public:
  SystemMetrics(Core& core, telemetry::Meter& meter);

 private:
  void observe_actors(telemetry::Meter& meter);
  void observe_messages(telemetry::Meter& meter);
  void observe_threads(telemetry::Meter& meter);

  Core& core_;
  std::vector<telemetry::Observation> observations_;
};

}  // namespace weir::internal
