#pragma once

#include <weir/telemetry/w3c.hpp>

namespace weir::telemetry::internal {

/// Adds to `malformed_headers`.
void count_malformed(PropagationHeader header) noexcept;

}  // namespace weir::telemetry::internal
