#pragma once

#include <string>

#include <weir/telemetry/otel/internal/sdk.hpp>

namespace weir::telemetry::otel {

/// A message in OTLP's form of JSON, on one line: as protobuf's own, but with ids as hexadecimal
/// text and enumerators as numbers.
std::string to_json(const google::protobuf::Message& message);

}  // namespace weir::telemetry::otel
