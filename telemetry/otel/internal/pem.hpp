#pragma once

#include <string>

#include <weir/telemetry/options.hpp>

namespace weir::telemetry::otel {

/// The text of a PEM file; empty for an empty path. Throws `std::invalid_argument` that names the
/// file if it cannot be read or is none.
std::string read_pem(const std::string& path);

/// Throws `std::invalid_argument` that names the option, its value and the accepted form, for the
/// first of the signal's files that is not there, or if a client's certificate and its key are not
/// both given.
void check_pem_files(const std::string& signal, const ExportOptions& options);

}  // namespace weir::telemetry::otel
