#pragma once

// Names of OpenTelemetry, so that headers need not include its own, which are large.

#include <memory>

#include <weir/telemetry/exporter.hpp>
#include <weir/telemetry/options.hpp>

namespace google::protobuf {
class Message;
}

namespace opentelemetry {
inline namespace v1 {
namespace sdk::resource {
class Resource;
}
namespace sdk::instrumentationscope {
class InstrumentationScope;
}
namespace sdk::trace {
class Recordable;
class SpanExporter;
}  // namespace sdk::trace
namespace sdk::metrics {
struct ResourceMetrics;
class PushMetricExporter;
}  // namespace sdk::metrics
namespace sdk::logs {
class Recordable;
class LogRecordExporter;
}  // namespace sdk::logs
}  // namespace v1
}  // namespace opentelemetry

namespace weir::telemetry::otel {

namespace sdk = opentelemetry::sdk;

using SdkSpanExporter = std::unique_ptr<sdk::trace::SpanExporter>;
using SdkMetricExporter = std::unique_ptr<sdk::metrics::PushMetricExporter>;
using SdkLogExporter = std::unique_ptr<sdk::logs::LogRecordExporter>;

}  // namespace weir::telemetry::otel
