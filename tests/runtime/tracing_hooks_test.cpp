// Hooks belong to the trace of what made them run.

#include <stdexcept>

#include <gtest/gtest.h>

#include <weir/runtime/phase.hpp>
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
  options.system.on_failure = [](const ActorFailure&) {};
  return options;
}

bool is_child(const SpanRecord& child, const SpanRecord& parent) {
  return child.context.trace == parent.context.trace && child.parent == parent.context.span &&
         child.links.size() == 1;
}

struct Started {};
struct Stopped {};
struct Fail {};
struct StopSelf {};

class Log final : public Actor<Started, Stopped> {
 public:
  void on(Started) {}
  void on(Stopped) {}
};

class Child final : public Actor<Fail, StopSelf> {
 public:
  explicit Child(RefOf<Log> log) : log_(std::move(log)) {}
  void on_start() { log_.send<Started>(); }
  void on_stop() { log_.send<Stopped>(); }
  void on(Fail) { throw std::runtime_error("as told"); }
  void on(StopSelf) { stop(); }

 private:
  RefOf<Log> log_;
};

struct Spawn {};
struct Stop {};

class Parent final : public Actor<Spawn, Stop> {
 public:
  explicit Parent(RefOf<Log> log) : log_(std::move(log)) {}
  void on(Spawn) { child_ = spawn<Child>(log_); }
  void on(Stop) { child_.stop(); }

 private:
  RefOf<Log> log_;
  RefOf<Child> child_;
};

TEST(TracingHooks, AnActorStartsInTheTraceOfWhatSpawnedIt) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto log = simulation.system().spawn<Log>();
  simulation.system().spawn<Parent>(log).send<Spawn>();
  simulation.run_until_idle();
  const SpanRecord start = spans.one("start");
  EXPECT_TRUE(is_child(start, spans.one("Spawn")));
  EXPECT_TRUE(is_child(spans.one("Started"), start));
}

TEST(TracingHooks, AnActorStopsInTheTraceOfWhoStopsIt) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto log = simulation.system().spawn<Log>();
  auto parent = simulation.system().spawn<Parent>(log);
  parent.send<Spawn>();
  simulation.run_until_idle();
  parent.send<Stop>();
  simulation.run_until_idle();
  const SpanRecord stop = spans.one("stop");
  EXPECT_TRUE(is_child(stop, spans.one("Stop")));
  EXPECT_TRUE(is_child(spans.one("Stopped"), stop));
}

TEST(TracingHooks, AlsoIfThatIsItself) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto log = simulation.system().spawn<Log>();
  simulation.system().spawn<Child>(log).send<StopSelf>();
  simulation.run_until_idle();
  EXPECT_TRUE(is_child(spans.one("stop"), spans.one("StopSelf")));
}

TEST(TracingHooks, AnActorThatIsSpawnedOutsideStartsInNoTrace) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto log = simulation.system().spawn<Log>();
  simulation.system().spawn<Child>(log);
  simulation.run_until_idle();
  EXPECT_TRUE(spans.named("start").empty());
  EXPECT_FALSE(spans.one("Started").parent.is_valid());
}

TEST(TracingHooks, ARestartedActorStartsInTheTraceOfItsFailure) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto log = simulation.system().spawn<Log>();
  const SpawnOptions options{.supervision = {.directive = Supervision::Directive::restart}};
  simulation.system().spawn<Child>(options, log).send<Fail>();
  simulation.run_until_idle();
  const SpanRecord restart = spans.one("restart");
  EXPECT_TRUE(is_child(restart, spans.one("Fail")));
  const auto started = spans.named("Started");
  ASSERT_EQ(started.size(), 2u);
  EXPECT_FALSE(started[0].parent.is_valid());
  EXPECT_TRUE(is_child(started[1], restart));
}

/// Cannot be started again at once, only after another failure.
class Stubborn final : public Actor<Fail> {
 public:
  explicit Stubborn(int* starts) : starts_(starts) {}
  void on_start() {
    if (++*starts_ == 2) throw std::runtime_error("no start");
  }
  void on(Fail) { throw std::runtime_error("as told"); }

 private:
  int* starts_;
};

TEST(TracingHooks, ARestartThatFailsHasItsErrorAndTheNextOneFollowsIt) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  int starts = 0;
  const SpawnOptions options{.supervision = {.directive = Supervision::Directive::restart}};
  simulation.system().spawn<Stubborn>(options, &starts).send<Fail>();
  simulation.run_until_idle();
  const auto restarts = spans.named("restart");
  ASSERT_EQ(restarts.size(), 2u);
  EXPECT_TRUE(is_child(restarts[0], spans.one("Fail")));
  EXPECT_EQ(restarts[0].status, telemetry::SpanStatus::error);
  EXPECT_EQ(restarts[0].status_message, "no start");
  ASSERT_EQ(restarts[0].events.size(), 1u);
  EXPECT_EQ(restarts[0].events[0].name, "exception");
  EXPECT_TRUE(is_child(restarts[1], restarts[0]));
  EXPECT_EQ(restarts[1].status, telemetry::SpanStatus::unset);
}

class SlowStarter final : public Actor<Fail> {
 public:
  explicit SlowStarter(RefOf<Log> log) : log_(std::move(log)) {}
  Task<> on_start() {
    static_cast<void>(co_await sleep_for(1s));
    log_.send<Started>();
  }
  void on(Fail) { throw std::runtime_error("as told"); }

 private:
  RefOf<Log> log_;
};

TEST(TracingHooks, ARestartLastsUntilAStartThatSuspendsHasEnded) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto log = simulation.system().spawn<Log>();
  const SpawnOptions options{
      .supervision = {.directive = Supervision::Directive::restart, .backoff = 1ms, .jitter = 0}};
  simulation.system().spawn<SlowStarter>(options, log).send<Fail>();
  simulation.run_until_idle();
  const SpanRecord restart = spans.one("restart");
  EXPECT_EQ(restart.end - restart.begin, std::chrono::nanoseconds(1001ms).count());
  EXPECT_TRUE(is_child(spans.named("Started").back(), restart));
}

/// Does in a part that is not recorded what its handler is told to.
class Unrecorded final : public Actor<Spawn, Stop, Fail> {
 public:
  explicit Unrecorded(RefOf<Log> log) : log_(std::move(log)) {}
  void on(Spawn) {
    const auto part = caused_span({}, {});
    child_ = spawn<Child>(log_);
  }
  void on(Stop) {
    const auto part = caused_span({}, {});
    child_.stop();
  }
  void on(Fail) {
    const auto part = caused_span({}, {});
    child_.send<Fail>();
  }

 private:
  RefOf<Log> log_;
  RefOf<Child> child_;
};

class TracingHooksUnrecorded : public ::testing::Test {
 protected:
  template <class... Ms>
  void tell(Ms... messages) {
    (tell_one(messages), ...);
  }
  void expect_nothing() const {
    for (const char* name : {"start", "stop", "restart", "Started", "Stopped"}) {
      EXPECT_TRUE(spans_.named(name).empty()) << name;
    }
  }

 private:
  template <class M>
  void tell_one(M) {
    actor_.send<M>();
    simulation_.run_until_idle();
  }

  RecordedSpans spans_;
  Simulation simulation_{recording(spans_)};
  RefOf<Unrecorded> actor_ =
      simulation_.system().spawn<Unrecorded>(simulation_.system().spawn<Log>());
};

TEST_F(TracingHooksUnrecorded, AStartIsNotIfWhatSpawnedIsNot) {
  tell(Spawn());
  expect_nothing();
}

TEST_F(TracingHooksUnrecorded, AStopIsNotIfWhatStopsIsNot) {
  tell(Spawn(), Stop());
  expect_nothing();
}

TEST_F(TracingHooksUnrecorded, AStopIsNotIfWhatFailsIsNot) {
  tell(Spawn(), Fail());
  expect_nothing();
}

TEST(TracingHooks, ARestartIsNotRecordedIfTheFailureIsNot) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto log = simulation.system().spawn<Log>();
  const SpawnOptions options{.supervision = {.directive = Supervision::Directive::restart}};
  auto child = simulation.system().spawn<Child>(options, log);
  struct Failing {
    static Task<> run(RefOf<Child> target) {
      const auto part = caused_span({}, {});
      target.send<Fail>();
      co_return;
    }
  };
  simulation.run(Failing::run(child));
  simulation.run_until_idle();
  EXPECT_EQ(spans.named("Started").size(), 1u) << "only that of the first start";
}

struct Drain {};

/// Stops its child when the child has handled what it was sent.
class Drainer final : public Actor<Drain> {
 public:
  explicit Drainer(RefOf<Log> log) : child_(spawn<Child>(std::move(log))) {}
  void on(Drain) { child_.stop(weir::Stop::when_drained); }

 private:
  RefOf<Child> child_;
};

TEST(TracingHooks, AnActorThatIsDrainedStopsInTheTraceOfWhoDrainsIt) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto log = simulation.system().spawn<Log>();
  simulation.system().spawn<Drainer>(log).send<Drain>();
  simulation.run_until_idle();
  EXPECT_TRUE(is_child(spans.one("stop"), spans.one("Drain")));
}

class BadStopper final : public Actor<StopSelf> {
 public:
  void on(StopSelf) { stop(); }
  void on_stop() { throw std::runtime_error("no end"); }
};

TEST(TracingHooks, AStopThatFailsHasItsError) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  simulation.system().spawn<BadStopper>().send<StopSelf>();
  simulation.run_until_idle();
  const SpanRecord stop = spans.one("stop");
  EXPECT_EQ(stop.status, telemetry::SpanStatus::error);
  EXPECT_EQ(stop.status_message, "no end");
  ASSERT_EQ(stop.events.size(), 1u);
  EXPECT_EQ(stop.events[0].name, "exception");
}

/// Fails with its child, or with an actor that it is linked to.
class Dependent final : public Actor<Spawn, Fail> {
 public:
  Dependent(RefOf<Log> log, bool is_linked) : log_(std::move(log)), is_linked_(is_linked) {}
  void on(Spawn) {
    SpawnOptions options;
    if (!is_linked_) options.supervision.directive = Supervision::Directive::escalate;
    child_ = spawn<Child>(options, log_);
    if (is_linked_) link(child_);
  }
  void on(Fail) { child_.send<Fail>(); }

 private:
  RefOf<Log> log_;
  const bool is_linked_;
  RefOf<Child> child_;
};

void expect_restart_after_its_child(bool is_linked) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto log = simulation.system().spawn<Log>();
  const SpawnOptions options{.supervision = {.directive = Supervision::Directive::restart}};
  auto dependent = simulation.system().spawn<Dependent>(options, log, is_linked);
  dependent.send<Spawn>();
  simulation.run_until_idle();
  dependent.send<Fail>();
  simulation.run_until_idle();
  const auto failed = spans.named("Fail");
  ASSERT_EQ(failed.size(), 2u);
  EXPECT_TRUE(is_child(spans.one("restart"), failed[1]));
}

TEST(TracingHooks, ARestartAfterAnEscalationIsInTheTraceOfTheChildsFailure) {
  expect_restart_after_its_child(false);
}

TEST(TracingHooks, ARestartWithALinkedActorIsInTheTraceOfItsFailure) {
  expect_restart_after_its_child(true);
}

struct Go {};
enum class Shift { day, night };

class Sleeper final : public Actor<Go>, public Phased<Sleeper, Shift> {
 public:
  static constexpr PhaseRule<Shift> phases[] = {
      {.phase = Shift::day, .to = {Shift::night}},
      {.phase = Shift::night, .limit = 1h, .overdue = Overdue::fail},
  };
  void on(Go) { enter<Shift::night>(); }
};

TEST(TracingHooks, ARestartOfAnOverdueActorIsInTheTraceOfWhatEnteredThePhase) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  const SpawnOptions options{.supervision = {.directive = Supervision::Directive::restart}};
  simulation.system().spawn<Sleeper>(options).send<Go>();
  simulation.run_for(2h);
  EXPECT_TRUE(is_child(spans.one("restart"), spans.one("Go")));
}

struct Recorded {};
struct Sent {};

class Receiver final : public Actor<Recorded, Sent> {
 public:
  explicit Receiver(testing::Collector<bool>* recorded) : recorded_(recorded) {}
  void on(Recorded) { recorded_->add(current_trace().is_valid()); }
  void on(Sent) { recorded_->add(current_trace().is_valid()); }

 private:
  testing::Collector<bool>* recorded_;
};

/// Sends one message within its trace and one outside, both at once.
class BothWays final : public Actor<Go> {
 public:
  explicit BothWays(RefOf<Receiver> receiver) : receiver_(std::move(receiver)) {}
  void on(Go) {
    telemetry::TraceContext elsewhere = current_trace();
    elsewhere.is_sampled = false;
    receiver_.send<Recorded>();
    const Span part = remote_span("not sampled there", elsewhere);
    receiver_.send<Sent>();
  }

 private:
  RefOf<Receiver> receiver_;
};

TEST(TracingHooks, AHandlerDoesNotInheritFromTheOneBeforeIt) {
  const RecordedSpans spans;
  ActorSystemOptions options = testing::quiet(1);
  options.telemetry = spans.telemetry();
  ActorSystem system(options);
  testing::Collector<bool> recorded;
  system.spawn<BothWays>(system.spawn<Receiver>(&recorded)).send<Go>();
  EXPECT_EQ(recorded.wait_for(2), (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace weir
