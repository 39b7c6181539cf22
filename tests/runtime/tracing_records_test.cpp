// What the exporter is given of spans, one after the other.

#include <string>

#include <gtest/gtest.h>

#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/internal/node.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/span.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

namespace weir {
namespace {

using telemetry::SpanRecord;
using testing::RecordedSpans;

struct Plain {};
struct Rich {};
struct Fail {};
struct Remote {};
struct Send {};

/// Makes spans of all kinds.
class Maker final : public Actor<Plain, Rich, Fail, Remote, Send> {
 public:
  void on(Plain) {}
  void on(Rich) {
    set_attribute({"a rather long name of an attribute", "and an even longer text that it has"});
    for (int i = 0; i < 7; ++i) set_attribute({"many", i});
    add_event("event", {{"number", 1}});
    Span part = span("part", {{"text", "value"}, {"flag", true}});
    part.set_status(telemetry::SpanStatus::ok);
  }
  void on(Fail) { throw std::runtime_error("as it should"); }
  void on(Remote) {
    telemetry::TraceContext remote;
    remote.trace.bytes.fill(1);
    remote.span.bytes.fill(2);
    remote.is_sampled = true;
    remote.baggage = std::make_shared<const telemetry::TraceBaggage>(
        telemetry::TraceBaggage{"vendor=value", "key=value"});
    const Span from_elsewhere = remote_span("elsewhere", remote);
    self().send<Plain>();
  }
  void on(Send) { self().send<Plain>(); }
};

std::string describe(const telemetry::AttributeValue& value) {
  return std::visit(
      [](const auto& one) -> std::string {
        if constexpr (std::is_same_v<decltype(one), const std::string&>) {
          return one;
        } else {
          return std::to_string(one);
        }
      },
      value);
}

std::string describe(const telemetry::Attributes& attributes) {
  std::string text = "{";
  for (const auto& [name, value] : attributes) text += name + "=" + describe(value) + ";";
  return text + "}";
}

std::string describe(const telemetry::TraceContext& context) {
  return to_string(context.trace) + "/" + to_string(context.span) +
         (context.is_sampled ? " sampled " : " not sampled ") +
         (context.baggage ? context.baggage->trace_state + " " + context.baggage->baggage : "-");
}

std::string describe(const SpanRecord& span) {
  std::string text = span.name + " " + describe(span.context) + " under " + to_string(span.parent) +
                     (span.parent_is_remote ? " remote" : "") + " kind " +
                     std::to_string(static_cast<int>(span.kind)) + " from " +
                     std::to_string(span.begin) + " to " + std::to_string(span.end) + " " +
                     describe(span.attributes) + " status " +
                     std::to_string(static_cast<int>(span.status)) + span.status_message;
  for (const auto& event : span.events) {
    text += " event " + event.name + std::to_string(event.time) + describe(event.attributes);
  }
  for (const auto& link : span.links) {
    text += " link " + describe(link.context) + describe(link.attributes);
  }
  return text + " dropped " + std::to_string(span.dropped_attributes) + " " +
         std::to_string(span.dropped_events) + " " + std::to_string(span.dropped_links);
}

/// The same program, whose spans are the same to the last bit, exported in batches of that size.
std::vector<std::string> spans_of(std::size_t batch_max, std::size_t attributes_max) {
  const RecordedSpans spans(
      {.limits = {.attributes_max = attributes_max, .events_max = attributes_max},
       .span_batches = {.batch_max = batch_max}});
  SimulationOptions options;
  options.system.telemetry = spans.telemetry();
  options.system.on_failure = [](const ActorFailure&) {};
  Simulation simulation(options);
  for (int i = 0; i < 3; ++i) {
    auto maker = simulation.system().spawn<Maker>();
    maker.send<Plain>();
    maker.send<Rich>();
    maker.send<Plain>();
    maker.send<Send>();
    maker.send<Remote>();
    maker.send<Plain>();
    simulation.run_until_idle();
    maker.send<Fail>();
    simulation.run_until_idle();
  }
  std::vector<std::string> described;
  for (const SpanRecord& span : spans.all()) described.push_back(describe(span));
  return described;
}

// One after the other they are written over each other; together each has a record of its own.
TEST(TracingRecords, HaveNothingOfTheSpanThatWasThereBefore) {
  for (const std::size_t attributes_max : {0u, 1u, 100u}) {
    const std::vector<std::string> apart = spans_of(512, attributes_max);
    EXPECT_GE(apart.size(), 27u);
    EXPECT_EQ(spans_of(1, attributes_max), apart);
    EXPECT_EQ(spans_of(2, attributes_max), apart);
  }
}

TEST(TracingRecords, TheNameOfAMessageIsTheSameWhenItIsReadAgain) {
  for (const std::size_t length : {std::size_t{1}, std::size_t{70'000}}) {
    const std::string signature = "f() [T = " + std::string(length, 'x') + "]";
    const internal::MessageType type{signature.c_str(), nullptr, nullptr, 0, false};
    EXPECT_EQ(type.name(), std::string(length, 'x'));
    EXPECT_EQ(type.name(), std::string(length, 'x'));
  }
}

}  // namespace
}  // namespace weir
