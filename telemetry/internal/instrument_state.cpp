#include <weir/telemetry/internal/instrument_state.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <weir/telemetry/internal/observed_points.hpp>
#include <weir/telemetry/observer.hpp>

namespace weir::telemetry::internal {
namespace {

std::vector<std::uint64_t> first_row(const InstrumentDescription& description) {
  if (description.kind == InstrumentKind::gauge) return {gauge_unset};
  if (description.kind != InstrumentKind::histogram) return {0};
  std::vector<std::uint64_t> row(bucket_column + description.bounds.size() + 1, 0);
  row[min_column] = to_bits(std::numeric_limits<double>::infinity());
  row[max_column] = to_bits(-std::numeric_limits<double>::infinity());
  return row;
}

// A gauge is its last value, whoever set it: there is nothing to add up.
std::size_t rows_for(InstrumentKind kind) noexcept {
  return kind == InstrumentKind::gauge ? 1 : slot_count();
}

bool is_observed(InstrumentKind kind) noexcept { return kind >= InstrumentKind::observed_counter; }

}  // namespace

const char* to_string(InstrumentKind kind) noexcept {
  switch (kind) {
    case InstrumentKind::counter: return "counter";
    case InstrumentKind::up_down_counter: return "up-down counter";
    case InstrumentKind::gauge: return "gauge";
    case InstrumentKind::histogram: return "histogram";
    case InstrumentKind::observed_counter: return "observed counter";
    case InstrumentKind::observed_up_down_counter: return "observed up-down counter";
    case InstrumentKind::observed_gauge: return "observed gauge";
  }
  return "?";
}

InstrumentState::InstrumentState(InstrumentDescription description, std::size_t series_max)
    : description_(std::move(description)), series_max_(series_max), unlabelled_({}, make_cells()) {
  layout_ = {description_.bounds, unlabelled_.cells.stride(), &problems_};
}

CellBlock InstrumentState::make_cells() const {
  return {rows_for(description_.kind), first_row(description_)};
}

Cell* InstrumentState::series(Attributes attributes) {
  if (attributes.empty()) return unlabelled();
  attributes = normalised(std::move(attributes));
  const std::string key = key_of(attributes);
  const std::lock_guard lock(mutex_);
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    return found->second->cells.data();
  }
  if (by_key_.size() < series_max_) {
    SeriesState& added = add_series(std::move(attributes));
    by_key_.emplace(key, &added);
    return added.cells.data();
  }
  problems_.overflow.fetch_add(1, std::memory_order_relaxed);
  if (!overflow_) overflow_ = &add_series(overflow_attributes());
  return overflow_->cells.data();
}

SeriesState& InstrumentState::add_series(Attributes attributes) {
  SeriesState& added = series_.emplace_back(std::move(attributes), make_cells());
  added.is_shown.store(true, std::memory_order_relaxed);
  return added;
}

void InstrumentState::add_callback(std::shared_ptr<Callback> callback) {
  const std::lock_guard lock(mutex_);
  std::erase_if(callbacks_, [](const auto& other) { return other->is_removed.load(); });
  callbacks_.push_back(std::move(callback));
}

std::vector<MetricPoint> InstrumentState::collect() {
  return is_observed(description_.kind) ? collect_observed() : collect_recorded();
}

std::vector<SeriesState*> InstrumentState::all_series() {
  const std::lock_guard lock(mutex_);
  std::vector<SeriesState*> all;
  all.reserve(series_.size() + 1);
  all.push_back(&unlabelled_);
  for (SeriesState& series : series_) all.push_back(&series);
  return all;
}

std::vector<MetricPoint> InstrumentState::collect_recorded() {
  std::vector<MetricPoint> points;
  const std::vector<SeriesState*> all = all_series();
  for (SeriesState* series : all) {
    std::optional<MetricPoint> point = read_point(description_, *series);
    if (!point) continue;
    // Who uses attributes does not want a zero without them beside; who uses none wants his zero.
    if (all.size() > 1 && !series->is_shown.load(std::memory_order_relaxed) && is_zero(*point)) {
      continue;
    }
    if (!is_zero(*point)) series->is_shown.store(true, std::memory_order_relaxed);
    points.push_back(*std::move(point));
  }
  return points;
}

std::vector<std::shared_ptr<Callback>> InstrumentState::callbacks() {
  const std::lock_guard lock(mutex_);
  std::erase_if(callbacks_, [](const auto& callback) { return callback->is_removed.load(); });
  return callbacks_;
}

std::vector<MetricPoint> InstrumentState::collect_observed() {
  ObservedPoints points(description_.kind, series_max_);
  for (const std::shared_ptr<Callback>& callback : callbacks()) {
    const std::lock_guard lock(callback->mutex);
    // Running already: the callback itself collects.
    if (callback->is_removed || callback->is_running) continue;
    ObservedPoints reported(description_.kind, series_max_);
    Observer observer(reported);
    callback->is_running = true;
    try {
      callback->function(observer);
      points.merge(std::move(reported));
    } catch (...) {
      problems_.callback.fetch_add(1, std::memory_order_relaxed);
    }
    callback->is_running = false;
    // It let its own handle go, and could not be destroyed while it ran.
    if (callback->is_removed) callback->function = nullptr;
  }
  problems_.overflow.fetch_add(points.overflowed(), std::memory_order_relaxed);
  return std::move(points).take();
}

}  // namespace weir::telemetry::internal
