#pragma once

#include <string>

#include <weir/telemetry/options.hpp>

namespace weir::telemetry::otel {

/// The text of a PEM file; empty for an empty path. Throws `std::invalid_argument` that names the
/// file if it cannot be read or is none.
std::string read_pem(const std::string& path);

/// Throws likewise for the first of the signal's files that is not there, or if it has a client's
/// certificate without its key.
void check_pem_files(const ExportOptions& options);

}  // namespace weir::telemetry::otel
