#include <weir/telemetry/options.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

namespace weir::telemetry {
namespace {

using std::chrono::milliseconds;
using Variables = std::map<std::string, std::string>;

TelemetryOptions options_from(const Variables& variables, TelemetryOptions defaults = {}) {
  const auto get = [&](const char* name) -> const char* {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  };
  return options_from_environment(get, std::move(defaults));
}

// The message with which these variables are refused; empty if they are not.
std::string refusal(const Variables& variables) {
  try {
    options_from(variables);
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

void expect_nothing_is_exported(const TelemetryOptions& options) {
  EXPECT_EQ(options.traces.exporter, ExporterKind::none);
  EXPECT_EQ(options.metrics.exporter, ExporterKind::none);
  EXPECT_EQ(options.logs.exporter, ExporterKind::none);
  EXPECT_FALSE(options.records_spans());
  EXPECT_FALSE(options.measures());
}

TEST(EnvironmentOptions, AreOffWithoutVariables) {
  const TelemetryOptions options = options_from({});
  expect_nothing_is_exported(options);
  EXPECT_EQ(options.traces, ExportOptions{});
  EXPECT_EQ(options.sampler, SamplerOptions{});
  EXPECT_EQ(options.limits, SpanLimits{});
  EXPECT_EQ(options.span_batches, BatchOptions{});
  EXPECT_EQ(options.log_batches.delay, milliseconds(1000));
  EXPECT_EQ(options.metric_interval, milliseconds(60'000));
  EXPECT_EQ(options.service_name, "weir");
}

TEST(EnvironmentOptions, OfThisProcessAreRead) {
  ASSERT_EQ(setenv("OTEL_SERVICE_NAME", "orders", 1), 0);
  EXPECT_EQ(options_from_environment().service_name, "orders");
  ASSERT_EQ(unsetenv("OTEL_SERVICE_NAME"), 0);
  EXPECT_EQ(options_from_environment().service_name, "weir");
}

TEST(EnvironmentOptions, KeepTheDefaultsOfWhatIsNotSetOrEmpty) {
  TelemetryOptions defaults;
  defaults.service_name = "orders";
  defaults.traces.exporter = ExporterKind::otlp_grpc;
  defaults.traces.timeout = milliseconds(7);
  defaults.sampler = {SamplerKind::ratio, 0.5, false};
  const TelemetryOptions options =
      options_from({{"OTEL_SERVICE_NAME", ""}, {"OTEL_TRACES_SAMPLER", ""}}, defaults);
  EXPECT_EQ(options.service_name, "orders");
  EXPECT_EQ(options.traces, defaults.traces);
  EXPECT_EQ(options.sampler, defaults.sampler);
}

TEST(EnvironmentOptions, OfEveryVariableCountAsUnsetIfEmpty) {
  const auto empty = [](const char*) { return ""; };
  const TelemetryOptions options = options_from_environment(empty);
  expect_nothing_is_exported(options);
  EXPECT_EQ(options.span_batches, BatchOptions{});
  EXPECT_EQ(options.limits, SpanLimits{});
}

TEST(EnvironmentOptions, CanBeTurnedOffWhateverElseIsSet) {
  TelemetryOptions defaults;
  defaults.traces.exporter = ExporterKind::console;
  defaults.measures_always = true;
  expect_nothing_is_exported(options_from(
      {{"OTEL_SDK_DISABLED", "True"}, {"OTEL_LOGS_EXPORTER", "no such exporter"}}, defaults));
  EXPECT_EQ(options_from({{"OTEL_SDK_DISABLED", "false"}}, defaults).traces.exporter,
            ExporterKind::console);
}

TEST(EnvironmentOptions, NameTheExporterOfEachSignal) {
  const TelemetryOptions options = options_from({{"OTEL_TRACES_EXPORTER", "otlp"},
                                                 {"OTEL_METRICS_EXPORTER", "Console"},
                                                 {"OTEL_LOGS_EXPORTER", "otlp_file"}});
  EXPECT_EQ(options.traces.exporter, ExporterKind::otlp_http);
  EXPECT_EQ(options.metrics.exporter, ExporterKind::console);
  EXPECT_EQ(options.logs.exporter, ExporterKind::otlp_file);
  EXPECT_TRUE(options.traces.endpoint.empty());
}

TEST(EnvironmentOptions, NameNoneToTurnASignalOff) {
  TelemetryOptions defaults;
  defaults.traces.exporter = ExporterKind::console;
  EXPECT_EQ(options_from({{"OTEL_TRACES_EXPORTER", "none"}}, defaults).traces.exporter,
            ExporterKind::none);
}

TEST(EnvironmentOptions, MeasureForPrometheusAloneOrBesideAnExporter) {
  const TelemetryOptions alone = options_from({{"OTEL_METRICS_EXPORTER", "prometheus"}});
  EXPECT_TRUE(alone.measures_always);
  EXPECT_EQ(alone.metrics.exporter, ExporterKind::none);
  for (const char* both : {"otlp,prometheus", "prometheus, otlp"}) {
    const TelemetryOptions options = options_from({{"OTEL_METRICS_EXPORTER", both}});
    EXPECT_TRUE(options.measures_always);
    EXPECT_EQ(options.metrics.exporter, ExporterKind::otlp_http);
  }
}

TEST(EnvironmentOptions, TurnEverySignalOnWithTheGeneralEndpoint) {
  const TelemetryOptions options = options_from(
      {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"}, {"OTEL_LOGS_EXPORTER", "none"}});
  EXPECT_EQ(options.traces.exporter, ExporterKind::otlp_http);
  EXPECT_EQ(options.metrics.exporter, ExporterKind::otlp_http);
  EXPECT_EQ(options.logs.exporter, ExporterKind::none);
}

TEST(EnvironmentOptions, TurnOneSignalOnWithItsOwnEndpoint) {
  const TelemetryOptions options =
      options_from({{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://collector:4318"}});
  EXPECT_EQ(options.metrics.exporter, ExporterKind::otlp_http);
  EXPECT_EQ(options.traces.exporter, ExporterKind::none);
}

TEST(EnvironmentOptions, AddTheSignalsPathToTheGeneralEndpointOverHttp) {
  const Variables cases = {{"http://c:4318", "http://c:4318"},
                           {"http://c:4318/", "http://c:4318"},
                           {"https://c/base", "https://c/base"},
                           {"HTTP://[::1]:4318/base//", "HTTP://[::1]:4318/base"}};
  for (const auto& [endpoint, root] : cases) {
    const TelemetryOptions options = options_from({{"OTEL_EXPORTER_OTLP_ENDPOINT", endpoint}});
    EXPECT_EQ(options.traces.endpoint, root + "/v1/traces");
    EXPECT_EQ(options.metrics.endpoint, root + "/v1/metrics");
    EXPECT_EQ(options.logs.endpoint, root + "/v1/logs");
  }
}

TEST(EnvironmentOptions, UseASignalsOwnEndpointAsItIs) {
  const TelemetryOptions options =
      options_from({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"},
                    {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t:1/some?key=1"}});
  EXPECT_EQ(options.traces.endpoint, "http://t:1/some?key=1");
  EXPECT_EQ(options.logs.endpoint, "http://c:4318/v1/logs");
}

TEST(EnvironmentOptions, UseTheGeneralEndpointAsItIsOverGrpc) {
  for (const char* endpoint : {"http://c:4317", "c:4317", "unix:///run/otlp.sock", "unix:otlp.sock",
                               "dns:///c:4317", "[::1]:4317"}) {
    const TelemetryOptions options = options_from(
        {{"OTEL_EXPORTER_OTLP_ENDPOINT", endpoint}, {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}});
    EXPECT_EQ(options.traces.exporter, ExporterKind::otlp_grpc);
    EXPECT_EQ(options.traces.endpoint, endpoint);
    EXPECT_EQ(options.logs.endpoint, endpoint);
  }
}

TEST(EnvironmentOptions, MayDemandSecurityWhereAGrpcEndpointDoesNotSay) {
  const auto endpoint_of = [](const char* endpoint, const char* insecure, const char* protocol) {
    return options_from({{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", endpoint},
                         {"OTEL_EXPORTER_OTLP_PROTOCOL", protocol},
                         {"OTEL_EXPORTER_OTLP_INSECURE", insecure}})
        .traces.endpoint;
  };
  EXPECT_EQ(endpoint_of("c:4317", "", "grpc"), "c:4317");
  EXPECT_EQ(endpoint_of("c:4317", "false", "grpc"), "https://c:4317");
  EXPECT_EQ(endpoint_of("c:4317", "true", "grpc"), "http://c:4317");
  EXPECT_EQ(endpoint_of("https://c:4317", "true", "grpc"), "https://c:4317") << "it does say";
  EXPECT_EQ(endpoint_of("unix:/run/otlp", "false", "grpc"), "unix:/run/otlp");
  EXPECT_EQ(endpoint_of("http://c:4318", "false", "http/protobuf"), "http://c:4318");
  EXPECT_EQ(refusal({{"OTEL_EXPORTER_OTLP_INSECURE", "maybe"}}),
            "OTEL_EXPORTER_OTLP_INSECURE is 'maybe'; expected one of true, false");
}

TEST(EnvironmentOptions, NameTheFilesThatProveWhoAClientIs) {
  const TelemetryOptions options =
      options_from({{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "me.pem"},
                    {"OTEL_EXPORTER_OTLP_CLIENT_KEY", "me.key"},
                    {"OTEL_EXPORTER_OTLP_LOGS_CLIENT_KEY", "logs.key"}});
  EXPECT_EQ(options.traces.client_certificate, "me.pem");
  EXPECT_EQ(options.traces.client_key, "me.key");
  EXPECT_EQ(options.logs.client_certificate, "me.pem");
  EXPECT_EQ(options.logs.client_key, "logs.key");
}

/// Of this process alone.
std::string own_file(const std::string& name) {
  return testing::TempDir() + "weir_options_" + name + std::to_string(::getpid());
}

// Of variables that go with an endpoint, without which nobody would read the files.
std::string refusal_when_sending(Variables variables) {
  variables["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://localhost:4318";
  return refusal(variables);
}

TEST(EnvironmentOptions, RefuseFilesThatAreNoCertificatesByTheVariableThatNamesThem) {
  const std::string no_pem = own_file("no_pem");
  std::ofstream(no_pem) << "none";
  for (const char* signal : {"", "TRACES_", "METRICS_", "LOGS_"}) {
    for (const char* file : {"CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"}) {
      const std::string name = std::string("OTEL_EXPORTER_OTLP_") + signal + file;
      for (const std::string& path : {std::string("/no/such.pem"), no_pem, testing::TempDir()}) {
        EXPECT_EQ(refusal_when_sending({{name, path}}),
                  name + " is '" + path + "'; expected a PEM file that can be read");
        EXPECT_EQ(refusal({{name, path}}), "") << "nobody reads it";
      }
    }
  }
  std::remove(no_pem.c_str());
}

TEST(EnvironmentOptions, RefuseAClientsCertificateWithoutItsKeyAndTheOtherWayRound) {
  const std::string pem = own_file("pem");
  std::ofstream(pem) << "-----BEGIN CERTIFICATE-----";
  const std::string general = "OTEL_EXPORTER_OTLP_CLIENT_";
  const std::string beside = " is '" + pem + "'; expected a PEM file that can be read, and ";
  EXPECT_EQ(refusal_when_sending({{general + "CERTIFICATE", pem}}),
            general + "CERTIFICATE" + beside + general + "KEY beside it");
  EXPECT_EQ(refusal_when_sending({{general + "KEY", pem}}),
            general + "KEY" + beside + general + "CERTIFICATE beside it");
  const std::string own = "OTEL_EXPORTER_OTLP_LOGS_CLIENT_KEY";
  EXPECT_EQ(refusal_when_sending({{own, pem}}), own + beside + general + "CERTIFICATE beside it");
  EXPECT_EQ(refusal_when_sending({{own, pem}, {"OTEL_EXPORTER_OTLP_LOGS_CLIENT_CERTIFICATE", pem}}),
            "");
  std::remove(pem.c_str());
}

TEST(EnvironmentOptions, RefuseWhatIsDefinedAndNotSupported) {
  for (const char* name :
       {"OTEL_CONFIG_FILE", "OTEL_EXPERIMENTAL_CONFIG_FILE", "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT",
        "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT", "OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT",
        "OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT"}) {
    EXPECT_EQ(refusal({{name, "7"}}),
              std::string(name) + " is '7'; expected it to be unset: it is not supported");
    EXPECT_EQ(refusal({{name, ""}}), "") << name;
  }
}

TEST(EnvironmentOptions, TakeTheOneValueThatIsSupportedWhereOthersAreNot) {
  const std::pair<const char*, const char*> cases[] = {
      {"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "cumulative"},
      {"OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "explicit_bucket_histogram"}};
  for (const auto& [name, value] : cases) {
    EXPECT_EQ(refusal({{name, value}}), "");
    EXPECT_EQ(refusal({{name, "delta"}}),
              std::string(name) + " is 'delta'; expected " + value + ": nothing else is supported");
  }
}

TEST(EnvironmentOptions, HaveAProtocolPerSignal) {
  const TelemetryOptions options =
      options_from({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1"},
                    {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
                    {"OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "http/protobuf"}});
  EXPECT_EQ(options.traces.exporter, ExporterKind::otlp_grpc);
  EXPECT_EQ(options.logs.exporter, ExporterKind::otlp_http);
  EXPECT_EQ(options.logs.endpoint, "http://c:1/v1/logs");
}

TEST(EnvironmentOptions, HaveTransportOptionsForAllSignalsAndForEach) {
  const TelemetryOptions options =
      options_from({{"OTEL_EXPORTER_OTLP_HEADERS", "Api-Key=a%2Cb , x=y=="},
                    {"OTEL_EXPORTER_OTLP_LOGS_HEADERS", "k="},
                    {"OTEL_EXPORTER_OTLP_TIMEOUT", "250"},
                    {"OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "1"},
                    {"OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"},
                    {"OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "none"},
                    {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/etc/ca.pem"},
                    {"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "/etc/other.pem"}});
  using Headers = decltype(ExportOptions::headers);
  EXPECT_EQ(options.traces.headers, (Headers{{"api-key", "a,b"}, {"x", "y=="}}));
  EXPECT_EQ(options.logs.headers, (Headers{{"k", ""}}));
  EXPECT_EQ(options.traces.timeout, milliseconds(250));
  EXPECT_EQ(options.metrics.timeout, milliseconds(1));
  EXPECT_FALSE(options.traces.uses_gzip);
  EXPECT_TRUE(options.metrics.uses_gzip);
  EXPECT_EQ(options.traces.certificate, "/etc/other.pem");
  EXPECT_EQ(options.logs.certificate, "/etc/ca.pem");
}

TEST(EnvironmentOptions, WaitForAnExportNoLongerThanTheShorterLimit) {
  const TelemetryOptions options = options_from({{"OTEL_EXPORTER_OTLP_TIMEOUT", "2000"},
                                                 {"OTEL_BSP_EXPORT_TIMEOUT", "1000"},
                                                 {"OTEL_BLRP_EXPORT_TIMEOUT", "3000"},
                                                 {"OTEL_METRIC_EXPORT_TIMEOUT", "500"}});
  EXPECT_EQ(options.traces.timeout, milliseconds(1000));
  EXPECT_EQ(options.logs.timeout, milliseconds(2000));
  EXPECT_EQ(options.metrics.timeout, milliseconds(500));
}

TEST(EnvironmentOptions, DescribeTheProcess) {
  TelemetryOptions defaults;
  defaults.resource = {{"host.name", "a"}, {"zone", 1}};
  const TelemetryOptions options =
      options_from({{"OTEL_RESOURCE_ATTRIBUTES",
                     "service.name=a, host.name = b%20c,k%3D=%C3%A4,e=,host.name=d"}},
                   defaults);
  EXPECT_EQ(options.service_name, "a");
  EXPECT_EQ(options.resource,
            (Attributes{{"host.name", "d"}, {"zone", 1}, {"k=", "\xC3\xA4"}, {"e", ""}}));
}

TEST(EnvironmentOptions, PreferTheServiceNameOverTheAttribute) {
  const Variables variables = {{"OTEL_RESOURCE_ATTRIBUTES", "service.name=a"},
                               {"OTEL_SERVICE_NAME", "b"}};
  EXPECT_EQ(options_from(variables).service_name, "b");
}

TEST(EnvironmentOptions, KnowTheSixStandardSamplers) {
  const std::map<std::string, SamplerOptions> samplers = {
      {"always_on", {SamplerKind::always_on, 1, false}},
      {"always_off", {SamplerKind::always_off, 1, false}},
      {"traceidratio", {SamplerKind::ratio, 0.25, false}},
      {"parentbased_always_on", {SamplerKind::always_on, 1, true}},
      {"parentbased_always_off", {SamplerKind::always_off, 1, true}},
      {"parentbased_traceidratio", {SamplerKind::ratio, 0.25, true}}};
  for (const auto& [name, sampler] : samplers) {
    EXPECT_EQ(
        options_from({{"OTEL_TRACES_SAMPLER", name}, {"OTEL_TRACES_SAMPLER_ARG", "0.25"}}).sampler,
        sampler)
        << name;
  }
}

TEST(EnvironmentOptions, SampleEverythingByARatioThatIsNotGiven) {
  EXPECT_EQ(options_from({{"OTEL_TRACES_SAMPLER", "traceidratio"}}).sampler.ratio, 1);
}

TEST(EnvironmentOptions, IgnoreASamplersArgumentWithoutARatioToSet) {
  EXPECT_EQ(options_from({{"OTEL_TRACES_SAMPLER_ARG", "0.5"}}).sampler, SamplerOptions{});
  EXPECT_EQ(options_from({{"OTEL_TRACES_SAMPLER", "always_on"}, {"OTEL_TRACES_SAMPLER_ARG", "0.5"}})
                .sampler.ratio,
            1);
}

TEST(EnvironmentOptions, SetTheRatioOfTheSamplerThatTheProgramChose) {
  const TelemetryOptions defaults{.sampler = {.kind = SamplerKind::ratio, .ratio = 0.01}};
  EXPECT_EQ(options_from({}, defaults).sampler, defaults.sampler);
  EXPECT_EQ(options_from({{"OTEL_TRACES_SAMPLER_ARG", "0.1"}}, defaults).sampler,
            (SamplerOptions{.kind = SamplerKind::ratio, .ratio = 0.1}));
}

TEST(EnvironmentOptions, RefuseASamplersArgumentThatIsNoRatioWhateverTheSampler) {
  EXPECT_EQ(refusal({{"OTEL_TRACES_SAMPLER_ARG", "x"}}),
            "OTEL_TRACES_SAMPLER_ARG is 'x'; expected a number from 0 to 1");
  EXPECT_NE(refusal({{"OTEL_TRACES_SAMPLER", "always_on"}, {"OTEL_TRACES_SAMPLER_ARG", "x"}}), "");
}

TEST(EnvironmentOptions, LimitSpansInGeneralAndInParticular) {
  const TelemetryOptions general = options_from(
      {{"OTEL_ATTRIBUTE_COUNT_LIMIT", "10"}, {"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "100"}});
  EXPECT_EQ(general.limits, (SpanLimits{10, 128, 128, 100}));
  const TelemetryOptions particular = options_from({{"OTEL_ATTRIBUTE_COUNT_LIMIT", "10"},
                                                    {"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "100"},
                                                    {"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "0"},
                                                    {"OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "7"},
                                                    {"OTEL_SPAN_EVENT_COUNT_LIMIT", "5"},
                                                    {"OTEL_SPAN_LINK_COUNT_LIMIT", "6"}});
  EXPECT_EQ(particular.limits, (SpanLimits{0, 5, 6, 7}));
}

TEST(EnvironmentOptions, KeepTextsWithinWhatAnAttributeHolds) {
  EXPECT_EQ(options_from({{"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "100000"}}).limits.text_bytes_max,
            Attribute::text_bytes_max);
}

TEST(EnvironmentOptions, SizeTheQueues) {
  const TelemetryOptions options = options_from({{"OTEL_BSP_SCHEDULE_DELAY", "1"},
                                                 {"OTEL_BSP_MAX_QUEUE_SIZE", "2147483647"},
                                                 {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "3"},
                                                 {"OTEL_BLRP_SCHEDULE_DELAY", "4"},
                                                 {"OTEL_BLRP_MAX_QUEUE_SIZE", "5"},
                                                 {"OTEL_METRIC_EXPORT_INTERVAL", "6"}});
  EXPECT_EQ(options.span_batches, (BatchOptions{2'147'483'647, 3, milliseconds(1)}));
  EXPECT_EQ(options.log_batches, (BatchOptions{5, 5, milliseconds(4)}));
  EXPECT_EQ(options.metric_interval, milliseconds(6));
}

TEST(EnvironmentOptions, RefuseABatchThatTheQueueCannotHold) {
  EXPECT_EQ(
      refusal({{"OTEL_BSP_MAX_QUEUE_SIZE", "100"}, {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "101"}}),
      "OTEL_BSP_MAX_EXPORT_BATCH_SIZE is '101'; expected a whole number from 1 to 100");
}

struct Malformed {
  const char* variable;
  const char* value;
  const char* message;
};

TEST(EnvironmentOptions, RefuseWhatIsMalformedWithVariableValueAndAcceptedForm) {
  const Malformed cases[] = {
      {"OTEL_SDK_DISABLED", "1", "is '1'; expected one of true, false"},
      {"OTEL_SERVICE_NAME", "\xFF", "is '\\xff'; expected UTF-8 text that is not empty"},
      {"OTEL_RESOURCE_ATTRIBUTES", "a", "is 'a'; expected name=value,name=value, percent-encoded"},
      {"OTEL_TRACES_SAMPLER", "jaeger_remote", "is 'jaeger_remote'; expected one of always_on, "},
      {"OTEL_TRACES_EXPORTER", "zipkin", "is 'zipkin'; expected one of otlp, otlp_file, console"},
      {"OTEL_LOGS_EXPORTER", "otlp\n\x1B[2J", "is 'otlp\\x0a\\x1b[2J'; expected one of otlp, "},
      {"OTEL_METRICS_EXPORTER", "otlp,console", "is 'otlp,console'; expected one of otlp, "},
      {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", "is 'http/json'; expected one of http/protobuf"},
      {"OTEL_EXPORTER_OTLP_ENDPOINT", "c:4318", "is 'c:4318'; expected a URL such as http://"},
      {"OTEL_EXPORTER_OTLP_LOGS_COMPRESSION", "zstd", "is 'zstd'; expected one of gzip, none"},
      {"OTEL_EXPORTER_OTLP_TIMEOUT", "10s",
       "is '10s'; expected a whole number from 1 to 2147483647"},
      {"OTEL_SPAN_EVENT_COUNT_LIMIT", "-1",
       "is '-1'; expected a whole number from 0 to 2147483647"},
  };
  for (const auto& [variable, value, message] : cases) {
    const std::string refused = refusal({{variable, value}});
    EXPECT_TRUE(refused.starts_with(std::string(variable) + " " + message)) << refused;
  }
}

TEST(EnvironmentOptions, RefuseNumbersThatAreNone) {
  for (const char* value : {"0", "-1", "x", "1.5", "1 ", " 1", "+1", "1e3", "0x1", "2147483648",
                            "99999999999999999999999"}) {
    EXPECT_NE(refusal({{"OTEL_BSP_SCHEDULE_DELAY", value}}), "") << value;
    EXPECT_NE(refusal({{"OTEL_BLRP_MAX_QUEUE_SIZE", value}}), "") << value;
    EXPECT_NE(refusal({{"OTEL_METRIC_EXPORT_INTERVAL", value}}), "") << value;
    EXPECT_NE(refusal({{"OTEL_EXPORTER_OTLP_LOGS_TIMEOUT", value}}), "") << value;
  }
}

TEST(EnvironmentOptions, RefuseRatiosThatAreNone) {
  for (const char* value : {"-0.1", "1.1", "nan", "inf", "x", "0.5x", "0,5", " 0.5"}) {
    const std::string refused =
        refusal({{"OTEL_TRACES_SAMPLER", "traceidratio"}, {"OTEL_TRACES_SAMPLER_ARG", value}});
    EXPECT_TRUE(refused.starts_with("OTEL_TRACES_SAMPLER_ARG is '")) << value;
  }
}

TEST(EnvironmentOptions, RefuseEndpointsThatAreNone) {
  for (const char* value :
       {"http://", "http:///v1", "ftp://c", "http://c:0", "http://c:65536", "http://c:x",
        "http://c:", "http://a b", "http://c\n", "http://user@c", "http://[::1", "http://[]:1",
        "http://[::1]x", "http://c?a=b", "http://c/#a", "http//c", " http://c"}) {
    EXPECT_NE(refusal({{"OTEL_EXPORTER_OTLP_ENDPOINT", value}}), "") << value;
  }
  for (const char* value :
       {"http://", "https://c:x", "a b", "c\n", "c", "c:", "c:x", "[::1]", "unix:", "dns:///",
        "dns:///c", "dns://resolver/c:1", "nonsense://c:1", "ftp://c:1"}) {
    const Variables grpc = {{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
                            {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", value}};
    EXPECT_NE(refusal(grpc), "") << value;
  }
}

TEST(EnvironmentOptions, RefuseListsThatAreNone) {
  for (const char* value :
       {"a", "=b", "a=b,", ",a=b", "a=b,,c=d", "a=%", "a=%zz", "a=%FF", " =b"}) {
    EXPECT_NE(refusal({{"OTEL_RESOURCE_ATTRIBUTES", value}}), "") << value;
    EXPECT_NE(refusal({{"OTEL_EXPORTER_OTLP_HEADERS", value}}), "") << value;
  }
  for (const char* value : {"a b=c", "a=%0D%0Ab", "a=%C3%A4", "a:=b"}) {
    EXPECT_NE(refusal({{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", value}}), "") << value;
  }
}

TEST(EnvironmentOptions, NeverShowTheValueOfAHeader) {
  EXPECT_EQ(refusal({{"OTEL_EXPORTER_OTLP_HEADERS", "api-key=hidden,hidden,a=%"}}),
            "OTEL_EXPORTER_OTLP_HEADERS is 'api-key=...,...,a=...'; expected "
            "name=value,name=value, percent-encoded, in printable ASCII");
}

TEST(EnvironmentOptions, TakeNamesOfHeadersAsTheProtocolDoes) {
  const Variables http{{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"},
                       {"OTEL_EXPORTER_OTLP_HEADERS", "x~key=hidden"}};
  EXPECT_EQ(refusal(http), "");
  Variables grpc = http;
  grpc["OTEL_EXPORTER_OTLP_PROTOCOL"] = "grpc";
  EXPECT_EQ(refusal(grpc),
            "OTEL_EXPORTER_OTLP_HEADERS is 'x~key=...'; expected name=value,name=value, "
            "percent-encoded, names of letters, digits, '-', '_' and '.', values in printable "
            "ASCII");
  grpc["OTEL_EXPORTER_OTLP_HEADERS"] = "X-Key_1.a=hidden~";
  EXPECT_EQ(refusal(grpc), "");
}

TEST(EnvironmentOptions, BoundTheTextsOfTheResource) {
  const std::string text(2 * Attribute::text_bytes_max, 'x');
  const std::string kept = text.substr(0, Attribute::text_bytes_max);
  const TelemetryOptions options =
      options_from({{"OTEL_RESOURCE_ATTRIBUTES", "service.name=" + text + ",zone=" + text}});
  EXPECT_EQ(options.service_name, kept);
  EXPECT_EQ(options.resource, (Attributes{{"zone", kept}}));
  EXPECT_EQ(options_from({{"OTEL_SERVICE_NAME", text}}).service_name, kept);
}

TEST(EnvironmentOptions, BoundTheMessageOfARefusal) {
  EXPECT_LT(refusal({{"OTEL_LOGS_EXPORTER", std::string(100'000, 'x')}}).size(), 400u);
}

TEST(EnvironmentOptions, OfAnyValuesAreRefusedByNameOrPassTheCheck) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const char* values[] = {"",     "otlp",     "none", "grpc",       "gzip", "true", "a=b",
                          "1000", "http://c", "0",    "prometheus", "\xFF", "-",    "console"};
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string asked;
    const auto get = [&](const char* name) {
      asked = name;
      return random() % 16 == 0 ? values[random() % std::size(values)] : nullptr;
    };
    TelemetryOptions options;
    try {
      options = options_from_environment(get);
    } catch (const std::invalid_argument& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(asked + " is '")) << error.what();
      continue;
    }
    EXPECT_NO_THROW(check_options(options));
    ++accepted;
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace weir::telemetry
