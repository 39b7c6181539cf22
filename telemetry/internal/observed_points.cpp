#include <weir/telemetry/internal/observed_points.hpp>

#include <utility>

namespace weir::telemetry::internal {

void ObservedPoints::add(double value, Attributes attributes) {
  MetricPoint& point = points_[place_of(std::move(attributes))];
  if (is_gauge_) {
    point.value = GaugePoint{value};
  } else {
    std::get<SumPoint>(point.value).value += value;
  }
}

void ObservedPoints::merge(ObservedPoints&& other) {
  overflowed_ += other.overflowed_;
  for (MetricPoint& point : other.points_) {
    const double value =
        is_gauge_ ? std::get<GaugePoint>(point.value).value : std::get<SumPoint>(point.value).value;
    add(value, std::move(point.attributes));
  }
}

std::size_t ObservedPoints::place_of(Attributes attributes) {
  std::string key = key_of(attributes);
  auto found = by_key_.find(key);
  if (found == by_key_.end() && by_key_.size() >= series_max_) {
    ++overflowed_;
    attributes = overflow_attributes();
    key = key_of(attributes);
    found = by_key_.find(key);
  }
  if (found != by_key_.end()) return found->second;
  const std::size_t place = points_.size();
  MetricPoint& added = points_.emplace_back();
  added.attributes = std::move(attributes);
  if (is_gauge_) added.value = GaugePoint{};
  by_key_.emplace(std::move(key), place);
  return place;
}

}  // namespace weir::telemetry::internal
