#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <weir/telemetry/attribute.hpp>
#include <weir/telemetry/span_record.hpp>

namespace weir::telemetry {

/// What has been measured under one set of attributes since the process started.
struct SumPoint {
  double value = 0;
};
struct GaugePoint {
  double value = 0;
};
struct HistogramPoint {
  std::vector<double> bounds;          // upper, inclusive, ascending
  std::vector<std::uint64_t> buckets;  // one more than bounds
  std::uint64_t count = 0;
  double sum = 0;
  double min = 0;  // of a histogram that is not empty
  double max = 0;
};

struct MetricPoint {
  Attributes attributes;
  std::variant<SumPoint, GaugePoint, HistogramPoint> value;
};

/// One instrument and its points at one time. All points are of the same alternative.
struct MetricRecord {
  std::string name;         // as in OpenTelemetry: `weir.actor.messages`
  std::string description;  // one sentence
  std::string unit;         // UCUM: `s`, `By`, `{message}`
  bool is_monotonic = false;
  WallTime begin = 0;  // of the sums and histograms
  WallTime time = 0;
  std::vector<MetricPoint> points;
};

}  // namespace weir::telemetry
