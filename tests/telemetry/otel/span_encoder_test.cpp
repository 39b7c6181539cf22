// Spans written straight as bytes, compared with what OpenTelemetry makes of the same records.

#include <weir/telemetry/otel/internal/span_encoder.hpp>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <opentelemetry/exporters/otlp/otlp_recordable.h>
#include <opentelemetry/exporters/otlp/otlp_recordable_utils.h>
#include <opentelemetry/proto/collector/trace/v1/trace_service.pb.h>

#include <weir/telemetry/otel/internal/records.hpp>
#include <weir/tests/telemetry/otel/support/samples.hpp>
#include <weir/tests/telemetry/support/random.hpp>

namespace weir::telemetry::otel {
namespace {

using opentelemetry::proto::collector::trace::v1::ExportTraceServiceRequest;
using testing::hostile_text;
using testing::pick;

/// By way of OpenTelemetry's recordables and protobuf's messages.
std::string expected(std::span<const SpanRecord> batch, const Identity& identity) {
  std::vector<std::unique_ptr<sdk::trace::Recordable>> recordables;
  for (const SpanRecord& span : batch) {
    recordables.push_back(std::make_unique<opentelemetry::exporter::otlp::OtlpRecordable>());
    fill(*recordables.back(), span, identity);
  }
  ExportTraceServiceRequest request;
  opentelemetry::exporter::otlp::OtlpRecordableUtils::PopulateRequest(
      {recordables.data(), recordables.size()}, &request);
  return request.SerializeAsString();
}

class RandomSpans {
 public:
  explicit RandomSpans(std::uint64_t seed) : random_(seed) {}

  std::vector<SpanRecord> batch() {
    std::vector<SpanRecord> spans(1 + pick(random_, 5));
    for (SpanRecord& span : spans) span = this->span();
    return spans;
  }

 private:
  SpanRecord span() {
    SpanRecord span;
    span.name = text();
    span.context = context();
    if (coin()) span.parent = context().span;
    span.parent_is_remote = coin();
    span.kind = static_cast<SpanKind>(pick(random_, 5));
    span.begin = time();
    span.end = time();
    span.attributes = attributes();
    for (std::size_t i = pick(random_, 4); i > 0; --i) {
      span.events.push_back({text(), time(), attributes()});
    }
    for (std::size_t i = pick(random_, 3); i > 0; --i) {
      span.links.push_back({context(), attributes()});
    }
    span.status = static_cast<SpanStatus>(pick(random_, 3));
    span.status_message = text();
    span.dropped_attributes = count();
    span.dropped_events = count();
    span.dropped_links = count();
    return span;
  }

  TraceContext context() {
    TraceContext context;
    for (auto& byte : context.trace.bytes) byte = static_cast<std::uint8_t>(random_());
    for (auto& byte : context.span.bytes) byte = static_cast<std::uint8_t>(random_());
    context.is_sampled = coin();
    if (coin()) {
      context.baggage = std::make_shared<const TraceBaggage>(
          TraceBaggage{coin() ? "a=1,vendor=some value" : "", "not=sent"});
    }
    return context;
  }

  Attributes attributes() {
    Attributes made;
    for (std::size_t i = pick(random_, 5); i > 0; --i) made.push_back(attribute());
    return made;
  }
  Attribute attribute() {
    switch (pick(random_, 4)) {
      case 0: return {text(), coin()};
      case 1: return {text(), static_cast<std::int64_t>(random_() >> pick(random_, 64))};
      case 2: return {text(), std::ldexp(static_cast<double>(pick(random_, 3)) - 1, 7)};
      default: return {text(), text()};
    }
  }

  // Now and then so long that its length takes two or three bytes, and the buffer has to grow.
  std::string text() {
    const std::string some = hostile_text(random_, 12);
    if (pick(random_, 8) > 0 || some.empty()) return some;
    std::string much;
    while (much.size() < (coin() ? 200 : 3'000)) much += some;
    return much;
  }
  WallTime time() {
    return coin() ? 1'700'000'000'000'000'000 + static_cast<WallTime>(random_() >> 20) : 0;
  }
  std::uint32_t count() { return coin() ? 0 : static_cast<std::uint32_t>(random_()); }
  bool coin() { return pick(random_, 2) == 1; }

  std::mt19937_64 random_;
};

TEST(SpanEncoder, WritesWhatOpenTelemetryWritesToTheByte) {
  const std::uint64_t seed = testing::test_seed();
  WEIR_TRACE_SEED(seed);
  RandomSpans random(seed);
  TelemetryOptions options;
  options.resource = {{"host.name", "h\xFF"}, {"replica", 3}};
  const Identity identity = make_identity(options);
  SpanEncoder encoder(identity);
  for (int i = 0; i < 500 && !::testing::Test::HasFailure(); ++i) {
    const std::vector<SpanRecord> batch = random.batch();
    const std::string bytes(encoder.encode(batch));
    ExportTraceServiceRequest read;
    ASSERT_TRUE(read.ParseFromString(bytes));
    EXPECT_EQ(read.SerializeAsString(), bytes) << "in protobuf's own order, nothing twice";
    EXPECT_EQ(bytes, expected(batch, identity)) << read.DebugString();
  }
}

TEST(SpanEncoder, BeginsAnewWithEachBatch) {
  const Identity identity = make_identity({});
  SpanEncoder encoder(identity);
  std::vector<SpanRecord> many(2'000, rich_span());  // more memory than it keeps
  many.front().attributes.emplace_back("long", std::string(4'000, 'x'));
  EXPECT_EQ(encoder.encode(many), expected(many, identity));
  const std::array one{plain_span()};
  EXPECT_EQ(encoder.encode(one), expected(one, identity));
  EXPECT_EQ(encoder.encode(many), expected(many, identity));
}

}  // namespace
}  // namespace weir::telemetry::otel
