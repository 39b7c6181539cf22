#pragma once

#include <weir/storage/engine/engine.hpp>

namespace weir::telemetry {
class Logger;
}

namespace weir::storage::internal {

/// Writes a line for what happens below the store: flushes and merges for those who look closely,
/// stalls as warnings, failures as errors.
class StoreEvents final : public engine::EventSink {
 public:
  explicit StoreEvents(telemetry::Logger& logger) noexcept : logger_(logger) {}

  void on_event(const engine::Event& event) override;

 private:
  telemetry::Logger& logger_;
};

}  // namespace weir::storage::internal
