#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <weir/telemetry/internal/instrument_state.hpp>
#include <weir/telemetry/metric_record.hpp>

namespace weir::telemetry::internal {

/// The points of an observed instrument during one collection: one for each set of attributes, and
/// one for all beyond the limit.
class ObservedPoints {
 public:
  ObservedPoints(InstrumentKind kind, std::size_t series_max)
      : is_gauge_(kind == InstrumentKind::observed_gauge), series_max_(series_max) {}

  void add(double value, Attributes attributes);
  void merge(ObservedPoints&& other);

  std::uint64_t overflowed() const noexcept { return overflowed_; }
  std::vector<MetricPoint> take() && { return std::move(points_); }

 private:
  // Returns the index of the point, which it adds if need be.
  std::size_t place_of(Attributes attributes);

  const bool is_gauge_;
  const std::size_t series_max_;
  std::vector<MetricPoint> points_;
  std::unordered_map<std::string, std::size_t> by_key_;
  std::uint64_t overflowed_ = 0;
};

}  // namespace weir::telemetry::internal
