#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>

#include <weir/telemetry/telemetry.hpp>

namespace weir::telemetry::otel {

/// What a system has to tell a collector that takes nothing, of every signal.
class UnreadTelemetry {
 public:
  explicit UnreadTelemetry(Telemetry& telemetry) : telemetry_(telemetry) {}

  /// Options in which more lines than one batch has are written, and metrics soon.
  static void prepare(TelemetryOptions& options) {
    options.span_batches = {
        .queue_max = 64, .batch_max = 16, .delay = std::chrono::milliseconds(1)};
    options.log_batches = options.span_batches;
    options.log_lines_per_second = 0;
    options.metric_interval = std::chrono::milliseconds(1);
  }
  /// Comes back when there is something of logs and metrics that is exported, or lost, whatever the
  /// threads that export have done so far.
  void tell() {
    for (std::size_t line = 0; line <= telemetry_.options().log_batches.queue_max; ++line)
      telemetry_.logger().info("visited");
    is_collected_.wait(false);
  }
  /// Nothing of any signal has arrived, and none of it is forgotten.
  void expect_none_was_taken() const {
    for (const ExportCounts& counts :
         {telemetry_.span_counts(), telemetry_.log_counts(), telemetry_.metric_counts()}) {
      EXPECT_EQ(counts.exported, 0u);
      EXPECT_GT(counts.failed + counts.dropped, 0u);
    }
  }

 private:
  Telemetry& telemetry_;
  std::atomic<bool> is_collected_ = false;
  Observation collected_ =
      telemetry_.meter().observe_gauge("weir.test.collected", {}, [this](Observer& observer) {
        observer.report(1);
        is_collected_ = true;
        is_collected_.notify_one();
      });
};

}  // namespace weir::telemetry::otel
