#pragma once

#include <string>

namespace weir::telemetry::otel {

/// Counts a failure to export, and writes a line about it unless one was written just before.
void complain(const std::string& message) noexcept;

/// Makes the OpenTelemetry library complain here too, unless the program already handles what it
/// says about itself.
void take_library_complaints();

}  // namespace weir::telemetry::otel
