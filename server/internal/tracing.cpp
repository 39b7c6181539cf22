#include <weir/server/internal/tracing.hpp>

#include <optional>
#include <string>

#include <weir/telemetry/telemetry.hpp>
#include <weir/telemetry/w3c.hpp>

namespace weir::server::internal {
namespace {

telemetry::TraceContext trace_of(const Request& request) {
  return telemetry::extract([&request](std::string_view name) -> std::optional<std::string> {
    if (request.count(name) == 0) return std::nullopt;
    return request.joined(name);
  });
}

/// Without the query, which may hold what nobody should read.
std::string_view path_of(const Request& request) noexcept {
  return request.target().substr(0, request.target().find('?'));
}

}  // namespace

Span begin_request_span(const GatewayCore& core, const Request& request) {
  const telemetry::Telemetry* telemetry = core.telemetry();
  if (!telemetry || !(telemetry->records_spans() || telemetry->measures())) {
    return remote_span("request", {});
  }
  const telemetry::TraceContext from = trace_of(request);  // counts what is malformed
  if (!telemetry->records_spans()) return remote_span("request", {});
  return remote_span(request.method(), from,
                     {{"http.request.method", request.method()}, {"url.path", path_of(request)}});
}

void add_trace_headers(Response& response) {
  const telemetry::TraceContext here = current_trace();
  if (!here.is_valid()) return;
  set_attribute({"http.response.status_code", response.status});
  response.trace = to_string(here.trace);
  response.headers.emplace_back("traceparent", telemetry::print_traceparent(here));
}

void log_failure(const GatewayCore& core, const Request& request, std::string_view what) {
  if (telemetry::Telemetry* telemetry = core.telemetry()) {
    telemetry->logger().error("a request failed", {{"http.request.method", request.method()},
                                                   {"url.path", path_of(request)},
                                                   {"exception.message", what}});
  }
}

void log_end(const GatewayCore& core, const std::string& relation, std::string_view what) {
  if (telemetry::Telemetry* telemetry = core.telemetry()) {
    telemetry->logger().error("a subscription failed",
                              {{"weir.relation", relation}, {"exception.message", what}});
  }
}

void tell(const GatewayCore& core, const Answered& answered) {
  const Response& response = *answered.response;
  const Route* route = answered.route;
  telemetry::Telemetry* telemetry = core.telemetry();
  if (telemetry && telemetry->measures() && response.status != 0) {
    core.durations
        .with({{"http.request.method", route ? route->method : std::string_view("_OTHER")},
               {"http.route", route ? route->path : std::string_view()},
               {"http.response.status_code", response.status}})
        .record(std::chrono::duration<double>(answered.taken).count());
  }
  if (!route || !route->role || *route->role == Role::read) return;
  AuditRecord record{.caller = answered.caller->name,
                     .peer = answered.stream->peer(),
                     .method = std::string(answered.request->method()),
                     .target = std::string(answered.request->target()),
                     .status = response.status,
                     .problem = response.problem_code,
                     .version = response.version,
                     .trace = response.trace};
  if (core.options.audit) {
    core.options.audit(record);
  } else if (telemetry) {
    const auto since_1970 = core.store->time().time_since_epoch();
    telemetry::LogRecord line;
    line.time = std::chrono::nanoseconds(since_1970).count();
    line.message = "audit";
    line.attributes = {{"caller", record.caller},   {"client.address", record.peer},
                       {"method", record.method},   {"target", record.target},
                       {"status", record.status},   {"problem", record.problem},
                       {"version", record.version}, {"trace", record.trace}};
    telemetry->logger().write(line);
  }
}

}  // namespace weir::server::internal
