#include <weir/telemetry/observer.hpp>

#include <mutex>

#include <weir/telemetry/internal/instrument_state.hpp>
#include <weir/telemetry/internal/observed_points.hpp>

namespace weir::telemetry {

void Observer::report(double value, Attributes attributes) {
  points_->add(value, internal::normalised(std::move(attributes)));
}

void Observation::remove() noexcept {
  const std::shared_ptr<internal::Callback> callback = std::move(callback_);
  if (!callback) return;
  const std::lock_guard lock(callback->mutex);
  callback->is_removed = true;
  // One that lets itself go still runs, and is destroyed by whoever runs it.
  if (!callback->is_running) callback->function = nullptr;
}

}  // namespace weir::telemetry
