// What is stored of an execution, byte by byte where it matters to stores of before.
#include <weir/flow/workflow/records.hpp>

#include <chrono>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace weir::flow::workflow {
namespace {

telemetry::TraceContext some_trace() {
  telemetry::TraceContext trace;
  trace.trace.bytes.fill(0xaa);
  trace.span.bytes.fill(0xbb);
  trace.is_sampled = true;
  return trace;
}

ExecutionSpec resize() {
  return {.kind = "resize", .payload = "cat.png", .created_at = Time(std::chrono::seconds(1))};
}

/// What it was before there were traces.
std::string fields_of(const ExecutionSpec& spec) {
  const auto fields = std::apply([](const auto&... field) { return std::tuple(field...); },
                                 ExecutionSpec::weir_fields(spec));
  return storage::encode_value(fields);
}

TEST(Records, ASpecificationWithoutATraceHasTheBytesOfBefore) {
  EXPECT_EQ(storage::encode_value(resize()), fields_of(resize()));
  const auto read = storage::decode_value<ExecutionSpec>(fields_of(resize()));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, resize());
  EXPECT_FALSE(read->trace.is_valid());
  EXPECT_EQ(storage::ValueCodec<ExecutionSpec>::signature(),
            "(text,text,text,text,(u32,duration(1/1000000000),u32,duration(1/1000000000),bool,"
            "[text]),duration(1/1000000000)?,u32,u32,time(1/1000000))");
}

TEST(Records, ATraceIsBehindASpecification) {
  ExecutionSpec spec = resize();
  spec.trace = some_trace();
  const std::string bytes = storage::encode_value(spec);
  EXPECT_EQ(bytes, fields_of(spec) + '\3' + std::string(16, '\xaa') + std::string(8, '\xbb'));
  const auto read = storage::decode_value<ExecutionSpec>(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->trace.trace, spec.trace.trace);
  EXPECT_EQ(read->trace.span, spec.trace.span);
  EXPECT_TRUE(read->trace.is_sampled);
  spec.trace.is_sampled = false;
  EXPECT_FALSE(storage::decode_value<ExecutionSpec>(storage::encode_value(spec))->trace.is_sampled);
}

TEST(Records, WhatIsNoTraceIsCorrupt) {
  const std::string fields = fields_of(resize());
  const std::string ids = std::string(16, '\xaa') + std::string(8, '\xbb');
  for (const std::string& tail :
       {std::string(1, '\0') + ids, '\2' + ids, '\5' + ids, '\3' + ids.substr(1), '\3' + ids + 'x',
        std::string("\3"), '\3' + std::string(24, '\0')}) {
    EXPECT_FALSE(storage::decode_value<ExecutionSpec>(fields + tail)) << tail.size();
  }
}

}  // namespace
}  // namespace weir::flow::workflow
