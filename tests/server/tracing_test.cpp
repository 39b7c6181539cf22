// A trace that comes in goes on inside and out again; what is measured and logged.

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <weir/telemetry/telemetry.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>
#include <weir/tests/server/support/gateway_fixture.hpp>
#include <weir/tests/server/support/websocket_client.hpp>

namespace weir::server {
namespace {

using telemetry::SpanRecord;
using test::Reply;
using weir::testing::RecordedSpans;

constexpr std::string_view trace = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr std::string_view parent = "00f067aa0ba902b7";

/// Members that are there before the system, which uses them.
struct Recording {
  RecordedSpans spans{telemetry::TelemetryOptions{.measures_always = true}};
};

class Tracing : public Recording, public test::GatewayTest {
 protected:
  Tracing() : GatewayTest(ActorSystemOptions{.telemetry = spans.telemetry()}) { start(); }

  static std::string header(std::string_view flags) {
    return "traceparent: 00-" + std::string(trace) + "-" + std::string(parent) + "-" +
           std::string(flags) + "\r\n";
  }
};

TEST_F(Tracing, ARequestGoesOnWithTheTraceOfItsCaller) {
  const std::string insert =
      R"({"operations":[{"op":"insert","table":"shop.orders","row":{"id":1,"item":"a"}}]})";
  const Reply reply = post("/api/v1/transactions", insert, header("01"));
  ASSERT_EQ(reply.status, 200) << reply.body;
  const std::string answered = reply.headers.at("traceparent");
  EXPECT_EQ(answered.substr(3, 32), trace);
  const SpanRecord request = spans.one("POST");
  EXPECT_EQ(to_string(request.context.trace), trace);
  EXPECT_EQ(to_string(request.parent), parent);
  EXPECT_EQ(answered.substr(36, 16), to_string(request.context.span));
  EXPECT_EQ(*RecordedSpans::attribute(request, "http.response.status_code"),
            telemetry::AttributeValue(std::int64_t{200}));
  // What it asked others to do is part of it: the commit is another actor's.
  std::size_t others = 0;
  for (const SpanRecord& span : spans.all())
    others += to_string(span.context.trace) == trace && span.name != "POST" ? 1 : 0;
  EXPECT_GT(others, 0u);
  // And so is what it wrote.
  const std::string log = get("/api/v1/log").body;
  EXPECT_NE(log.find(R"("trace":")" + std::string(trace)), std::string::npos) << log;
}

class TracedClaims : public Recording, public test::GatewayTest {
 protected:
  TracedClaims() : GatewayTest(ActorSystemOptions{.telemetry = spans.telemetry()}) {
    open_engine();
    start();
  }
  std::string made(std::string_view flags) {
    const std::string header = "traceparent: 00-" + std::string(trace) + "-" + std::string(parent) +
                               "-" + std::string(flags) + "\r\n";
    const Reply reply = post("/api/v1/executions", R"({"kind":"work"})", header);
    EXPECT_EQ(reply.status, 201) << reply.body;
    return test::text_at(reply, "/id");
  }
  Reply claimed() { return post("/api/v1/claims", R"({"worker":"w"})"); }
};

TEST_F(TracedClaims, AWorkerIsToldTheTraceOfWhoAskedForTheExecution) {
  const std::string id = made("01");
  const SpanRecord request = spans.one("POST");
  const std::string told = test::text_at(claimed(), "/claims/0/traceparent");
  EXPECT_EQ(told, "00-" + std::string(trace) + "-" + to_string(request.context.span) + "-01");
  EXPECT_EQ(test::text_at(get("/api/v1/executions/" + id), "/trace"), trace);
}

TEST_F(TracedClaims, OfOneThatNobodyRecordedAWorkerIsToldNone) {
  const std::string id = made("00");
  EXPECT_EQ(test::text_at(claimed(), "/claims/0/traceparent"), "null");
  EXPECT_EQ(test::text_at(get("/api/v1/executions/" + id), "/trace"), "null");
}

TEST_F(Tracing, WhatIsNotSampledIsNotRecorded) {
  const Reply reply = get("/api/v1/tables", header("00"));
  EXPECT_EQ(reply.status, 200);
  for (const SpanRecord& span : spans.all())
    EXPECT_NE(to_string(span.context.trace), trace) << span.name;
}

TEST_F(Tracing, AHeaderThatIsMalformedBeginsATrace) {
  const Reply reply = get("/api/v1/tables", "traceparent: nonsense\r\n");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.headers.at("traceparent").size(), 55u);
}

double malformed_on(const std::string& page, const std::string& header) {
  const std::string series =
      "weir_telemetry_headers_malformed_total{weir_header=\"" + header + "\"} ";
  const std::size_t at = page.find(series);
  return at == std::string::npos ? -1 : std::stod(page.substr(at + series.size()));
}

TEST_F(Tracing, HeadersThatAreMalformedAreCountedOnThePage) {
  const std::string before = get("/metrics").body;
  EXPECT_EQ(get("/api/v1/tables", "traceparent: nonsense\r\nbaggage: ,=,\r\n").status, 200);
  EXPECT_EQ(get("/api/v1/tables", header("01") + "tracestate: ,=,\r\n").status, 200);
  const std::string after = get("/metrics").body;
  for (const char* name : {"traceparent", "tracestate", "baggage"}) {
    EXPECT_EQ(malformed_on(after, name), malformed_on(before, name) + 1) << name;
  }
}

/// Nothing is recorded, but there is a page.
struct Measuring {
  telemetry::Telemetry telemetry{{.measures_always = true}, {}};
};

class OnlyMeasured : public Measuring, public test::GatewayTest {
 protected:
  OnlyMeasured() : GatewayTest(ActorSystemOptions{.threads = 1, .telemetry = &telemetry}) {
    start();
  }
};

TEST_F(OnlyMeasured, APageThatTakesLongHoldsUpNoOtherRequest) {
  std::promise<void> begins;
  std::promise<void> goes_on;
  const auto observation =
      telemetry.meter().observe_gauge("slow", {}, [&](telemetry::Observer& observer) {
        begins.set_value();
        goes_on.get_future().wait();
        observer.report(1);
      });
  auto page = std::async(std::launch::async, [&] { return get("/metrics"); });
  begins.get_future().wait();
  EXPECT_EQ(get("/healthz").status, 200);
  goes_on.set_value();
  EXPECT_NE(page.get().body.find("\nslow 1"), std::string::npos);
}

TEST_F(OnlyMeasured, HeadersThatAreMalformedAreCountedOnThePage) {
  const std::string before = get("/metrics").body;
  EXPECT_EQ(get("/api/v1/tables", "traceparent: nonsense\r\nbaggage: ,=,\r\n").status, 200);
  EXPECT_EQ(get("/api/v1/tables").status, 200);
  const std::string after = get("/metrics").body;
  EXPECT_EQ(malformed_on(after, "traceparent"), malformed_on(before, "traceparent") + 1);
  EXPECT_EQ(malformed_on(after, "baggage"), malformed_on(before, "baggage") + 1);
  EXPECT_EQ(malformed_on(after, "tracestate"), malformed_on(before, "tracestate"));
}

TEST_F(Tracing, RequestsAreMeasuredByTheirRoutes) {
  insert({{1, "apples", 2000}});
  EXPECT_EQ(get("/api/v1/tables/shop.orders/rows/1").status, 200);
  EXPECT_EQ(get("/api/v1/tables/shop.orders/rows/2").status, 404);
  const Reply page = get("/metrics");
  EXPECT_EQ(page.status, 200);
  EXPECT_TRUE(page.headers.at("content-type").starts_with("text/plain"));
  const std::string series = R"(http_server_request_duration_seconds_count{)";
  EXPECT_NE(page.body.find(series), std::string::npos) << page.body;
  EXPECT_NE(page.body.find("/api/v1/tables/{table}/rows/{key}"), std::string::npos);
  EXPECT_EQ(page.body.find("rows/1"), std::string::npos);
}

class AuditLines : public ::testing::Test {};

TEST_F(AuditLines, AreInTheLogOfTheSystemIfNobodyElseTakesThem) {
  struct Lines {
    std::mutex mutex;
    std::vector<telemetry::LogRecord> all;
  };
  auto lines = std::make_shared<Lines>();
  telemetry::Telemetry telemetry({}, {}, {[lines](const telemetry::LogRecord& record) {
                                   const std::scoped_lock hold(lines->mutex);
                                   lines->all.push_back(record);
                                 }});
  struct Server : test::GatewayTest {
    explicit Server(telemetry::Telemetry* to) : GatewayTest(ActorSystemOptions{.telemetry = to}) {
      start();
    }
    void TestBody() override {}
    using GatewayTest::post;
  };
  Server server(&telemetry);
  constexpr int count = 50;  // more than the logger writes of one place in a second
  for (int index = 0; index < count; ++index)
    EXPECT_EQ(server.post("/api/v1/transactions", R"({"operations":[]})").status, 422);
  const std::scoped_lock hold(lines->mutex);
  int audited = 0;
  for (const telemetry::LogRecord& line : lines->all) audited += line.message == "audit" ? 1 : 0;
  EXPECT_EQ(audited, count);
}

TEST_F(Tracing, AnUpgradeGoesOnWithTheTraceOfItsCaller) {
  test::WebSocketClient client(gateway().port(), "/api/v1/views/items/subscribe", header("01"));
  ASSERT_TRUE(client.is_open());
  EXPECT_EQ(client.reply().headers.at("traceparent").substr(3, 32), trace);
  const SpanRecord request = spans.one("GET");
  EXPECT_EQ(to_string(request.parent), parent);
  EXPECT_EQ(*RecordedSpans::attribute(request, "http.response.status_code"),
            telemetry::AttributeValue(std::int64_t{101}));
}

}  // namespace
}  // namespace weir::server
