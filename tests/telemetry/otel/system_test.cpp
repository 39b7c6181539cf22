// A request through a system of actors, as a collector sees it.

#include <algorithm>
#include <memory>
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

/// Who caused whom, by name.
class Tree {
 public:
  explicit Tree(std::vector<ReceivedSpan> spans) : spans_(std::move(spans)) {}

  const SpanRecord& one(const std::string& name) const {
    const SpanRecord* found = nullptr;
    for (const ReceivedSpan& received : spans_) {
      const std::string& full = received.span.name;
      if (full != name && !full.ends_with("::" + name)) continue;
      EXPECT_EQ(found, nullptr) << "two spans named " << name;
      found = &received.span;
    }
    if (!found) throw std::runtime_error("no span named " + name);
    return *found;
  }
  void expect_child(const std::string& child, const std::string& parent) const {
    EXPECT_EQ(one(child).parent, one(parent).context.span) << child << " below " << parent;
    EXPECT_EQ(one(child).context.trace, one(parent).context.trace) << child;
  }
  void expect_linked(const std::string& span, const std::string& cause) const {
    expect_child(span, cause);
    ASSERT_EQ(one(span).links.size(), 1u) << span;
    EXPECT_EQ(one(span).links[0].context.span, one(cause).context.span) << span;
  }

 private:
  std::vector<ReceivedSpan> spans_;
};

TEST(TracedSystem, ShowsARequestFromTheGatewayToItsLastEffect) {
  const OtlpReceiver receiver;
  TelemetryOptions options = receiver.options();
  options.span_batches.delay = 1ms;
  Telemetry telemetry(options, make_exporters(options));
  TraceContext remote;
  remote.trace.bytes.fill(1);
  remote.span.bytes.fill(2);
  remote.is_sampled = true;
  {
    bool has_paper = false;
    ActorSystem system(
        {.threads = 2, .telemetry = &telemetry, .on_failure = [](const ActorFailure&) {}});
    const SpawnOptions restarted{.supervision = {.directive = Supervision::Directive::restart}};
    auto printer = system.spawn<Printer>(restarted, &has_paper);
    auto shop = system.spawn<Shop>(system.spawn<Bank>(), printer);
    system.spawn<Gateway>(shop).send<Visit>(remote);
    // Visit, POST, Order, Charge, write, blocking call, Print, Remind, restart
    const Tree tree(receiver.wait_for_spans(9));
    EXPECT_EQ(tree.one("POST /orders").parent, remote.span);
    EXPECT_EQ(tree.one("POST /orders").context.trace, remote.trace);
    tree.expect_child("Order", "POST /orders");
    tree.expect_child("Charge", "Order");
    tree.expect_child("write", "Charge");
    tree.expect_child("blocking call", "write");
    tree.expect_linked("Print", "Order");
    tree.expect_linked("Remind", "Order");
    tree.expect_linked("restart", "Print");
    EXPECT_EQ(tree.one("Print").status, SpanStatus::error);
    EXPECT_EQ(tree.one("Print").status_message, "no paper");
    EXPECT_TRUE(tree.one("Order").links.empty());
  }
}

// What a collector does must not matter to actors.
TEST(TracedSystem, WorksOnBesideABadCollector) {
  for (const Manner manner : {Manner::refuse, Manner::answer_503, Manner::hang,
                              Manner::close_request, Manner::close_response}) {
    const OtlpReceiver receiver(manner);
    TelemetryOptions options = receiver.options();
    options.span_batches = {.queue_max = 64, .batch_max = 16, .delay = 1ms};
    Telemetry telemetry(options, make_exporters(options));
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
    telemetry.shut_down(1ms);
  }
}

}  // namespace
}  // namespace weir::telemetry::otel
