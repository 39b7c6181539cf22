#pragma once

#include <functional>
#include <vector>

#include <weir/storage/engine/engine.hpp>
#include <weir/telemetry/observer.hpp>

namespace weir::telemetry {
class Meter;
}

namespace weir::storage::internal {

struct StoreCore;

/// The figures of a store, asked for whenever metrics are collected. Ends before the store.
class StoreMetrics {
 public:
  StoreMetrics(const StoreCore& core, telemetry::Meter& meter);

 private:
  using Figure = std::function<double(const StoreCore&, const engine::Statistics&)>;
  enum class Kind : std::uint8_t { counter, up_down_counter, gauge };
  struct Row {
    Kind kind;
    const char* name;
    const char* unit;
    const char* description;
    Figure figure;
  };
  static std::vector<Row> rows();

  std::vector<telemetry::Observation> observations_;
};

}  // namespace weir::storage::internal
