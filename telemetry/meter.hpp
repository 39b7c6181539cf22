#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <weir/telemetry/instrument.hpp>
#include <weir/telemetry/metric_record.hpp>
#include <weir/telemetry/observer.hpp>

namespace weir::telemetry {

struct MeterOptions {
  /// When counting began.
  WallTime begin = 0;
  /// Of one instrument, each with its own set of attributes. What comes after is counted together,
  /// under `otel.metric.overflow`.
  std::size_t series_max = 2'000;
  std::size_t instruments_max = 4'096;
};

struct InstrumentOptions {
  std::string_view unit = "";         // UCUM: `s`, `By`, `{message}`
  std::string_view description = "";  // one sentence
};

/// From five milliseconds to ten seconds, as OpenTelemetry recommends for durations in seconds.
std::vector<double> duration_bounds();

struct HistogramOptions {
  std::string_view unit = "s";
  std::string_view description = "";
  /// Upper, inclusive, ascending, finite.
  std::vector<double> bounds = duration_bounds();
};

/// Makes instruments and reads them. Usable from any thread; outlives its instruments' use.
///
/// A name begins with a letter and has at most 255 letters, digits, `.`, `_`, `-` and `/`; letters
/// that differ in case only are the same. The same name gives the same instrument, with the first
/// description. Throws `std::invalid_argument` for a name, unit or bounds that are malformed, or
/// when the name stands for an instrument of another kind, unit or bounds; `std::length_error` when
/// there are too many instruments.
///
/// What goes wrong while measuring shows in the counter `weir.telemetry.metric.problems`.
class Meter {
 public:
  explicit Meter(MeterOptions options = {});
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  Counter counter(std::string_view name, InstrumentOptions options = {});
  UpDownCounter up_down_counter(std::string_view name, InstrumentOptions options = {});
  Gauge gauge(std::string_view name, InstrumentOptions options = {});
  Histogram histogram(std::string_view name, HistogramOptions options = {});

  /// Instruments whose value is asked for when metrics are collected. One may have several
  /// callbacks, which report its points together.
  Observation observe_counter(std::string_view name, InstrumentOptions options,
                              ObserverCallback callback);
  Observation observe_up_down_counter(std::string_view name, InstrumentOptions options,
                                      ObserverCallback callback);
  Observation observe_gauge(std::string_view name, InstrumentOptions options,
                            ObserverCallback callback);

  /// Every instrument that has points, in the order in which they were made. Runs the callbacks.
  /// A value recorded meanwhile is in the result or will be in the next.
  std::vector<MetricRecord> collect(WallTime now);

 private:
  internal::InstrumentState& instrument(internal::InstrumentDescription description);
  Observation observe(internal::InstrumentDescription description, ObserverCallback callback);
  std::vector<internal::InstrumentState*> instruments();
  void report_problems(Observer& observer);

  const MeterOptions options_;

  std::mutex mutex_;
  // Guarded by mutex_; instruments stay until the meter goes.
  std::vector<std::unique_ptr<internal::InstrumentState>> instruments_;
  std::unordered_map<std::string, internal::InstrumentState*> by_name_;

  Observation problems_;
};

}  // namespace weir::telemetry
