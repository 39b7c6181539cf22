#include <weir/telemetry/options.hpp>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <weir/telemetry/internal/environment.hpp>
#include <weir/telemetry/internal/option_forms.hpp>
#include <weir/telemetry/internal/text.hpp>

namespace weir::telemetry {
namespace {

using internal::Choice;
using internal::Environment;
using internal::Variable;
using std::chrono::milliseconds;

struct Signal {
  std::string_view name;
  std::string_view path;  // below the general endpoint, over HTTP
  std::string_view timeout;
  ExportOptions TelemetryOptions::* options;
  bool can_be_scraped = false;
};

constexpr Signal signals[] = {
    {"TRACES", "/v1/traces", "OTEL_BSP_EXPORT_TIMEOUT", &TelemetryOptions::traces},
    {"METRICS", "/v1/metrics", "OTEL_METRIC_EXPORT_TIMEOUT", &TelemetryOptions::metrics, true},
    {"LOGS", "/v1/logs", "OTEL_BLRP_EXPORT_TIMEOUT", &TelemetryOptions::logs},
};

constexpr Choice<SamplerOptions> samplers[] = {
    {"always_on", {SamplerKind::always_on, 1, false}},
    {"always_off", {SamplerKind::always_off, 1, false}},
    {"traceidratio", {SamplerKind::ratio, 1, false}},
    {"parentbased_always_on", {SamplerKind::always_on, 1, true}},
    {"parentbased_always_off", {SamplerKind::always_off, 1, true}},
    {"parentbased_traceidratio", {SamplerKind::ratio, 1, true}},
};

constexpr Choice<ExporterKind> protocols[] = {{"http/protobuf", ExporterKind::otlp_http},
                                              {"grpc", ExporterKind::otlp_grpc}};

constexpr Choice<bool> compressions[] = {{"gzip", true}, {"none", false}};

// In the order in which they override each other.
struct Limit {
  const char* name;
  std::size_t SpanLimits::* field;
  std::size_t max = internal::number_max;
};

constexpr Limit limits[] = {
    {"OTEL_ATTRIBUTE_COUNT_LIMIT", &SpanLimits::attributes_max},
    {"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", &SpanLimits::attributes_max},
    {"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", &SpanLimits::text_bytes_max, Attribute::text_bytes_max},
    {"OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", &SpanLimits::text_bytes_max,
     Attribute::text_bytes_max},
    {"OTEL_SPAN_EVENT_COUNT_LIMIT", &SpanLimits::events_max},
    {"OTEL_SPAN_LINK_COUNT_LIMIT", &SpanLimits::links_max},
};

bool is_otlp(ExporterKind kind) noexcept {
  return kind == ExporterKind::otlp_http || kind == ExporterKind::otlp_grpc;
}

std::optional<ExporterKind> exporter_called(std::string_view name, ExporterKind otlp) noexcept {
  const Choice<ExporterKind> exporters[] = {{"otlp", otlp},
                                            {"otlp_file", ExporterKind::otlp_file},
                                            {"console", ExporterKind::console},
                                            {"none", ExporterKind::none}};
  for (const auto& candidate : exporters) {
    if (internal::equal_in_any_case(name, candidate.name)) return candidate.value;
  }
  return std::nullopt;
}

// Prometheus fetches what others are sent, and so can stand beside one of them.
void choose_exporter(const Variable& variable, const Signal& signal, ExporterKind otlp,
                     TelemetryOptions& options) {
  constexpr std::string_view accepted = "one of otlp, otlp_file, console, none";
  constexpr std::string_view accepted_if_scraped =
      "one of otlp, otlp_file, console, none, and prometheus instead or after a comma";
  std::optional<ExporterKind> chosen;
  std::string_view rest = variable.value;
  while (!rest.empty()) {
    const std::string_view name = internal::trimmed(internal::take_until(rest, ','));
    if (signal.can_be_scraped && internal::equal_in_any_case(name, "prometheus")) {
      options.measures_always = true;
      continue;
    }
    const auto kind = exporter_called(name, otlp);
    if (!kind || chosen) variable.refuse(signal.can_be_scraped ? accepted_if_scraped : accepted);
    chosen = kind;
  }
  (options.*signal.options).exporter = chosen.value_or(ExporterKind::none);
}

void apply_exporter(const Environment& environment, const Signal& signal, ExporterKind otlp,
                    TelemetryOptions& options) {
  ExportOptions& out = options.*signal.options;
  const auto name = "OTEL_" + std::string(signal.name) + "_EXPORTER";
  if (const Variable variable = environment.read(name)) {
    choose_exporter(variable, signal, otlp, options);
  } else if (is_otlp(out.exporter)) {
    out.exporter = otlp;
  } else if (out.exporter == ExporterKind::none && environment.read_otlp(signal.name, "ENDPOINT")) {
    out.exporter = otlp;
  }
}

void check_endpoint(const Variable& variable, ExporterKind otlp) {
  if (otlp == ExporterKind::otlp_grpc) {
    if (!internal::is_grpc_target(variable.value)) variable.refuse(internal::grpc_form);
  } else if (!internal::is_http_url(variable.value)) {
    variable.refuse(internal::http_form);
  }
}

// Over HTTP the general endpoint is the root of all signals; a signal's own is used as it is.
void apply_endpoint(const Environment& environment, const Signal& signal, ExporterKind otlp,
                    ExportOptions& out) {
  Variable endpoint = environment.read_otlp(signal.name, "ENDPOINT");
  if (!endpoint) return;
  check_endpoint(endpoint, otlp);
  const bool is_general = endpoint.name == "OTEL_EXPORTER_OTLP_ENDPOINT";
  out.endpoint = endpoint.value;
  if (!is_general || otlp == ExporterKind::otlp_grpc) return;
  if (endpoint.value.find_first_of("?#") != std::string::npos) {
    endpoint.refuse("a URL to which a path can be added");
  }
  while (out.endpoint.ends_with('/')) out.endpoint.pop_back();
  out.endpoint += signal.path;
}

// For gRPC and `host:port`, which does not say whether it is secure.
void apply_insecure(const Variable& variable, ExportOptions& out) {
  if (!variable) return;
  const bool is_insecure = internal::is_true(variable);
  const bool is_bare = !out.endpoint.empty() && !out.endpoint.starts_with("unix:") &&
                       out.endpoint.find("://") == std::string::npos;
  if (is_bare && out.exporter == ExporterKind::otlp_grpc) {
    out.endpoint.insert(0, is_insecure ? "http://" : "https://");
  }
}

// Names only: what these headers say is often a key.
std::string without_values(std::string_view headers) {
  std::string masked;
  while (!headers.empty()) {
    std::string_view member = internal::take_until(headers, ',');
    const bool has_name = member.find('=') != std::string_view::npos;
    masked.append(masked.empty() ? "" : ",");
    if (has_name) masked.append(internal::take_until(member, '=')).append("=");
    masked.append("...");
  }
  return masked;
}

void apply_headers(const Variable& variable, ExportOptions& out) {
  if (!variable) return;
  const bool is_grpc = out.exporter == ExporterKind::otlp_grpc;
  const auto is_accepted = is_grpc ? &internal::is_grpc_header : &internal::is_http_header;
  auto headers = internal::pairs(variable.value);
  const bool are_headers = headers && std::ranges::all_of(*headers, [&](const auto& header) {
                             return is_accepted(header.first, header.second);
                           });
  if (!are_headers) {
    internal::refuse_option(variable.name, without_values(variable.value),
                            is_grpc ? "name=value,name=value, percent-encoded, names of letters, "
                                      "digits, '-', '_' and '.', values in printable ASCII"
                                    : "name=value,name=value, percent-encoded, in printable ASCII");
  }
  // HTTP does not care, gRPC demands it.
  for (auto& [name, value] : *headers) name = internal::in_lower_case(name);
  out.headers = *std::move(headers);
}

void apply_file(const Variable& variable, bool is_used, std::string& path) {
  if (!variable) return;
  if (is_used && !internal::is_pem_file(variable.value)) variable.refuse(internal::pem_form);
  path = variable.value;
}

void apply_certificates(const Environment& environment, const Signal& signal, ExportOptions& out) {
  const bool are_used = is_otlp(out.exporter);
  apply_file(environment.read_otlp(signal.name, "CERTIFICATE"), are_used, out.certificate);
  const Variable certificate = environment.read_otlp(signal.name, "CLIENT_CERTIFICATE");
  apply_file(certificate, are_used, out.client_certificate);
  const Variable key = environment.read_otlp(signal.name, "CLIENT_KEY");
  apply_file(key, are_used, out.client_key);
  if (!are_used || out.client_certificate.empty() == out.client_key.empty()) return;
  if (certificate) certificate.refuse(internal::pem_form_beside("OTEL_EXPORTER_OTLP_CLIENT_KEY"));
  if (key) key.refuse(internal::pem_form_beside("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"));
}

void apply_transport(const Environment& environment, const Signal& signal, ExportOptions& out) {
  apply_headers(environment.read_otlp(signal.name, "HEADERS"), out);
  if (const Variable timeout = environment.read_otlp(signal.name, "TIMEOUT")) {
    out.timeout = milliseconds(internal::number(timeout, 1));
  }
  // Two limits on the same wait: the shorter one counts.
  if (const Variable timeout = environment.read(std::string(signal.timeout))) {
    out.timeout = std::min(out.timeout, milliseconds(internal::number(timeout, 1)));
  }
  if (const Variable compression = environment.read_otlp(signal.name, "COMPRESSION")) {
    out.uses_gzip = internal::choice(compression, compressions);
  }
  apply_certificates(environment, signal, out);
}

void apply_signal(const Environment& environment, const Signal& signal, TelemetryOptions& options) {
  ExportOptions& out = options.*signal.options;
  ExporterKind otlp = ExporterKind::otlp_http;
  if (out.exporter == ExporterKind::otlp_grpc) otlp = ExporterKind::otlp_grpc;
  if (const Variable protocol = environment.read_otlp(signal.name, "PROTOCOL")) {
    otlp = internal::choice(protocol, protocols);
  }
  apply_exporter(environment, signal, otlp, options);
  apply_endpoint(environment, signal, otlp, out);
  apply_insecure(environment.read_otlp(signal.name, "INSECURE"), out);
  apply_transport(environment, signal, out);
}

void set_attribute(Attributes& attributes, Attribute attribute) {
  const auto at = std::ranges::find(attributes, attribute.name, &Attribute::name);
  if (at != attributes.end()) {
    *at = std::move(attribute);
  } else {
    attributes.push_back(std::move(attribute));
  }
}

void apply_resource(const Environment& environment, TelemetryOptions& options) {
  if (const Variable attributes = environment.read("OTEL_RESOURCE_ATTRIBUTES")) {
    const auto pairs = internal::pairs(attributes.value);
    if (!pairs) attributes.refuse("name=value,name=value, percent-encoded UTF-8");
    for (const auto& [name, value] : *pairs) {
      if (name != "service.name") {
        set_attribute(options.resource, Attribute(name, value));
      } else if (!value.empty()) {
        options.service_name = Attribute::bounded(value);
      }
    }
  }
  if (const Variable name = environment.read("OTEL_SERVICE_NAME")) {
    if (!internal::is_option_text(name.value)) name.refuse(internal::text_form);
    options.service_name = Attribute::bounded(name.value);
  }
}

void apply_sampler(const Environment& environment, SamplerOptions& sampler) {
  if (const Variable name = environment.read("OTEL_TRACES_SAMPLER")) {
    sampler = internal::choice(name, samplers);
  }
  if (const Variable argument = environment.read("OTEL_TRACES_SAMPLER_ARG")) {
    const double ratio = internal::ratio(argument);
    if (sampler.kind == SamplerKind::ratio) sampler.ratio = ratio;
  }
}

void apply_limits(const Environment& environment, SpanLimits& span_limits) {
  for (const Limit& limit : limits) {
    if (const Variable variable = environment.read(limit.name)) {
      const auto value = static_cast<std::size_t>(internal::number(variable, 0));
      span_limits.*limit.field = std::min(value, limit.max);
    }
  }
}

void apply_batches(const Environment& environment, const std::string& prefix,
                   BatchOptions& batches) {
  if (const Variable delay = environment.read(prefix + "SCHEDULE_DELAY")) {
    batches.delay = milliseconds(internal::number(delay, 1));
  }
  if (const Variable queue = environment.read(prefix + "MAX_QUEUE_SIZE")) {
    batches.queue_max = static_cast<std::size_t>(internal::number(queue, 1));
    batches.batch_max = std::min(batches.batch_max, batches.queue_max);
  }
  if (const Variable batch = environment.read(prefix + "MAX_EXPORT_BATCH_SIZE")) {
    const auto most = static_cast<std::int64_t>(batches.queue_max);
    batches.batch_max = static_cast<std::size_t>(internal::number(batch, 1, most));
  }
}

// What OpenTelemetry defines and Weir does not do. To go on would be to do something else than was
// asked for.
constexpr const char* unsupported[] = {
    "OTEL_CONFIG_FILE",
    "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_EXPERIMENTAL_CONFIG_FILE",
    "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT",
};

// The same, but for one value: that which Weir does.
constexpr std::pair<const char*, std::string_view> fixed[] = {
    {"OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "explicit_bucket_histogram"},
    {"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "cumulative"},
};

void refuse_unsupported(const Environment& environment) {
  for (const char* name : unsupported) {
    if (const Variable variable = environment.read(name)) {
      variable.refuse("it to be unset: it is not supported");
    }
  }
  for (const auto& [name, value] : fixed) {
    const Variable variable = environment.read(name);
    if (variable && !internal::equal_in_any_case(variable.value, value)) {
      variable.refuse(std::string(value) + ": nothing else is supported");
    }
  }
}

void turn_off(TelemetryOptions& options) {
  for (const Signal& signal : signals) {
    (options.*signal.options).exporter = ExporterKind::none;
  }
  options.measures_always = false;
}

}  // namespace

TelemetryOptions options_from_environment() {
  return options_from_environment([](const char* name) { return std::getenv(name); });
}

TelemetryOptions options_from_environment(const GetVariable& get, TelemetryOptions defaults) {
  const Environment environment(get);
  TelemetryOptions options = std::move(defaults);
  if (internal::is_true(environment.read("OTEL_SDK_DISABLED"))) {
    turn_off(options);
    return options;
  }
  refuse_unsupported(environment);
  apply_resource(environment, options);
  for (const Signal& signal : signals) apply_signal(environment, signal, options);
  apply_sampler(environment, options.sampler);
  apply_limits(environment, options.limits);
  apply_batches(environment, "OTEL_BSP_", options.span_batches);
  apply_batches(environment, "OTEL_BLRP_", options.log_batches);
  if (const Variable interval = environment.read("OTEL_METRIC_EXPORT_INTERVAL")) {
    options.metric_interval = milliseconds(internal::number(interval, 1));
  }
  return options;
}

}  // namespace weir::telemetry
