#pragma once

#include <cstdint>
#include <string>

#include <weir/telemetry/attribute.hpp>
#include <weir/telemetry/span_record.hpp>

namespace weir::telemetry {

enum class Level : std::uint8_t { trace, debug, info, warning, error, fatal };

/// One log line, as data.
struct LogRecord {
  WallTime time = 0;
  Level level = Level::info;
  std::string message;
  Attributes attributes;
  TraceContext context;  // of the span it was written in, if any
  const char* file = "";
  std::uint32_t line = 0;
};

}  // namespace weir::telemetry
