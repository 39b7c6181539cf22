#include <weir/telemetry/instrument.hpp>

#include <utility>

namespace weir::telemetry {

Counter::Series Counter::with(Attributes attributes) const {
  return state_ ? Series(state_->series(std::move(attributes))) : Series();
}

UpDownCounter::Series UpDownCounter::with(Attributes attributes) const {
  return state_ ? Series(state_->series(std::move(attributes))) : Series();
}

Gauge::Series Gauge::with(Attributes attributes) const {
  return state_ ? Series(state_->series(std::move(attributes))) : Series();
}

Histogram::Series Histogram::with(Attributes attributes) const {
  return state_ ? Series(state_->layout(), state_->series(std::move(attributes))) : Series();
}

}  // namespace weir::telemetry
