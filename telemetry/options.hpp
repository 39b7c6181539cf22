#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <weir/telemetry/attribute.hpp>
#include <weir/telemetry/log_record.hpp>

namespace weir::telemetry {

enum class ExporterKind : std::uint8_t { none, otlp_http, otlp_grpc, otlp_file, console };

/// Where one signal goes, and how.
struct ExportOptions {
  ExporterKind exporter = ExporterKind::none;
  /// Of the collector; empty for the standard one on this machine (port 4318, or 4317 for gRPC).
  /// For HTTP with the path (`/v1/traces`).
  std::string endpoint = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::chrono::milliseconds timeout{10'000};
  bool uses_gzip = false;
  /// PEM file with the collector's certificate authority; empty for the system's.
  std::string certificate = {};
  /// PEM files with which this process proves who it is, both or none.
  std::string client_certificate = {};
  std::string client_key = {};
  /// For `otlp_file`: one JSON line per batch is appended; `-` is standard output.
  std::string file = "-";

  friend bool operator==(const ExportOptions&, const ExportOptions&) = default;
};

enum class SamplerKind : std::uint8_t { always_on, always_off, ratio };

struct SamplerOptions {
  SamplerKind kind = SamplerKind::always_on;
  double ratio = 1;
  /// Follow the decision that came with the context, if one came.
  bool is_parent_based = true;

  friend bool operator==(const SamplerOptions&, const SamplerOptions&) = default;
};

/// A queue between actors and an exporter. What finds it full is dropped and counted.
struct BatchOptions {
  std::size_t queue_max = 2048;
  std::size_t batch_max = 512;
  std::chrono::milliseconds delay{5'000};

  friend bool operator==(const BatchOptions&, const BatchOptions&) = default;
};

/// What a span keeps; the rest is counted as dropped.
struct SpanLimits {
  std::size_t attributes_max = 128;
  std::size_t events_max = 128;
  std::size_t links_max = 128;
  std::size_t text_bytes_max = Attribute::text_bytes_max;

  friend bool operator==(const SpanLimits&, const SpanLimits&) = default;
};

struct TelemetryOptions {
  /// `service.name` and whatever else describes this process.
  std::string service_name = "weir";
  Attributes resource = {};

  ExportOptions traces = {};
  ExportOptions metrics = {};
  ExportOptions logs = {};

  SamplerOptions sampler = {};
  SpanLimits limits = {};
  BatchOptions span_batches = {};
  BatchOptions log_batches{.delay = std::chrono::milliseconds{1'000}};
  std::chrono::milliseconds metric_interval{60'000};
  /// Measure even if no exporter asks for it, for the Prometheus page.
  bool measures_always = false;
  /// How long messages wait and handlers take is measured for one message in so many at most, and
  /// for more when there are few. A power of two, or the next one below it.
  std::uint32_t measured_one_in_max = 1024;
  /// Of the logger: lines below are not written, nor more of one place in the code than so many a
  /// second; zero is no limit.
  Level log_level = Level::info;
  std::uint32_t log_lines_per_second = 10;

  bool records_spans() const noexcept { return traces.exporter != ExporterKind::none; }
  bool measures() const noexcept {
    return measures_always || metrics.exporter != ExporterKind::none;
  }
};

using GetVariable = std::function<const char*(const char* name)>;

/// The options that the standard `OTEL_*` variables describe; docs/operations/telemetry.md lists
/// them. A signal is off unless `defaults` has an exporter for it or one of
/// `OTEL_<signal>_EXPORTER`, `OTEL_EXPORTER_OTLP_<signal>_ENDPOINT` and
/// `OTEL_EXPORTER_OTLP_ENDPOINT` is set, where the signal is `TRACES`, `METRICS` or `LOGS`. Throws
/// `std::invalid_argument` that names the variable, its value and the accepted form.
TelemetryOptions options_from_environment();
TelemetryOptions options_from_environment(const GetVariable& get, TelemetryOptions defaults = {});

/// Throws `std::invalid_argument` that names the field, its value and the accepted range.
void check_options(const TelemetryOptions& options);

}  // namespace weir::telemetry
