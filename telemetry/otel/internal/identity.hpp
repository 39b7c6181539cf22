#pragma once

#include <memory>

#include <weir/telemetry/otel/internal/sdk.hpp>

namespace weir::telemetry::otel {

/// Who sends: what every record refers to. Records hold pointers to it, so it outlives them.
struct Identity {
  std::shared_ptr<const sdk::resource::Resource> resource;
  std::shared_ptr<const sdk::instrumentationscope::InstrumentationScope> scope;
};

Identity make_identity(const TelemetryOptions& options);

}  // namespace weir::telemetry::otel
