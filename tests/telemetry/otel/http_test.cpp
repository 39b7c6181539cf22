#include <weir/telemetry/otel/exporters.hpp>

#include <array>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/tests/telemetry/otel/support/otlp_receiver.hpp>
#include <weir/tests/telemetry/otel/support/samples.hpp>

namespace weir::telemetry::otel {
namespace {

TEST(OtlpHttp, CarriesEveryFieldOfASpan) {
  OtlpReceiver collector;
  auto exporters = make_exporters(collector.options());
  const std::array sent{rich_span()};
  ASSERT_TRUE(exporters.spans->export_batch(sent));

  const auto received = collector.wait_for_spans(1);
  ASSERT_EQ(received.size(), 1u);
  const SpanRecord& span = received[0].span;
  EXPECT_EQ(span.name, sent[0].name);
  EXPECT_EQ(span.context.trace, sent[0].context.trace);
  EXPECT_EQ(span.context.span, sent[0].context.span);
  EXPECT_TRUE(span.context.is_sampled);
  ASSERT_TRUE(span.context.baggage);
  EXPECT_EQ(span.context.baggage->trace_state, "vendor=value,other=1");
  EXPECT_EQ(span.parent, sent[0].parent);
  EXPECT_TRUE(span.parent_is_remote);
  EXPECT_EQ(span.kind, SpanKind::consumer);
  EXPECT_EQ(span.begin, sent[0].begin);
  EXPECT_EQ(span.end, sent[0].end);
  EXPECT_EQ(span.attributes, sent[0].attributes);
  EXPECT_EQ(span.status, SpanStatus::error);
  EXPECT_EQ(span.status_message, "insufficient funds");
  EXPECT_EQ(span.dropped_attributes, 3u);
  EXPECT_EQ(span.dropped_events, 4u);
  EXPECT_EQ(span.dropped_links, 5u);
}

TEST(OtlpHttp, CarriesEventsAndLinks) {
  OtlpReceiver collector;
  auto exporters = make_exporters(collector.options());
  const std::array sent{rich_span()};
  ASSERT_TRUE(exporters.spans->export_batch(sent));

  const auto received = collector.wait_for_spans(1);
  ASSERT_EQ(received.size(), 1u);
  const SpanRecord& span = received[0].span;
  ASSERT_EQ(span.events.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(span.events[i].name, sent[0].events[i].name);
    EXPECT_EQ(span.events[i].time, sent[0].events[i].time);
    EXPECT_EQ(span.events[i].attributes, sent[0].events[i].attributes);
  }
  ASSERT_EQ(span.links.size(), 1u);
  EXPECT_EQ(span.links[0].context.trace, sent[0].links[0].context.trace);
  EXPECT_EQ(span.links[0].context.span, sent[0].links[0].context.span);
  EXPECT_EQ(span.links[0].attributes, sent[0].links[0].attributes);
}

TEST(OtlpHttp, LeavesOutWhatASpanDoesNotHave) {
  OtlpReceiver collector;
  auto exporters = make_exporters(collector.options());
  ASSERT_TRUE(exporters.spans->export_batch(std::array{plain_span()}));

  const auto received = collector.wait_for_spans(1);
  ASSERT_EQ(received.size(), 1u);
  const SpanRecord& span = received[0].span;
  EXPECT_FALSE(span.parent.is_valid());
  EXPECT_FALSE(span.parent_is_remote);
  EXPECT_FALSE(span.context.baggage);
  EXPECT_EQ(span.kind, SpanKind::internal);
  EXPECT_TRUE(span.attributes.empty() && span.events.empty() && span.links.empty());
  EXPECT_EQ(span.status, SpanStatus::unset);
  EXPECT_EQ(span.dropped_attributes, 0u);
}

TEST(OtlpHttp, KeepsEachKindOfSpan) {
  OtlpReceiver collector;
  auto exporters = make_exporters(collector.options());
  std::vector<SpanRecord> sent;
  for (const auto kind : {SpanKind::internal, SpanKind::server, SpanKind::client,
                          SpanKind::producer, SpanKind::consumer}) {
    sent.push_back(plain_span());
    sent.back().kind = kind;
  }
  ASSERT_TRUE(exporters.spans->export_batch(sent));

  const auto received = collector.wait_for_spans(sent.size());
  ASSERT_EQ(received.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(received[i].span.kind, sent[i].kind);
}

TEST(OtlpHttp, SaysWhoSends) {
  OtlpReceiver collector;
  auto options = collector.options();
  options.service_name = "bank";
  options.resource = {{"host.name", "one"}, {"process.pid", 17}};
  auto exporters = make_exporters(options);
  ASSERT_TRUE(exporters.spans->export_batch(std::array{plain_span()}));

  const auto received = collector.wait_for_spans(1);
  ASSERT_EQ(received.size(), 1u);
  const Attributes expected{{"host.name", "one"},
                            {"process.pid", 17},
                            {"service.name", "bank"},
                            {"telemetry.sdk.language", "cpp"},
                            {"telemetry.sdk.name", "opentelemetry"},
                            {"telemetry.sdk.version", "1.19.0"}};
  EXPECT_EQ(received[0].sender.resource, expected);
  EXPECT_EQ(received[0].sender.scope, "weir");
  EXPECT_FALSE(received[0].sender.scope_version.empty());
}

TEST(OtlpHttp, TakesWhoSendsFromTheOptionsAlone) {
  ::setenv("OTEL_RESOURCE_ATTRIBUTES", "host.name=other,stray=1", 1);
  OtlpReceiver collector;
  auto options = collector.options();
  options.service_name = "bank";
  options.resource = {{"service.name", "another"}, {"host.n\xFF", "one\xFF"}};
  auto exporters = make_exporters(options);
  ::unsetenv("OTEL_RESOURCE_ATTRIBUTES");
  ASSERT_TRUE(exporters.spans->export_batch(std::array{plain_span()}));

  Attributes resource = collector.wait_for_spans(1).at(0).sender.resource;
  std::erase_if(resource, [](const Attribute& one) { return one.name.starts_with("telemetry."); });
  EXPECT_EQ(resource, (Attributes{{"host.n\uFFFD", "one\uFFFD"}, {"service.name", "bank"}}));
}

TEST(OtlpHttp, CarriesSumsGaugesAndHistograms) {
  OtlpReceiver collector;
  auto exporters = make_exporters(collector.options());
  auto counter = metric("weir.messages",
                        {{{{"actor", "A"}}, SumPoint{17}}, {{{"actor", "B"}}, SumPoint{18.5}}});
  counter.is_monotonic = true;
  const std::array sent{
      counter, metric("weir.pending", {{{}, SumPoint{-3}}}),
      metric("weir.age", {{{{"phase", "open"}, {"retries", 2}}, GaugePoint{0.5}}}),
      metric("weir.wait",
             {{{{"actor", "A"}}, HistogramPoint{{0.1, 1, 10}, {4, 3, 2, 1}, 10, 25.5, 0.01, 20}}})};
  ASSERT_TRUE(exporters.metrics->export_batch(sent));

  const auto received = collector.wait_for_metrics(4);
  ASSERT_EQ(received.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const MetricRecord& record = received[i].metric;
    EXPECT_EQ(record.name, sent[i].name);
    EXPECT_EQ(record.description, sent[i].description);
    EXPECT_EQ(record.unit, sent[i].unit);
    EXPECT_EQ(record.is_monotonic, sent[i].is_monotonic);
    EXPECT_EQ(record.begin, sent[i].begin);
    EXPECT_EQ(record.time, sent[i].time);
    EXPECT_EQ(received[i].is_cumulative, i != 2) << "a gauge has no beginning";
    EXPECT_EQ(received[i].sender.scope, "weir");
    ASSERT_EQ(record.points.size(), sent[i].points.size());
    for (std::size_t p = 0; p < record.points.size(); ++p) {
      EXPECT_EQ(record.points[p].attributes, sent[i].points[p].attributes);
      EXPECT_EQ(record.points[p].value.index(), sent[i].points[p].value.index());
    }
  }
  EXPECT_EQ(std::get<SumPoint>(received[0].metric.points[1].value).value, 18.5);
  EXPECT_EQ(std::get<SumPoint>(received[1].metric.points[0].value).value, -3);
  EXPECT_EQ(std::get<GaugePoint>(received[2].metric.points[0].value).value, 0.5);
  const auto& histogram = std::get<HistogramPoint>(received[3].metric.points[0].value);
  EXPECT_EQ(histogram.bounds, (std::vector<double>{0.1, 1, 10}));
  EXPECT_EQ(histogram.buckets, (std::vector<std::uint64_t>{4, 3, 2, 1}));
  EXPECT_EQ(histogram.count, 10u);
  EXPECT_EQ(histogram.sum, 25.5);
  EXPECT_EQ(histogram.min, 0.01);
  EXPECT_EQ(histogram.max, 20);
}

TEST(OtlpHttp, SkipsAMetricWithoutPoints) {
  OtlpReceiver collector;
  auto exporters = make_exporters(collector.options());
  ASSERT_TRUE(exporters.metrics->export_batch(
      std::array{metric("weir.none", {}), metric("weir.one", {{{}, SumPoint{1}}})}));

  const auto received = collector.wait_for_metrics(1);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].metric.name, "weir.one");
}

TEST(OtlpHttp, CarriesEveryFieldOfALogRecord) {
  OtlpReceiver collector;
  auto exporters = make_exporters(collector.options());
  const std::array sent{rich_log()};
  ASSERT_TRUE(exporters.logs->export_batch(sent));

  const auto received = collector.wait_for_logs(1);
  ASSERT_EQ(received.size(), 1u);
  const LogRecord& log = received[0].log;
  EXPECT_EQ(log.time, sent[0].time);
  EXPECT_EQ(log.level, Level::warning);
  EXPECT_EQ(received[0].severity_text, "WARN");
  EXPECT_EQ(log.message, "the account is low");
  EXPECT_EQ(log.context.trace, sent[0].context.trace);
  EXPECT_EQ(log.context.span, sent[0].context.span);
  EXPECT_TRUE(log.context.is_sampled);
  auto expected = one_of_each();
  expected.emplace_back("code.file.path", "bank/account.cpp");
  expected.emplace_back("code.line.number", 17);
  EXPECT_EQ(log.attributes, expected);
  EXPECT_EQ(received[0].sender.scope, "weir");
}

TEST(OtlpHttp, KeepsEachLevelOfALog) {
  OtlpReceiver collector;
  auto exporters = make_exporters(collector.options());
  std::vector<LogRecord> sent;
  for (const auto level :
       {Level::trace, Level::debug, Level::info, Level::warning, Level::error, Level::fatal}) {
    sent.emplace_back().level = level;
  }
  ASSERT_TRUE(exporters.logs->export_batch(sent));

  const auto received = collector.wait_for_logs(sent.size());
  ASSERT_EQ(received.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(received[i].log.level, sent[i].level);
  EXPECT_FALSE(received[0].log.context.is_valid());
}

TEST(OtlpHttp, SendsTheHeadersOfTheOptions) {
  OtlpReceiver collector;
  auto options = collector.options();
  options.traces.headers = {{"authorization", "Bearer secret"}, {"x-tenant", "seven"}};
  auto exporters = make_exporters(options);
  ASSERT_TRUE(exporters.spans->export_batch(std::array{plain_span()}));

  auto headers = collector.last_headers();
  EXPECT_EQ(headers["authorization"], "Bearer secret");
  EXPECT_EQ(headers["x-tenant"], "seven");
  EXPECT_EQ(headers["content-type"], "application/x-protobuf");
  EXPECT_TRUE(headers["user-agent"].starts_with("weir/")) << headers["user-agent"];
}

TEST(OtlpHttp, SendsHeadersWithoutAValue) {
  OtlpReceiver collector;
  auto options = collector.options();
  options.traces.headers = {{"x-empty", ""}, {"x-blank", "  "}};
  auto exporters = make_exporters(options);
  ASSERT_TRUE(exporters.spans->export_batch(std::array{plain_span()}));

  const auto headers = collector.last_headers();
  for (const char* name : {"x-empty", "x-blank"}) {
    ASSERT_EQ(headers.count(name), 1u) << name;
    EXPECT_EQ(headers.at(name), "") << name;
  }
}

TEST(OtlpHttp, RepairsTextsThatAreNotUtf8) {
  OtlpReceiver collector;
  auto exporters = make_exporters(collector.options());
  auto span = plain_span();
  span.name = "caf\xE9";
  span.attributes = {{"na\xFFme", "va\xC0lue"}};
  span.events = {{"e\x80", 1, {}}};
  ASSERT_TRUE(exporters.spans->export_batch(std::array{span}));

  const auto received = collector.wait_for_spans(1);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].span.name, "caf\uFFFD");
  EXPECT_EQ(received[0].span.attributes, (Attributes{{"na\uFFFDme", "va\uFFFDlue"}}));
  EXPECT_EQ(received[0].span.events.at(0).name, "e\uFFFD");
}

TEST(OtlpHttp, SendsManyBatchesOverOneExporter) {
  OtlpReceiver collector;
  auto exporters = make_exporters(collector.options());
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(exporters.spans->export_batch(std::vector<SpanRecord>(5, plain_span())));
  }
  EXPECT_EQ(collector.wait_for_spans(500).size(), 500u);
}

TEST(OtlpHttp, TakesAnyAnswerThatMeansSuccess) {
  OtlpReceiver collector(Manner::accept_202);
  auto exporters = make_exporters(collector.options());
  EXPECT_TRUE(exporters.spans->export_batch(std::array{plain_span()}));
}

// A client that asks first whether to send would wait for collectors that do not know the question.
TEST(OtlpHttp, SendsALargeBatchWithoutAskingFirst) {
  OtlpReceiver collector;
  auto exporters = make_exporters(collector.options());
  ASSERT_TRUE(exporters.spans->export_batch(std::vector<SpanRecord>(5000, rich_span())));
  EXPECT_GT(std::stoul(collector.last_headers()["content-length"]), 1u << 20);
  EXPECT_EQ(collector.last_headers().count("expect"), 0u);
  EXPECT_EQ(collector.wait_for_spans(5000).size(), 5000u);
}

TEST(OtlpHttp, CompressesIfTheOptionsSaySo) {
  OtlpReceiver collector;
  auto options = collector.options();
  options.traces.uses_gzip = true;
  auto exporters = make_exporters(options);
  ASSERT_TRUE(exporters.spans->export_batch(std::vector<SpanRecord>(100, rich_span())));

  EXPECT_EQ(collector.last_headers()["content-encoding"], "gzip");
  const auto received = collector.wait_for_spans(100);
  ASSERT_EQ(received.size(), 100u);
  EXPECT_EQ(received[99].span.name, "Account Deposit");
}

TEST(OtlpHttp, RefusesAnEndpointThatIsNoAddress) {
  for (const char* endpoint : {"nonsense", "ftp://localhost/", "http://", "file:///etc/hosts"}) {
    TelemetryOptions options;
    options.traces.exporter = ExporterKind::otlp_http;
    options.traces.endpoint = endpoint;
    options.traces.timeout = std::chrono::milliseconds{200};
    auto exporters = make_exporters(options);
    EXPECT_FALSE(exporters.spans->export_batch(std::array{plain_span()})) << endpoint;
  }
}

/// A port on which somebody may connect, and nobody answers.
class SilentPort {
 public:
  SilentPort() {
    ::sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = reinterpret_cast<::sockaddr*>(&address);
    ::socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(socket_, generic, size), 0);
    EXPECT_EQ(::listen(socket_, 1), 0);
    EXPECT_EQ(::getsockname(socket_, generic, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  SilentPort(const SilentPort&) = delete;
  ~SilentPort() { ::close(socket_); }

  unsigned number() const noexcept { return port_; }
  bool has_been_called() const {
    const int connection = ::accept(socket_, nullptr, nullptr);
    if (connection >= 0) ::close(connection);
    return connection >= 0;
  }

 private:
  int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  unsigned port_ = 0;
};

// libcurl knows dozens: spans must not be read out to a mail server because of a wrong word.
TEST(OtlpHttp, CallsNobodyInAnotherProtocol) {
  for (const char* protocol : {"dict", "ftp", "gopher", "smtp"}) {
    const SilentPort port;
    TelemetryOptions options;
    options.traces.exporter = ExporterKind::otlp_http;
    options.traces.endpoint =
        std::string(protocol) + "://127.0.0.1:" + std::to_string(port.number()) + "/d:word";
    options.traces.timeout = std::chrono::milliseconds{200};
    auto exporters = make_exporters(options);
    EXPECT_FALSE(exporters.spans->export_batch(std::array{plain_span()})) << protocol;
    EXPECT_FALSE(port.has_been_called()) << protocol;
  }
}

TEST(Exporters, AreNoneUnlessAskedFor) {
  const auto exporters = make_exporters({});
  EXPECT_FALSE(exporters.spans || exporters.metrics || exporters.logs);
}

}  // namespace
}  // namespace weir::telemetry::otel
