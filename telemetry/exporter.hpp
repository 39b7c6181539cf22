#pragma once

#include <chrono>
#include <memory>
#include <span>

#include <weir/telemetry/log_record.hpp>
#include <weir/telemetry/metric_record.hpp>
#include <weir/telemetry/span_record.hpp>

namespace weir::telemetry {

/// Sends one kind of record somewhere.
template <class Record>
class Exporter {
 public:
  virtual ~Exporter() = default;

  /// False if the batch was not accepted. Called by one thread at a time, never by an actor; may
  /// block for as long as the options allow.
  [[nodiscard]] virtual bool export_batch(std::span<const Record> batch) = 0;
  /// Nothing more will come. Called while another thread may be inside `export_batch`: that must
  /// return by then.
  virtual void shut_down(std::chrono::milliseconds within) = 0;
};

/// Where the signals go; none is sent without an exporter.
struct Exporters {
  std::unique_ptr<Exporter<SpanRecord>> spans;
  std::unique_ptr<Exporter<MetricRecord>> metrics;
  std::unique_ptr<Exporter<LogRecord>> logs;
};

}  // namespace weir::telemetry
