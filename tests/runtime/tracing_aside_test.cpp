// What a trace shows of messages that are handled later than they come, or never.

#include <gtest/gtest.h>

#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/span.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using telemetry::SpanRecord;
using testing::RecordedSpans;

SimulationOptions recording(const RecordedSpans& spans) {
  SimulationOptions options;
  options.system.telemetry = spans.telemetry();
  return options;
}

bool is_child(const SpanRecord& child, const SpanRecord& parent) {
  return child.context.trace == parent.context.trace && child.parent == parent.context.span;
}

bool is_linked(const SpanRecord& span, const SpanRecord& cause) {
  return span.links.size() == 1 && span.links[0].context.span == cause.context.span &&
         span.links[0].context.trace == cause.context.trace;
}

struct Open {};
struct Item {};

class Door final : public Actor<Open, Item> {
 public:
  bool ready_for(const Item&) const { return is_open_; }
  void on(Open) {
    is_open_ = true;
    unstash();
  }
  void on(Item) {}

 private:
  bool is_open_ = false;
};

TEST(TracingAside, AMessageThatWasSetAsideIsOneSpan) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto door = simulation.system().spawn<Door>();
  door.send<Item>();
  simulation.run_until_idle();
  EXPECT_TRUE(spans.all().empty());
  door.send<Open>();
  simulation.run_until_idle();
  EXPECT_EQ(spans.named("Item").size(), 1u);
}

TEST(TracingAside, AMessageThatWasSetAsideIsSampledOnce) {
  const RecordedSpans spans({.sampler = {.kind = telemetry::SamplerKind::ratio, .ratio = 0.5}});
  Simulation simulation(recording(spans));
  for (int i = 0; i < 200; ++i) {
    auto door = simulation.system().spawn<Door>();
    door.send<Item>();
    simulation.run_until_idle();
    door.send<Open>();
    simulation.run_until_idle();
  }
  EXPECT_GT(spans.named("Item").size(), 80u);  // of a second draw 50 would be left
  EXPECT_LT(spans.named("Item").size(), 120u);
  for (const SpanRecord& item : spans.named("Item")) {
    EXPECT_FALSE(item.parent.is_valid());
    EXPECT_TRUE(item.links.empty());
  }
}

struct Tick {};

/// Opens when some rounds of its timer have come.
class Shutter final : public Actor<Tick, Open> {
 public:
  bool ready_for(const Tick&) const { return is_open_; }
  void on_start() { schedule_every<Tick>(1s); }
  void on(Tick) {}
  void on(Open) {
    is_open_ = true;
    unstash();
  }

 private:
  bool is_open_ = false;
};

TEST(TracingAside, ATimerThatWasSetAsideBeginsATraceEachTime) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto shutter = simulation.system().spawn<Shutter>();
  simulation.run_for(2s);
  shutter.send<Open>();
  simulation.run_for(3s);
  const auto ticks = spans.named("Tick");
  ASSERT_GE(ticks.size(), 3u);
  EXPECT_NE(ticks[0].context.trace, ticks[1].context.trace);
  EXPECT_NE(ticks[1].context.trace, ticks[2].context.trace);
}

struct Busy {};
struct Due {};
struct Ask {
  using Reply = int;
};
struct Call {};

/// Is busy while its timer fires and who asked it gives up.
class Overtaken final : public Actor<Busy, Due, Ask> {
 public:
  Task<> on(Busy) {
    auto due = schedule_once<Due>(1s);
    static_cast<void>(co_await sleep_for(4s));
    due.cancel();
  }
  void on(Due) {}
  int on(Ask) { return 0; }
};

class Impatient final : public Actor<Call> {
 public:
  explicit Impatient(RefOf<Overtaken> target) : target_(std::move(target)) {}
  Task<> on(Call) { EXPECT_FALSE(co_await target_.ask<Ask>().within(1s)); }

 private:
  RefOf<Overtaken> target_;
};

TEST(TracingAside, AMessageThatNoHandlerSeesIsNoSpan) {
  const RecordedSpans spans;
  SimulationOptions options = recording(spans);
  int letters = 0;
  options.system.on_dead_letter = [&](const DeadLetter&) { ++letters; };
  Simulation simulation(options);
  auto target = simulation.system().spawn<Overtaken>();
  target.send<Busy>();
  simulation.run_for(1ms);
  simulation.system().spawn<Impatient>(target).send<Call>();
  simulation.run_until_idle();
  EXPECT_EQ(letters, 1);
  EXPECT_EQ(spans.named("Call").size(), 1u);
  EXPECT_EQ(spans.named("Busy").size(), 1u);
  EXPECT_TRUE(spans.named("Due").empty());
  EXPECT_TRUE(spans.named("Ask").empty());
}

struct Bring {};

class Carrier final : public Actor<Bring> {
 public:
  explicit Carrier(ActorRef<Item> to) : to_(std::move(to)) {}
  void on(Bring) { EXPECT_TRUE(to_.send<Item>()); }

 private:
  ActorRef<Item> to_;
};

TEST(TracingAside, AMessageThatWasSetAsideIsLinkedToItsSender) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto door = simulation.system().spawn<Door>();
  simulation.system().spawn<Carrier>(door).send<Bring>();
  simulation.run_until_idle();
  EXPECT_TRUE(spans.named("Item").empty());
  door.send<Open>();
  simulation.run_until_idle();
  EXPECT_TRUE(is_child(spans.one("Item"), spans.one("Bring")));
  EXPECT_TRUE(is_linked(spans.one("Item"), spans.one("Bring")));
}

}  // namespace
}  // namespace weir
