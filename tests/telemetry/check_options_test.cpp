#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/telemetry/options.hpp>

namespace weir::telemetry {
namespace {

using std::chrono::milliseconds;
using Change = std::function<void(TelemetryOptions&)>;

// The message with which the options are refused after a change; empty if they are not.
std::string refusal_after(const Change& change) {
  TelemetryOptions options;
  change(options);
  try {
    check_options(options);
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(CheckOptions, AcceptsTheDefaults) { EXPECT_NO_THROW(check_options({})); }

TEST(CheckOptions, AcceptsTheLargestAndSmallestValues) {
  EXPECT_EQ(refusal_after([](auto& options) {
              options.sampler.ratio = 0;
              options.limits = {0, 0, 0, 0};
              options.span_batches = {1, 1, milliseconds(1)};
              options.log_batches = {2'147'483'647, 2'147'483'647, milliseconds(2'147'483'647)};
              options.metric_interval = milliseconds(1);
              options.traces.timeout = milliseconds(1);
            }),
            "");
}

struct Refused {
  Change change;
  const char* message;
};

TEST(CheckOptions, NamesTheFieldItsValueAndTheAcceptedRange) {
  constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
  const std::vector<Refused> cases = {
      {[](auto& o) { o.service_name = ""; }, "service_name is ''; expected UTF-8 text"},
      {[](auto& o) { o.service_name = "\xFF"; }, "service_name is '\\xff'; expected UTF-8 text"},
      {[](auto& o) { o.resource = {{"", 1}}; }, "name of a resource attribute is ''; expected"},
      {[](auto& o) { o.resource = {{"a", "\xFF"}}; }, "resource attribute a is '\\xff'; expected"},
      {[](auto& o) { o.sampler.ratio = 1.5; }, "sampler.ratio is '1.500000'; expected a number"},
      {[](auto& o) { o.limits.text_bytes_max = 4097; },
       "limits.text_bytes_max is '4097'; expected a whole number from 0 to 4096"},
      {[](auto& o) { o.limits.links_max = huge; }, "limits.links_max is '"},
      {[](auto& o) { o.limits.events_max = huge; }, "limits.events_max is '"},
      {[](auto& o) { o.limits.attributes_max = huge; }, "limits.attributes_max is '"},
      {[](auto& o) { o.span_batches.queue_max = 0; },
       "span_batches.queue_max is '0'; expected a whole number from 1 to 2147483647"},
      {[](auto& o) { o.span_batches.batch_max = 2049; },
       "span_batches.batch_max is '2049'; expected a whole number from 1 to 2048"},
      {[](auto& o) { o.log_batches.batch_max = 0; }, "log_batches.batch_max is '0'; expected"},
      {[](auto& o) { o.log_batches.delay = milliseconds(0); },
       "log_batches.delay in milliseconds is '0'; expected"},
      {[](auto& o) { o.metric_interval = milliseconds(-5); },
       "metric_interval in milliseconds is '-5'; expected"},
      {[](auto& o) { o.measured_one_in_max = 0; },
       "measured_one_in_max is '0'; expected a whole number from 1 to 32768"},
      {[](auto& o) { o.logs.timeout = milliseconds(0); },
       "logs.timeout in milliseconds is '0'; expected"},
  };
  for (const auto& [change, message] : cases) {
    const std::string refused = refusal_after(change);
    EXPECT_TRUE(refused.starts_with(message)) << refused << " is not " << message;
  }
}

TEST(CheckOptions, RefusesARatioThatIsNoNumber) {
  EXPECT_NE(refusal_after([](auto& options) {
              options.sampler.ratio = std::numeric_limits<double>::quiet_NaN();
            }),
            "");
}

TEST(CheckOptions, LooksAtAnEndpointAsItsExporterWould) {
  const auto refused = [](ExporterKind kind, std::string endpoint) {
    return !refusal_after([&](auto& options) {
              options.metrics.exporter = kind;
              options.metrics.endpoint = endpoint;
            }).empty();
  };
  EXPECT_TRUE(refused(ExporterKind::otlp_http, "c:4318"));
  EXPECT_FALSE(refused(ExporterKind::otlp_http, "http://c:4318/v1/metrics"));
  EXPECT_FALSE(refused(ExporterKind::otlp_http, ""));
  EXPECT_FALSE(refused(ExporterKind::otlp_grpc, "c:4317"));
  EXPECT_TRUE(refused(ExporterKind::otlp_grpc, "a b"));
  EXPECT_FALSE(refused(ExporterKind::console, "a b"));
}

TEST(CheckOptions, RefusesAFileWithoutAName) {
  EXPECT_EQ(refusal_after([](auto& options) {
              options.logs.exporter = ExporterKind::otlp_file;
              options.logs.file = "";
            }),
            "logs.file is ''; expected UTF-8 text that is not empty");
}

TEST(CheckOptions, RefusesAHeaderThatCouldAddOthersAndDoesNotShowItsValue) {
  const std::string refused =
      refusal_after([](auto& options) { options.traces.headers = {{"key", "hidden\r\na: b"}}; });
  EXPECT_TRUE(refused.starts_with("traces.headers is 'key=...'; expected")) << refused;
}

TEST(CheckOptions, RefusesAHeaderThatGrpcDoesNotTakeForGrpcAlone) {
  const auto refusal_of = [](ExporterKind kind, std::string name, std::string value) {
    return refusal_after([&](auto& options) {
      options.logs.exporter = kind;
      options.logs.headers = {{name, value}};
    });
  };
  EXPECT_EQ(refusal_of(ExporterKind::otlp_grpc, "x~key", "hidden"),
            "logs.headers is 'x~key=...'; expected a name of letters, digits, '-', '_' and '.', as "
            "gRPC has it, and a value in printable ASCII");
  EXPECT_EQ(refusal_of(ExporterKind::otlp_http, "x~key", "hidden"), "");
  EXPECT_EQ(refusal_of(ExporterKind::otlp_grpc, "X-key_1.a", "hidden ~"), "");
  EXPECT_NE(refusal_of(ExporterKind::otlp_grpc, "x", "\xE4"), "");
  EXPECT_NE(refusal_of(ExporterKind::otlp_grpc, "", "hidden"), "");
}

}  // namespace
}  // namespace weir::telemetry
