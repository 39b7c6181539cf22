#include <weir/telemetry/meter.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <weir/telemetry/internal/character.hpp>
#include <weir/telemetry/internal/text.hpp>

namespace weir::telemetry {
namespace {

using internal::InstrumentDescription;
using internal::InstrumentKind;
using internal::InstrumentState;

constexpr std::size_t name_bytes_max = 255;
constexpr std::size_t unit_bytes_max = 63;
constexpr std::size_t bounds_max = 512;

// Not those of the C library, which depend on the locale.
bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name_character(char c) noexcept {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' || c == '/';
}
bool is_graphic(char c) noexcept { return c > ' ' && c <= '~'; }

std::string lower_case(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

void check_name(std::string_view name) {
  if (!name.empty() && name.size() <= name_bytes_max && is_letter(name.front()) &&
      std::ranges::all_of(name, is_name_character)) {
    return;
  }
  throw std::invalid_argument("metric name " + internal::in_quotes(name) +
                              ": begin with a letter, then at most 254 letters, digits or ._-/");
}

void check_unit(std::string_view name, std::string_view unit) {
  if (unit.size() <= unit_bytes_max && std::ranges::all_of(unit, is_graphic)) return;
  throw std::invalid_argument("metric '" + std::string(name) + "': unit " +
                              internal::in_quotes(unit) +
                              ": at most 63 printable ASCII characters, such as s, By, {message}");
}

void check_bounds(std::string_view name, const std::vector<double>& bounds) {
  const auto is_finite = [](double bound) { return std::isfinite(bound); };
  const auto descends = [](double a, double b) { return a >= b; };
  if (bounds.size() <= bounds_max && std::ranges::all_of(bounds, is_finite) &&
      std::ranges::adjacent_find(bounds, descends) == bounds.end()) {
    return;
  }
  throw std::invalid_argument("metric '" + std::string(name) + "': bounds must be at most " +
                              std::to_string(bounds_max) + ", finite and ascending");
}

std::string described(const InstrumentDescription& description) {
  std::string text =
      "a " + std::string(to_string(description.kind)) + " in '" + description.unit + "'";
  if (description.kind != InstrumentKind::histogram) return text;
  text += " with bounds";
  for (const double bound : description.bounds) text += ' ' + internal::number_text(bound);
  return text;
}

void check_same(const InstrumentDescription& known, const InstrumentDescription& wanted) {
  if (known.kind == wanted.kind && known.unit == wanted.unit && known.bounds == wanted.bounds) {
    return;
  }
  throw std::invalid_argument("metric '" + wanted.name + "' is " + described(known) + ", not " +
                              described(wanted));
}

InstrumentDescription describe(std::string_view name, const InstrumentOptions& options,
                               InstrumentKind kind) {
  check_name(name);
  check_unit(name, options.unit);
  return {std::string(name),
          Attribute::bounded(options.description),
          std::string(options.unit),
          kind,
          {}};
}

bool is_monotonic(InstrumentKind kind) noexcept {
  return kind == InstrumentKind::counter || kind == InstrumentKind::observed_counter;
}

void report_count(Observer& observer, const std::string& name, const char* problem,
                  const std::atomic<std::uint64_t>& count) {
  const std::uint64_t value = count.load(std::memory_order_relaxed);
  if (value == 0) return;
  observer.report(static_cast<double>(value), {{"metric.name", name}, {"problem", problem}});
}

}  // namespace

std::vector<double> duration_bounds() {
  return {0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10};
}

Meter::Meter(MeterOptions options) : options_(options) {
  problems_ = observe_counter(
      "weir.telemetry.metric.problems",
      {.unit = "{problem}", .description = "Measurements that could not be kept as they are."},
      [this](Observer& observer) { report_problems(observer); });
}

Meter::~Meter() { problems_.remove(); }

Counter Meter::counter(std::string_view name, InstrumentOptions options) {
  return Counter(instrument(describe(name, options, InstrumentKind::counter)));
}

UpDownCounter Meter::up_down_counter(std::string_view name, InstrumentOptions options) {
  return UpDownCounter(instrument(describe(name, options, InstrumentKind::up_down_counter)));
}

Gauge Meter::gauge(std::string_view name, InstrumentOptions options) {
  return Gauge(instrument(describe(name, options, InstrumentKind::gauge)));
}

Histogram Meter::histogram(std::string_view name, HistogramOptions options) {
  InstrumentDescription description =
      describe(name, {options.unit, options.description}, InstrumentKind::histogram);
  check_bounds(name, options.bounds);
  description.bounds = std::move(options.bounds);
  return Histogram(instrument(std::move(description)));
}

Observation Meter::observe_counter(std::string_view name, InstrumentOptions options,
                                   ObserverCallback callback) {
  return observe(describe(name, options, InstrumentKind::observed_counter), std::move(callback));
}

Observation Meter::observe_up_down_counter(std::string_view name, InstrumentOptions options,
                                           ObserverCallback callback) {
  return observe(describe(name, options, InstrumentKind::observed_up_down_counter),
                 std::move(callback));
}

Observation Meter::observe_gauge(std::string_view name, InstrumentOptions options,
                                 ObserverCallback callback) {
  return observe(describe(name, options, InstrumentKind::observed_gauge), std::move(callback));
}

std::vector<MetricRecord> Meter::collect(WallTime now) {
  std::vector<MetricRecord> records;
  for (InstrumentState* state : instruments()) {
    std::vector<MetricPoint> points = state->collect();
    if (points.empty()) continue;
    const InstrumentDescription& about = state->description();
    records.push_back({.name = about.name,
                       .description = about.text,
                       .unit = about.unit,
                       .is_monotonic = is_monotonic(about.kind),
                       .begin = options_.begin,
                       .time = now,
                       .points = std::move(points)});
  }
  return records;
}

InstrumentState& Meter::instrument(InstrumentDescription description) {
  std::string key = lower_case(description.name);
  const std::lock_guard lock(mutex_);
  if (const auto found = by_name_.find(key); found != by_name_.end()) {
    check_same(found->second->description(), description);
    return *found->second;
  }
  if (instruments_.size() >= options_.instruments_max) {
    throw std::length_error("metric '" + description.name + "': there are " +
                            std::to_string(instruments_.size()) +
                            " instruments already; put what varies into attributes");
  }
  instruments_.push_back(
      std::make_unique<InstrumentState>(std::move(description), options_.series_max));
  by_name_.emplace(std::move(key), instruments_.back().get());
  return *instruments_.back();
}

Observation Meter::observe(InstrumentDescription description, ObserverCallback callback) {
  if (!callback) {
    throw std::invalid_argument("metric '" + description.name + "': the callback is empty");
  }
  auto kept = std::make_shared<internal::Callback>();
  kept->function = std::move(callback);
  instrument(std::move(description)).add_callback(kept);
  return Observation(std::move(kept));
}

std::vector<InstrumentState*> Meter::instruments() {
  const std::lock_guard lock(mutex_);
  std::vector<InstrumentState*> all;
  all.reserve(instruments_.size());
  for (const auto& state : instruments_) all.push_back(state.get());
  return all;
}

void Meter::report_problems(Observer& observer) {
  for (InstrumentState* state : instruments()) {
    const std::string& name = state->description().name;
    report_count(observer, name, "overflow", state->problems().overflow);
    report_count(observer, name, "not_finite", state->problems().not_finite);
    report_count(observer, name, "callback_threw", state->problems().callback);
  }
}

}  // namespace weir::telemetry
