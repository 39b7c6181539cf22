// How long messages wait and handlers take.

#include <weir/runtime/internal/measuring.hpp>

#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/telemetry/telemetry.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using telemetry::HistogramPoint;
using telemetry::TelemetryOptions;

constexpr const char* wait_name = "weir.actor.mailbox.wait.duration";
constexpr const char* handle_name = "weir.actor.handle.duration";

const TelemetryOptions each_message{.measures_always = true, .measured_one_in_max = 1};

/// What is known about one type of actor, if anything.
std::optional<HistogramPoint> durations(telemetry::Telemetry& telemetry, std::string_view name,
                                        std::string_view actor) {
  for (const telemetry::MetricRecord& record : telemetry.collect()) {
    if (record.name != name) continue;
    EXPECT_EQ(record.unit, "s");
    for (const telemetry::MetricPoint& point : record.points) {
      EXPECT_EQ(point.attributes.size(), 1u);
      EXPECT_EQ(point.attributes[0].name, "weir.actor.type");
      if (std::get<std::string>(point.attributes[0].value).ends_with(actor)) {
        return std::get<HistogramPoint>(point.value);
      }
    }
  }
  return std::nullopt;
}

/// How many of its values lie above `lower` and not above `upper`, two neighbouring bounds.
std::uint64_t between(const HistogramPoint& point, double lower, double upper) {
  const auto at = std::ranges::find(point.bounds, upper);
  EXPECT_NE(at, point.bounds.end());
  EXPECT_TRUE(at == point.bounds.begin() ? lower == 0 : *(at - 1) == lower);
  return point.buckets[static_cast<std::size_t>(at - point.bounds.begin())];
}

SimulationOptions in(telemetry::Telemetry* telemetry) {
  SimulationOptions options;
  options.system.telemetry = telemetry;
  return options;
}

struct Work {
  Duration time;
};
struct Note {};
struct Arm {};

class Worker final : public Actor<Work, Note, Arm> {
 public:
  Task<> on(Work work) { static_cast<void>(co_await sleep_for(work.time)); }
  void on(Note) {}
  Task<> on(Arm) {
    schedule_once<Note>(1s);
    static_cast<void>(co_await sleep_for(4s));
  }
};

TEST(Measuring, AHandlerTakesUntilItEnds) {
  telemetry::Telemetry telemetry(each_message, {});
  Simulation simulation(in(&telemetry));
  simulation.system().spawn<Worker>().send<Work>(3ms);
  simulation.run_until_idle();
  const HistogramPoint handled = durations(telemetry, handle_name, "Worker").value();
  EXPECT_EQ(handled.count, 1u);
  EXPECT_DOUBLE_EQ(handled.sum, 0.003);
  EXPECT_EQ(between(handled, 0.0025, 0.005), 1u);
}

TEST(Measuring, BoundsReachFromAMicrosecondToTenSeconds) {
  telemetry::Telemetry telemetry(each_message, {});
  Simulation simulation(in(&telemetry));
  auto worker = simulation.system().spawn<Worker>();
  worker.send<Note>();
  worker.send<Work>(11s);
  simulation.run_until_idle();
  const HistogramPoint handled = durations(telemetry, handle_name, "Worker").value();
  EXPECT_EQ(between(handled, 0, 1e-6), 1u);
  EXPECT_EQ(handled.bounds.back(), 10);
  EXPECT_EQ(handled.buckets.back(), 1u);
}

TEST(Measuring, AMessageWaitsFromItsSendingUntilItIsHandled) {
  telemetry::Telemetry telemetry(each_message, {});
  Simulation simulation(in(&telemetry));
  auto worker = simulation.system().spawn<Worker>();
  worker.send<Work>(3ms);
  simulation.run_for(1ms);
  worker.send<Note>();
  simulation.run_until_idle();
  const HistogramPoint waited = durations(telemetry, wait_name, "Worker").value();
  EXPECT_EQ(waited.count, 2u);
  EXPECT_EQ(between(waited, 0, 1e-6), 1u);
  EXPECT_EQ(between(waited, 0.001, 0.0025), 1u);
  EXPECT_DOUBLE_EQ(waited.sum, 0.002);
}

TEST(Measuring, ATimerWaitsFromWhenItIsDue) {
  telemetry::Telemetry telemetry(each_message, {});
  Simulation simulation(in(&telemetry));
  simulation.system().spawn<Worker>().send<Arm>();
  simulation.run_until_idle();
  const HistogramPoint waited = durations(telemetry, wait_name, "Worker").value();
  EXPECT_EQ(waited.count, 2u);
  EXPECT_DOUBLE_EQ(waited.sum, 3);
}

class Ticker final : public Actor<Note> {
 public:
  void on_start() { schedule_every<Note>(1s); }
  Task<> on(Note) { static_cast<void>(co_await sleep_for(100ms)); }
};

TEST(Measuring, ATimerThatRepeatsIsMeasuredEachTime) {
  telemetry::Telemetry telemetry(each_message, {});
  Simulation simulation(in(&telemetry));
  simulation.system().spawn<Ticker>();
  simulation.run_for(10500ms);
  const HistogramPoint handled = durations(telemetry, handle_name, "Ticker").value();
  EXPECT_EQ(handled.count, 10u);
  EXPECT_DOUBLE_EQ(handled.sum, 1);
  EXPECT_EQ(durations(telemetry, wait_name, "Ticker").value().sum, 0);
}

TEST(Measuring, ATimerThatIsLateHasWaited) {
  telemetry::Telemetry telemetry(each_message, {});
  SimulationOptions options = in(&telemetry);
  options.faults = {.late_timer = 1, .late_timer_max = 100ms};
  Simulation simulation(options);
  simulation.system().spawn<Ticker>();
  simulation.run_for(10500ms);
  EXPECT_GT(durations(telemetry, wait_name, "Ticker").value().sum, 0.01);
}

struct Open {};

class Door final : public Actor<Open, Note> {
 public:
  bool ready_for(const Note&) const { return is_open_; }
  void on(Open) {
    is_open_ = true;
    unstash();
  }
  void on(Note) {}

 private:
  bool is_open_ = false;
};

void expect_stashed_message_once(telemetry::Telemetry& telemetry) {
  Simulation simulation(in(&telemetry));
  auto door = simulation.system().spawn<Door>();
  door.send<Note>();
  simulation.run_for(2s);
  door.send<Open>();
  simulation.run_until_idle();
  const HistogramPoint waited = durations(telemetry, wait_name, "Door").value();
  EXPECT_EQ(waited.count, 2u);
  EXPECT_DOUBLE_EQ(waited.sum, 2);
  EXPECT_EQ(durations(telemetry, handle_name, "Door").value().count, 2u);
}

TEST(Measuring, AMessageThatIsSetAsideWaitsOn) {
  telemetry::Telemetry telemetry(each_message, {});
  expect_stashed_message_once(telemetry);
}

TEST(Measuring, AlsoIfItIsRecorded) {
  const testing::RecordedSpans spans(each_message);
  expect_stashed_message_once(*spans.telemetry());
}

struct Ask {
  using Reply = int;
};

class Server final : public Actor<Ask> {
 public:
  Task<int> on(Ask) {
    static_cast<void>(co_await sleep_for(1s));
    co_return 1;
  }
};

class Client final : public Actor<Note> {
 public:
  explicit Client(RefOf<Server> server) : server_(std::move(server)) {}
  Task<> on(Note) { EXPECT_TRUE(co_await server_.ask<Ask>()); }

 private:
  RefOf<Server> server_;
};

void expect_requests(telemetry::Telemetry& telemetry) {
  Simulation simulation(in(&telemetry));
  auto server = simulation.system().spawn<Server>();
  simulation.system().spawn<Client>(server).send<Note>();
  simulation.system().spawn<Client>(server).send<Note>();
  simulation.run_until_idle();
  EXPECT_EQ(durations(telemetry, handle_name, "Server").value().sum, 2);
  EXPECT_EQ(durations(telemetry, wait_name, "Server").value().sum, 1);
  EXPECT_EQ(durations(telemetry, handle_name, "Client").value().sum, 3);
}

TEST(Measuring, RequestsOfRecordedHandlersAreMeasured) {
  const testing::RecordedSpans spans(each_message);
  expect_requests(*spans.telemetry());
  EXPECT_EQ(spans.all().size(), 4u);
}

TEST(Measuring, SoAreThoseThatAreNotRecorded) {
  TelemetryOptions options = each_message;
  options.sampler = {.kind = telemetry::SamplerKind::always_off};
  const testing::RecordedSpans spans(options);
  expect_requests(*spans.telemetry());
  EXPECT_TRUE(spans.all().empty());
}

struct Burst {
  int messages;
};

class Sender final : public Actor<Burst> {
 public:
  explicit Sender(RefOf<Worker> worker) : worker_(std::move(worker)) {}
  void on(Burst burst) {
    for (int i = 0; i < burst.messages; ++i) EXPECT_TRUE(worker_.send<Note>());
  }

 private:
  RefOf<Worker> worker_;
};

/// How many messages the measured ones stand for, of 600 bursts of 50.
double counted(TelemetryOptions options) {
  telemetry::Telemetry telemetry(std::move(options), {});
  ActorSystemOptions system_options = testing::quiet(2);
  system_options.telemetry = &telemetry;
  ActorSystem system(system_options);
  const SpawnOptions unlimited{.mailbox_capacity = unbounded};
  auto sender = system.spawn<Sender>(unlimited, system.spawn<Worker>(unlimited));
  for (int i = 0; i < 600; ++i) sender.send<Burst>(50);
  system.stop({.drain = 1min, .timeout = 1min});
  return static_cast<double>(durations(telemetry, wait_name, "Worker").value().count);
}

TEST(Measuring, NoMessageOfABurstIsMissed) { EXPECT_EQ(counted(each_message), 30'000); }

TEST(Measuring, OneStandsForSeveral) {
  EXPECT_NEAR(counted({.measures_always = true, .measured_one_in_max = 64}), 30'000, 9'000);
}

TEST(Measuring, ASimulatedRunIsTheSameWithAndWithout) {
  telemetry::Telemetry telemetry(each_message, {});
  const auto hash_of = [](telemetry::Telemetry* measured) {
    Simulation simulation(in(measured));
    auto server = simulation.system().spawn<Server>();
    for (int i = 0; i < 10; ++i) simulation.system().spawn<Client>(server).send<Note>();
    simulation.run_until_idle();
    return simulation.trace_hash();
  };
  EXPECT_EQ(hash_of(&telemetry), hash_of(nullptr));
}

TEST(Measuring, NothingIsMeasuredIfNobodyLooks) {
  const testing::RecordedSpans spans;
  Simulation simulation(in(spans.telemetry()));
  simulation.system().spawn<Worker>().send<Note>();
  simulation.run_until_idle();
  EXPECT_FALSE(durations(*spans.telemetry(), handle_name, "Worker"));
}

TEST(Measuring, MarksSurviveThatTheClockOutgrowsThem) {
  constexpr std::int64_t wrap = std::int64_t{1} << 58;
  const std::uintptr_t mark = internal::to_word({wrap - 5, 7});
  EXPECT_EQ(internal::since(mark, wrap + 10), 15);
  EXPECT_EQ(internal::since(mark, wrap - 6), 0);  // another processor's clock is late
  EXPECT_EQ(internal::weight_of(mark), 128u);
}

}  // namespace
}  // namespace weir
