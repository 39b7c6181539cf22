#pragma once

#include <string>
#include <string_view>

#include <weir/runtime/span.hpp>
#include <weir/server/internal/gateway_core.hpp>

namespace weir::server::internal {

/// Goes on with the trace that a request brings along, or begins one. For the handler that runs.
Span begin_request_span(const GatewayCore& core, const Request& request);
/// Says where the answer was made, if that is recorded.
void add_trace_headers(Response& response);
/// Tells those who run the server what nobody else is told.
void log_failure(const GatewayCore& core, const Request& request, std::string_view what);
/// The same of a subscription to a table or view.
void log_end(const GatewayCore& core, const std::string& relation, std::string_view what);

}  // namespace weir::server::internal
