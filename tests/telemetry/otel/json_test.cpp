#include <weir/telemetry/otel/internal/json.hpp>

#include <limits>

#include <gtest/gtest.h>
#include <opentelemetry/proto/metrics/v1/metrics.pb.h>
#include <opentelemetry/proto/trace/v1/trace.pb.h>

namespace weir::telemetry::otel {
namespace {

namespace proto = opentelemetry::proto;

TEST(Json, WritesIdsAsHexadecimalAndEnumeratorsAsNumbers) {
  proto::trace::v1::Span span;
  span.set_trace_id(std::string("\x01\xAB\x00\xFF", 4));
  span.set_kind(proto::trace::v1::Span::SPAN_KIND_CONSUMER);
  EXPECT_EQ(to_json(span), R"({"traceId":"01ab00ff","kind":5})");
}

TEST(Json, QuotesIntegersOf64BitsOnly) {
  proto::trace::v1::Span span;
  span.set_start_time_unix_nano(std::numeric_limits<std::uint64_t>::max());
  span.set_dropped_links_count(7);
  EXPECT_EQ(to_json(span), R"({"startTimeUnixNano":"18446744073709551615","droppedLinksCount":7})");
}

TEST(Json, EscapesQuotesBackslashesAndControlCharacters) {
  proto::trace::v1::Span span;
  span.set_name("a\"b\\c\nd\x01\x1F \u00E4");
  EXPECT_EQ(to_json(span), "{\"name\":\"a\\\"b\\\\c\\u000ad\\u0001\\u001f \u00E4\"}");
}

TEST(Json, KeepsAValueThatWasSetToNothing) {
  proto::common::v1::KeyValue pair;
  pair.set_key("k");
  pair.mutable_value()->set_bool_value(false);
  EXPECT_EQ(to_json(pair), R"({"key":"k","value":{"boolValue":false}})");
  pair.mutable_value()->set_int_value(0);
  EXPECT_EQ(to_json(pair), R"({"key":"k","value":{"intValue":"0"}})");
}

TEST(Json, WritesNumbersThatJsonDoesNotHaveAsText) {
  proto::metrics::v1::HistogramDataPoint point;
  point.add_bucket_counts(1);
  point.add_bucket_counts(2);
  point.add_explicit_bounds(0.1);
  point.add_explicit_bounds(std::numeric_limits<double>::infinity());
  point.set_sum(-std::numeric_limits<double>::infinity());
  point.set_min(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(to_json(point), R"({"sum":"-Infinity","bucketCounts":["1","2"],)"
                            R"("explicitBounds":[0.1,"Infinity"],"min":"NaN"})");
}

}  // namespace
}  // namespace weir::telemetry::otel
