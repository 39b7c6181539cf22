#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <weir/telemetry/internal/instrument_state.hpp>

namespace weir::telemetry::internal {
namespace {

void append_number(std::string& key, std::uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) key += static_cast<char>(number >> shift & 0xFFu);
}

void append_text(std::string& key, const std::string& text) {
  append_number(key, text.size());
  key += text;
}

void append_value(std::string& key, const AttributeValue& value) {
  key += static_cast<char>(value.index());
  if (const bool* flag = std::get_if<bool>(&value)) {
    append_number(key, *flag ? 1 : 0);
  } else if (const std::int64_t* number = std::get_if<std::int64_t>(&value)) {
    append_number(key, static_cast<std::uint64_t>(*number));
  } else if (const double* real = std::get_if<double>(&value)) {
    append_number(key, to_bits(*real));
  } else {
    append_text(key, std::get<std::string>(value));
  }
}

// The sum of doubles kept in one column.
double add_doubles(const CellBlock& cells, std::size_t column) noexcept {
  double sum = 0;
  for (std::size_t row = 0; row < cells.rows(); ++row) sum += to_double(cells.load(row, column));
  return sum;
}

HistogramPoint read_histogram(const std::vector<double>& bounds, const CellBlock& cells) {
  HistogramPoint point;
  point.bounds = bounds;
  point.buckets.resize(bounds.size() + 1);
  for (std::size_t i = 0; i < point.buckets.size(); ++i) {
    point.buckets[i] = cells.sum(bucket_column + i);
    point.count += point.buckets[i];
  }
  if (point.count == 0) return point;
  point.sum = add_doubles(cells, sum_column);
  point.min = std::numeric_limits<double>::infinity();
  point.max = -point.min;
  for (std::size_t row = 0; row < cells.rows(); ++row) {
    point.min = std::min(point.min, to_double(cells.load(row, min_column)));
    point.max = std::max(point.max, to_double(cells.load(row, max_column)));
  }
  return point;
}

// How many bounds are below the value. Comparing with each of a few takes less time than finding
// out which to compare with, and the same time for all values.
std::size_t bucket_of(const std::vector<double>& bounds, double value) noexcept {
  constexpr std::size_t few = 32;
  if (bounds.size() > few) {
    return static_cast<std::size_t>(std::ranges::lower_bound(bounds, value) - bounds.begin());
  }
  std::size_t below = 0;
  for (const double bound : bounds) below += bound < value ? 1 : 0;
  return below;
}

// Replaces the double in the cell by `change(old)`, unless that is the same.
template <class Change>
void update(Cell& cell, bool is_owned, Change change) noexcept {
  std::uint64_t old = cell.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t changed = to_bits(change(to_double(old)));
    if (changed == old) return;
    if (is_owned) return cell.store(changed, std::memory_order_relaxed);
    if (cell.compare_exchange_weak(old, changed, std::memory_order_relaxed)) return;
  }
}

}  // namespace

Attributes normalised(Attributes attributes) {
  Attributes sorted;
  sorted.reserve(attributes.size());
  for (Attribute& attribute : attributes) {
    const auto place = std::ranges::lower_bound(sorted, attribute.name, {}, &Attribute::name);
    if (place != sorted.end() && place->name == attribute.name) {
      place->value = std::move(attribute.value);
    } else {
      sorted.insert(place, std::move(attribute));
    }
  }
  return sorted;
}

std::string key_of(const Attributes& attributes) {
  std::string key;
  for (const Attribute& attribute : attributes) {
    append_text(key, attribute.name);
    append_value(key, attribute.value);
  }
  return key;
}

Attributes overflow_attributes() { return {{"otel.metric.overflow", true}}; }

std::optional<MetricPoint> read_point(const InstrumentDescription& description,
                                      const SeriesState& series) {
  MetricPoint point{series.attributes, {}};
  if (description.kind == InstrumentKind::histogram) {
    point.value = read_histogram(description.bounds, series.cells);
  } else if (description.kind == InstrumentKind::gauge) {
    const std::uint64_t bits = series.cells.load(0, 0);
    if (bits == gauge_unset) return std::nullopt;
    point.value = GaugePoint{to_double(bits)};
  } else if (description.kind == InstrumentKind::counter) {
    point.value = SumPoint{static_cast<double>(series.cells.sum(0))};
  } else {
    point.value = SumPoint{static_cast<double>(static_cast<std::int64_t>(series.cells.sum(0)))};
  }
  return point;
}

bool is_zero(const MetricPoint& point) noexcept {
  if (const auto* sum = std::get_if<SumPoint>(&point.value)) return sum->value == 0;
  if (const auto* histogram = std::get_if<HistogramPoint>(&point.value)) {
    return histogram->count == 0;
  }
  return false;
}

void record_in_slot(const HistogramLayout* layout, Cell* cells, double value,
                    std::uint64_t weight) noexcept {
  if (!cells || weight == 0) return;
  if (!std::isfinite(value)) {
    layout->problems->not_finite.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const Slot slot = current_slot();
  Cell* const row = cells + slot.index * layout->stride;
  const double amount = value * static_cast<double>(weight);
  update(row[sum_column], slot.is_owned, [&](double old) { return old + amount; });
  update(row[min_column], slot.is_owned, [&](double old) { return std::min(old, value); });
  update(row[max_column], slot.is_owned, [&](double old) { return std::max(old, value); });
  // Last, so that whoever sees the count also sees that there is a smallest and a largest value.
  add_to(row[bucket_column + bucket_of(layout->bounds, value)], weight, slot.is_owned);
}

}  // namespace weir::telemetry::internal
