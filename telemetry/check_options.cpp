#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include <weir/telemetry/internal/option_forms.hpp>
#include <weir/telemetry/options.hpp>

namespace weir::telemetry {
namespace {

struct Range {
  std::int64_t min = 0;
  std::int64_t max = internal::number_max;
};

void check_number(const std::string& field, std::int64_t value, Range range) {
  if (value >= range.min && value <= range.max) return;
  internal::refuse_option(field, std::to_string(value),
                          internal::number_form(range.min, range.max));
}

// A size past what the signed type holds is refused as the largest that it holds.
void check_size(const std::string& field, std::size_t value, Range range) {
  check_number(field,
               std::in_range<std::int64_t>(value) ? static_cast<std::int64_t>(value)
                                                  : std::numeric_limits<std::int64_t>::max(),
               range);
}

void check_duration(const std::string& field, std::chrono::milliseconds value) {
  check_number(field + " in milliseconds", value.count(), {.min = 1});
}

void check_text(const std::string& field, std::string_view text) {
  if (!internal::is_option_text(text)) internal::refuse_option(field, text, internal::text_form);
}

void check_endpoint(const std::string& field, const ExportOptions& options) {
  if (options.endpoint.empty()) return;
  if (options.exporter == ExporterKind::otlp_http && !internal::is_http_url(options.endpoint)) {
    internal::refuse_option(field, options.endpoint, internal::http_form);
  }
  if (options.exporter == ExporterKind::otlp_grpc && !internal::is_grpc_target(options.endpoint)) {
    internal::refuse_option(field, options.endpoint, internal::grpc_form);
  }
}

void check_headers(const std::string& field, const ExportOptions& options) {
  const bool is_grpc = options.exporter == ExporterKind::otlp_grpc;
  const auto is_accepted = is_grpc ? &internal::is_grpc_header : &internal::is_http_header;
  for (const auto& [name, value] : options.headers) {
    if (is_accepted(name, value)) continue;
    // The value may be a secret.
    internal::refuse_option(field, name + "=...",
                            is_grpc ? "a name of letters, digits, '-', '_' and '.', as gRPC has "
                                      "it, and a value in printable ASCII"
                                    : "a header's name and its value in printable ASCII");
  }
}

void check_export(const std::string& field, const ExportOptions& options) {
  check_endpoint(field + ".endpoint", options);
  check_duration(field + ".timeout", options.timeout);
  if (options.exporter == ExporterKind::otlp_file) check_text(field + ".file", options.file);
  check_headers(field + ".headers", options);
}

void check_batches(const std::string& field, const BatchOptions& options) {
  check_size(field + ".queue_max", options.queue_max, {.min = 1});
  check_size(field + ".batch_max", options.batch_max,
             {.min = 1, .max = static_cast<std::int64_t>(options.queue_max)});
  check_duration(field + ".delay", options.delay);
}

void check_limits(const SpanLimits& limits) {
  check_size("limits.attributes_max", limits.attributes_max, {});
  check_size("limits.events_max", limits.events_max, {});
  check_size("limits.links_max", limits.links_max, {});
  check_size("limits.text_bytes_max", limits.text_bytes_max, {.max = Attribute::text_bytes_max});
}

void check_resource(const Attributes& resource) {
  for (const Attribute& attribute : resource) {
    check_text("name of a resource attribute", attribute.name);
    const auto* text = std::get_if<std::string>(&attribute.value);
    if (text && !text->empty()) check_text("resource attribute " + attribute.name, *text);
  }
}

}  // namespace

void check_options(const TelemetryOptions& options) {
  check_text("service_name", options.service_name);
  check_resource(options.resource);
  check_export("traces", options.traces);
  check_export("metrics", options.metrics);
  check_export("logs", options.logs);
  if (!internal::is_ratio(options.sampler.ratio)) {
    internal::refuse_option("sampler.ratio", std::to_string(options.sampler.ratio),
                            internal::ratio_form);
  }
  check_limits(options.limits);
  check_batches("span_batches", options.span_batches);
  check_batches("log_batches", options.log_batches);
  check_duration("metric_interval", options.metric_interval);
  check_number("log_level", static_cast<std::int64_t>(options.log_level),
               {.max = static_cast<std::int64_t>(Level::fatal)});
  check_number("measured_one_in_max", options.measured_one_in_max, {.min = 1, .max = 1 << 15});
}

}  // namespace weir::telemetry
