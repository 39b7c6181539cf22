#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <weir/telemetry/attribute.hpp>

namespace weir::telemetry {

namespace internal {
class InstrumentState;
class ObservedPoints;
struct Callback;
}  // namespace internal

/// What a callback reports to, during the call only.
class Observer {
 public:
  /// The total since the beginning of a counter, the present value of a gauge. Sums that several
  /// reports or callbacks give for the same attributes are added up; of gauges the last one counts.
  void report(double value, Attributes attributes = {});

 private:
  friend class internal::InstrumentState;
  explicit Observer(internal::ObservedPoints& points) noexcept : points_(&points) {}

  internal::ObservedPoints* points_;
};

/// Runs while metrics are collected, on the thread that collects: short, and without waiting for
/// anything that may wait for that thread. What it throws is counted, and its report left out.
using ObserverCallback = std::function<void(Observer&)>;

/// Keeps a callback. When it goes, the callback has run for the last time: it waits for one that
/// runs on another thread. May outlive its meter.
class [[nodiscard]] Observation {
 public:
  Observation() noexcept = default;
  Observation(Observation&&) noexcept = default;
  Observation& operator=(Observation&& other) noexcept {
    if (this != &other) {
      remove();
      callback_ = std::move(other.callback_);
    }
    return *this;
  }
  ~Observation() { remove(); }

  void remove() noexcept;

 private:
  friend class Meter;
  explicit Observation(std::shared_ptr<internal::Callback> callback) noexcept
      : callback_(std::move(callback)) {}

  std::shared_ptr<internal::Callback> callback_;
};

}  // namespace weir::telemetry
