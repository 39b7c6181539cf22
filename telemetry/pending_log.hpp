#pragma once

#include <utility>

#include <weir/telemetry/batch_queue.hpp>
#include <weir/telemetry/log_record.hpp>

namespace weir::telemetry {

/// A log line on its way to an exporter.
class PendingLog final : public Queued<PendingLog> {
 public:
  explicit PendingLog(LogRecord record) : record_(std::move(record)) {}
  void move_to(LogRecord& record) { record = std::move(record_); }

 private:
  LogRecord record_;
};

}  // namespace weir::telemetry
