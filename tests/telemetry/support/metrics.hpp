#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <weir/telemetry/meter.hpp>

namespace weir::telemetry::testing {

inline const MetricRecord* find_record(const std::vector<MetricRecord>& records,
                                       std::string_view name) {
  const auto found = std::ranges::find(records, name, &MetricRecord::name);
  return found == records.end() ? nullptr : &*found;
}

/// The points of one instrument at this moment; none if there is no such instrument.
inline std::vector<MetricPoint> points_of(Meter& meter, std::string_view name) {
  const std::vector<MetricRecord> records = meter.collect(0);
  const MetricRecord* record = find_record(records, name);
  return record ? record->points : std::vector<MetricPoint>();
}

/// The point with exactly these attributes, of which the test may be sure.
template <class Point>
Point point_of(Meter& meter, std::string_view name, const Attributes& attributes = {}) {
  for (const MetricPoint& point : points_of(meter, name)) {
    if (point.attributes == attributes) return std::get<Point>(point.value);
  }
  ADD_FAILURE() << name << " has no such point";
  return {};
}

inline double sum_of(Meter& meter, std::string_view name, const Attributes& attributes = {}) {
  return point_of<SumPoint>(meter, name, attributes).value;
}

}  // namespace weir::telemetry::testing
