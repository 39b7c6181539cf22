#pragma once

#include <cstdint>

#include <weir/telemetry/exporter.hpp>
#include <weir/telemetry/options.hpp>

namespace weir::telemetry::otel {

/// The exporters that the options ask for. Nothing is sent yet, and no collector has to be there.
///
/// `export_batch` returns when the batch was accepted or refused, and at the latest after
/// `ExportOptions::timeout`. Here `shut_down` may be called by another thread meanwhile: it gives
/// that call the time it was given itself, then makes it return false (but for the console's, which
/// ends when standard output has taken it). What is exported after `shut_down` is refused.
///
/// Throws `std::invalid_argument` that names the file if one cannot be opened, the option if it is
/// not the PEM file that it should be, or the header if gRPC does not take it.
Exporters make_exporters(const TelemetryOptions& options);

/// How many complaints exporters and the OpenTelemetry library have made in this process, such as
/// of a collector that could not be reached. Standard error gets a line about the first, and then
/// one every ten seconds at most.
std::uint64_t complaints() noexcept;

}  // namespace weir::telemetry::otel
