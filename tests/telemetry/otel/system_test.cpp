// A request through a system of actors, as a collector sees it.

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/span.hpp>
#include <weir/telemetry/otel/exporters.hpp>
#include <weir/telemetry/telemetry.hpp>
#include <weir/tests/telemetry/otel/support/otlp_receiver.hpp>
#include <weir/tests/telemetry/otel/support/unread_telemetry.hpp>

namespace weir::telemetry::otel {
namespace {

using namespace std::chrono_literals;

struct Charge {
  using Reply = int;
};
struct Print {};
struct Remind {};
struct Order {
  using Reply = int;
};
struct Visit {
  TraceContext from;
};

class Printer final : public Actor<Print> {
 public:
  explicit Printer(bool* has_paper) : has_paper_(has_paper) {}
  void on(Print) {
    if (!std::exchange(*has_paper_, true)) throw std::runtime_error("no paper");
  }

 private:
  bool* has_paper_;
};

class Bank final : public Actor<Charge> {
 public:
  Task<int> on(Charge) {
    const auto writing = span("write");
    auto write = [] { return 7; };
    co_return *co_await on_blocking_pool(write);
  }
};

class Shop final : public Actor<Order, Remind> {
 public:
  Shop(RefOf<Bank> bank, RefOf<Printer> printer)
      : bank_(std::move(bank)), printer_(std::move(printer)) {}
  Task<int> on(Order) {
    const int receipt = *co_await bank_.ask<Charge>();
    printer_.send<Print>();
    printer_.send<Print>();  // waits until the printer has been restarted
    schedule_once<Remind>(1ms);
    co_return receipt;
  }
  void on(Remind) {}

 private:
  RefOf<Bank> bank_;
  RefOf<Printer> printer_;
};

class Gateway final : public Actor<Visit> {
 public:
  explicit Gateway(RefOf<Shop> shop) : shop_(std::move(shop)) {}
  Task<> on(Visit visit) {
    const auto request = remote_span("POST /orders", visit.from);
    const auto receipt = co_await shop_.ask<Order>();
    EXPECT_EQ(receipt.value(), 7);
  }

 private:
  RefOf<Shop> shop_;
};

std::string short_name(const std::string& name) {
  const std::size_t colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

std::string text_of(const SpanRecord& span, std::string_view name) {
  const auto found = std::ranges::find(span.attributes, name, &Attribute::name);
  if (found == span.attributes.end()) return "";
  const auto* text = std::get_if<std::string>(&found->value);
  return text ? short_name(*text) : "no text";
}

/// Who caused whom, by name.
class Tree {
 public:
  explicit Tree(std::vector<ReceivedSpan> spans) : spans_(std::move(spans)) {}

  /// A line for each span: its name and actor, whose child it is, what it is linked to, its error.
  std::multiset<std::string> lines() const {
    std::multiset<std::string> all;
    for (const ReceivedSpan& received : spans_) all.insert(line_of(received.span));
    return all;
  }
  const std::vector<ReceivedSpan>& spans() const noexcept { return spans_; }
  const SpanRecord& one(const std::string& name) const {
    const auto found = std::ranges::find_if(spans_, [&](const ReceivedSpan& received) {
      return short_name(received.span.name) == name;
    });
    if (found == spans_.end()) throw std::runtime_error("no span named " + name);
    return found->span;
  }

 private:
  std::string line_of(const SpanRecord& span) const {
    std::string line = short_name(span.name);
    const std::string actor = text_of(span, "weir.actor.type");
    if (!actor.empty()) line += " of " + actor;
    line += " below " + name_of(span.parent);
    for (const SpanLink& link : span.links) line += ", linked to " + name_of(link.context.span);
    if (span.status == SpanStatus::error) line += ", failed: " + span.status_message;
    return line;
  }
  std::string name_of(const SpanId& id) const {
    if (id == SpanId{}) return "nothing";
    for (const ReceivedSpan& received : spans_) {
      if (received.span.context.span == id) return short_name(received.span.name);
    }
    return "something else";
  }

  std::vector<ReceivedSpan> spans_;
};

TraceContext remote_context() {
  TraceContext remote;
  remote.trace.bytes.fill(1);
  remote.span.bytes.fill(2);
  remote.is_sampled = true;
  return remote;
}

void order(Telemetry& telemetry, const OtlpReceiver& receiver) {
  bool has_paper = false;
  ActorSystem system({.threads = 2, .telemetry = &telemetry});
  const SpawnOptions restarted{.supervision = Supervision::restart()};
  auto printer = system.spawn<Printer>(restarted, &has_paper);
  auto shop = system.spawn<Shop>(system.spawn<Bank>(), printer);
  system.spawn<Gateway>(shop).send<Visit>(remote_context());
  EXPECT_EQ(receiver.wait_for_spans(10).size(), 10u);
  EXPECT_TRUE(system.stop().is_clean());
}

TEST(TracedSystem, ShowsARequestFromTheGatewayToItsLastEffect) {
  const OtlpReceiver receiver;
  TelemetryOptions options = receiver.options();
  options.span_batches.delay = 1ms;
  Telemetry telemetry(options, make_exporters(options));
  order(telemetry, receiver);
  const Tree tree(receiver.wait_for_spans(10));
  const std::multiset<std::string> expected = {
      "Visit of Gateway below nothing",
      "POST /orders below something else",
      "Order of Shop below POST /orders",
      "Charge of Bank below Order",
      "write below Charge",
      "blocking call below write",
      "Print of Printer below Order, linked to Order, failed: no paper",
      "restart of Printer below Print, linked to Print",
      "Print of Printer below Order, linked to Order",
      "Remind of Shop below Order, linked to Order",
  };
  EXPECT_EQ(tree.lines(), expected);
  EXPECT_EQ(tree.one("POST /orders").parent, remote_context().span);
  for (const ReceivedSpan& received : tree.spans()) {
    const SpanRecord& span = received.span;
    EXPECT_EQ(received.sender.scope, "weir");
    const bool is_visit = short_name(span.name) == "Visit";
    EXPECT_EQ(span.context.trace == remote_context().trace, !is_visit) << span.name;
    const auto has = [&](std::string_view name) {
      return std::ranges::count(span.attributes, name, &Attribute::name) == 1;
    };
    const bool is_handler = has("weir.message.type");
    EXPECT_EQ(has("weir.handle.seconds"), is_handler) << span.name;
    EXPECT_EQ(has("weir.mailbox.wait.seconds"), is_handler && !is_visit)
        << span.name << " (it is not known how long one from outside has waited)";
    const bool has_failed = span.status == SpanStatus::error;
    EXPECT_EQ(std::ranges::count(span.events, "exception", &SpanEvent::name), has_failed ? 1 : 0);
  }
}

TEST(TracedSystem, HasSentAllThreeSignalsWhenItHasStopped) {
  const OtlpReceiver receiver;
  const TelemetryOptions options = receiver.options();
  Telemetry telemetry(options, make_exporters(options));
  {
    bool has_paper = false;
    ActorSystem system({.threads = 1, .telemetry = &telemetry});
    auto printer = system.spawn<Printer>(&has_paper);
    printer.send<Print>();
    EXPECT_TRUE(system.stop({.timeout = 1min}).is_clean());
  }
  const Tree tree(receiver.wait_for_spans(1));
  const auto logs = receiver.wait_for_logs(1);
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_EQ(logs[0].log.message, "actor failed");
  EXPECT_EQ(logs[0].log.context.trace, tree.one("Print").context.trace);
  EXPECT_EQ(logs[0].log.context.span, tree.one("Print").context.span);
  double messages = 0;
  for (const ReceivedMetric& received : receiver.wait_for_metrics(1)) {
    if (received.metric.name != "weir.actor.messages") continue;
    messages = std::get<SumPoint>(received.metric.points.at(0).value).value;
  }
  EXPECT_EQ(messages, 1);
}

// What a collector does must not matter to actors.
TEST(TracedSystem, WorksOnBesideABadCollector) {
  for (const Manner manner : {Manner::refuse, Manner::answer_503, Manner::hang,
                              Manner::close_request, Manner::close_response}) {
    const OtlpReceiver receiver(manner);
    TelemetryOptions options = receiver.options();
    UnreadTelemetry::prepare(options);
    // Longer than a test may take: nothing must wait for it.
    options.traces.timeout = options.metrics.timeout = options.logs.timeout = 1h;
    Telemetry telemetry(options, make_exporters(options));
    UnreadTelemetry unread(telemetry);
    ActorSystem system({.threads = 2, .stop_timeout = 100ms, .telemetry = &telemetry});
    bool has_paper = true;
    auto printer = system.spawn<Printer>(&has_paper);
    auto shop = system.spawn<Shop>(system.spawn<Bank>(), printer);
    struct Visiting {
      static Task<int> run(RefOf<Shop> shop) {
        int sum = 0;
        for (int i = 0; i < 200; ++i) sum += *co_await shop.ask<Order>();
        co_return sum;
      }
    };
    EXPECT_EQ(system.run(Visiting::run(shop)), 1400);
    unread.tell();
    EXPECT_TRUE(system.stop().is_clean());
    telemetry.shut_down(1ms);
    unread.expect_none_was_taken();
  }
}

}  // namespace
}  // namespace weir::telemetry::otel
