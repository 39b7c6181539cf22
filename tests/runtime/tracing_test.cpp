// What a trace shows of messages, requests, timers, failures and calls.

#include <weir/runtime/span.hpp>

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using telemetry::SpanRecord;
using telemetry::SpanStatus;
using testing::RecordedSpans;

SimulationOptions recording(const RecordedSpans& spans, std::uint64_t seed = 1) {
  SimulationOptions options{.seed = seed};
  options.system.telemetry = spans.telemetry();
  options.system.on_failure = [](const ActorFailure&) {};
  return options;
}

bool is_child(const SpanRecord& child, const SpanRecord& parent) {
  return child.context.trace == parent.context.trace && child.parent == parent.context.span;
}

bool is_linked(const SpanRecord& span, const SpanRecord& cause) {
  return span.links.size() == 1 && span.links[0].context.span == cause.context.span &&
         span.links[0].context.trace == cause.context.trace;
}

struct Leaf {
  using Reply = int;
};
struct Middle {
  using Reply = int;
};
struct Note {};
struct Root {};

class LeafActor final : public Actor<Leaf, Note> {
 public:
  int on(Leaf) { return 1; }
  void on(Note) {}
};

class MiddleActor final : public Actor<Middle> {
 public:
  explicit MiddleActor(RefOf<LeafActor> leaf) : leaf_(std::move(leaf)) {}
  Task<int> on(Middle) {
    static_cast<void>(co_await sleep_for(1s));
    co_return *co_await leaf_.ask<Leaf>();
  }

 private:
  RefOf<LeafActor> leaf_;
};

class RootActor final : public Actor<Root> {
 public:
  RootActor(RefOf<MiddleActor> middle, RefOf<LeafActor> leaf)
      : middle_(std::move(middle)), leaf_(std::move(leaf)) {}
  Task<> on(Root) {
    static_cast<void>(co_await middle_.ask<Middle>());
    leaf_.send<Note>();
  }

 private:
  RefOf<MiddleActor> middle_;
  RefOf<LeafActor> leaf_;
};

void run_chain(Simulation& simulation) {
  ActorSystem& system = simulation.system();
  auto leaf = system.spawn<LeafActor>();
  auto middle = system.spawn<MiddleActor>(leaf);
  system.spawn<RootActor>(middle, leaf).send<Root>();
  simulation.run_until_idle();
}

TEST(Tracing, ARequestIsPartOfWhatAsks) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  run_chain(simulation);
  const SpanRecord root = spans.one("Root");
  const SpanRecord middle = spans.one("Middle");
  const SpanRecord leaf = spans.one("Leaf");
  EXPECT_FALSE(root.parent.is_valid());
  EXPECT_TRUE(is_child(middle, root));
  EXPECT_TRUE(is_child(leaf, middle));
  EXPECT_TRUE(middle.links.empty());
  EXPECT_EQ(middle.end - middle.begin, std::chrono::nanoseconds(1s).count());
}

TEST(Tracing, AMessageIsLinkedToWhatSentIt) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  run_chain(simulation);
  const SpanRecord root = spans.one("Root");
  const SpanRecord note = spans.one("Note");
  EXPECT_TRUE(is_child(note, root));
  EXPECT_TRUE(is_linked(note, root));
}

TEST(Tracing, ASpanTellsWhoHandledWhatAndHowLongItWaited) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  run_chain(simulation);
  const SpanRecord middle = spans.one("Middle");
  const auto* type = RecordedSpans::attribute(middle, "weir.actor.type");
  ASSERT_NE(type, nullptr);
  EXPECT_TRUE(std::get<std::string>(*type).ends_with("MiddleActor"));
  const auto* message = RecordedSpans::attribute(middle, "weir.message.type");
  ASSERT_NE(message, nullptr);
  EXPECT_TRUE(std::get<std::string>(*message).ends_with("::Middle"));
  EXPECT_NE(RecordedSpans::attribute(middle, "weir.mailbox.wait.seconds"), nullptr);
  const auto* handled = RecordedSpans::attribute(middle, "weir.handle.seconds");
  ASSERT_NE(handled, nullptr);
  EXPECT_DOUBLE_EQ(std::get<double>(*handled), 1.0);
}

struct Busy {};
struct Due {};

/// Sends itself a message and arms a timer, and then lets both wait.
class BusyActor final : public Actor<Busy, Note, Due> {
 public:
  Task<> on(Busy) {
    self().send<Note>();
    schedule_once<Due>(1s);
    static_cast<void>(co_await sleep_for(4s));
  }
  void on(Note) {}
  void on(Due) {}
};

TEST(Tracing, AMessageWaitsFromItsSendingAndATimerFromWhenItIsDue) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  simulation.system().spawn<BusyActor>().send<Busy>();
  simulation.run_until_idle();
  const auto waited = [&](const char* name) {
    return std::get<double>(
        *RecordedSpans::attribute(spans.one(name), "weir.mailbox.wait.seconds"));
  };
  EXPECT_DOUBLE_EQ(waited("Note"), 4);
  EXPECT_DOUBLE_EQ(waited("Due"), 3);
}

TEST(Tracing, ASimulatedRunIsTheSameWithAndWithout) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RecordedSpans spans;
    Simulation with(recording(spans, seed));
    Simulation without({.seed = seed});
    run_chain(with);
    run_chain(without);
    EXPECT_EQ(with.trace_hash(), without.trace_hash());
  }
}

TEST(Tracing, TheSameSeedGivesTheSameIds) {
  std::vector<telemetry::SpanId> ids[2];
  for (auto& run : ids) {
    const RecordedSpans spans;
    Simulation simulation(recording(spans, 7));
    run_chain(simulation);
    for (const SpanRecord& span : spans.all()) run.push_back(span.context.span);
  }
  EXPECT_EQ(ids[0].size(), 4u);
  EXPECT_EQ(ids[0], ids[1]);
}

TEST(Tracing, WhatAnUnsampledMessageCausesIsNotRecorded) {
  const RecordedSpans none({.sampler = {.kind = telemetry::SamplerKind::always_off}});
  Simulation simulation(recording(none));
  run_chain(simulation);
  EXPECT_TRUE(none.all().empty());
}

TEST(Tracing, ATraceIsSampledAsAWhole) {
  const RecordedSpans spans({.sampler = {.kind = telemetry::SamplerKind::ratio, .ratio = 0.5}});
  Simulation simulation(recording(spans));
  for (int i = 0; i < 100; ++i) run_chain(simulation);
  const std::size_t roots = spans.named("Root").size();
  EXPECT_GT(roots, 20u);
  EXPECT_LT(roots, 80u);
  for (const char* name : {"Middle", "Leaf", "Note"}) EXPECT_EQ(spans.named(name).size(), roots);
}

struct Tick {
  int number;
};
struct Arm {};

class Ticker final : public Actor<Arm, Tick> {
 public:
  void on(Arm) {
    schedule_once<Tick>(1s, 1);
    schedule_every<Tick>(2s, 2);
  }
  void on(Tick tick) { set_attribute({"number", tick.number}); }
};

TEST(Tracing, ATimerIsLinkedToWhatArmedItEachTime) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  simulation.system().spawn<Ticker>().send<Arm>();
  simulation.run_for(7s);
  const SpanRecord arm = spans.one("Arm");
  const auto ticks = spans.named("Tick");
  EXPECT_EQ(ticks.size(), 4u);  // after 1, 2, 4 and 6 s
  for (const SpanRecord& tick : ticks) EXPECT_TRUE(is_linked(tick, arm));
}

TEST(Tracing, AHandlerBeginsWhenItsMessageComesNotWhenTheOneBeforeItEnded) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  const auto ticker = simulation.system().spawn<Ticker>();
  for (int i = 0; i < 3; ++i) {
    ticker.send<Tick>(i);
    simulation.run_for(1s);
  }
  const auto ticks = spans.named("Tick");
  ASSERT_EQ(ticks.size(), 3u);
  for (std::size_t i = 1; i < ticks.size(); ++i) {
    EXPECT_EQ(ticks[i].begin - ticks[i - 1].begin, std::chrono::nanoseconds(1s).count());
  }
}

struct Work {
  int number;
};

class Interleaver final : public Actor<Work> {
 public:
  static constexpr bool interleaves = true;
  explicit Interleaver(RefOf<LeafActor> leaf) : leaf_(std::move(leaf)) {}
  Task<> on(Work work) {
    set_attribute({"number", work.number});
    const auto part = span("part", {{"number", work.number}});
    static_cast<void>(co_await sleep_for(std::chrono::milliseconds(10 - work.number)));
    EXPECT_TRUE(co_await leaf_.ask<Leaf>());
  }

 private:
  RefOf<LeafActor> leaf_;
};

TEST(Tracing, HandlersThatInterleaveDoNotInheritFromEachOther) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RecordedSpans spans;
    Simulation simulation(recording(spans, seed));
    auto leaf = simulation.system().spawn<LeafActor>();
    auto interleaver = simulation.system().spawn<Interleaver>(leaf);
    for (int i = 0; i < 8; ++i) interleaver.send<Work>(i);
    simulation.run_until_idle();
    EXPECT_EQ(spans.named("Work").size(), 8u);
    for (const SpanRecord& work : spans.named("Work")) {
      int leaves = 0;
      for (const SpanRecord& part : spans.named("part")) {
        if (part.context.trace != work.context.trace) continue;
        EXPECT_TRUE(is_child(part, work));
        EXPECT_EQ(*RecordedSpans::attribute(part, "number"),
                  *RecordedSpans::attribute(work, "number"));
        for (const SpanRecord& asked : spans.named("Leaf")) leaves += is_child(asked, part);
      }
      EXPECT_EQ(leaves, 1);
    }
  }
}

struct Fan {};

class Fanner final : public Actor<Fan> {
 public:
  explicit Fanner(RefOf<LeafActor> leaf) : leaf_(std::move(leaf)) {}
  Task<> on(Fan) {
    TaskScope scope;
    for (int i = 0; i < 3; ++i) scope.spawn(ask_later(leaf_));
    co_await scope.join();
  }

 private:
  static Task<> ask_later(RefOf<LeafActor> leaf) {
    static_cast<void>(co_await sleep_for(1s));
    EXPECT_TRUE(co_await leaf.ask<Leaf>());
  }
  RefOf<LeafActor> leaf_;
};

TEST(Tracing, TasksOfAScopeBelongToTheirHandler) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto leaf = simulation.system().spawn<LeafActor>();
  simulation.system().spawn<Fanner>(leaf).send<Fan>();
  simulation.run_until_idle();
  const SpanRecord fan = spans.one("Fan");
  const auto leaves = spans.named("Leaf");
  EXPECT_EQ(leaves.size(), 3u);
  for (const SpanRecord& asked : leaves) EXPECT_TRUE(is_child(asked, fan));
  EXPECT_EQ(spans.all().size(), 4u);  // tasks have none of their own
}

struct Fail {};
struct FailLater {};

class Failing final : public Actor<Fail, FailLater> {
 public:
  void on(Fail) { throw std::runtime_error("no paper"); }
  Task<> on(FailLater) {
    static_cast<void>(co_await sleep_for(1s));
    throw std::runtime_error("no paper");
  }
};

template <class M>
void expect_failure_and_restart() {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  SpawnOptions options{.supervision = {.directive = Supervision::Directive::restart}};
  simulation.system().spawn<Failing>(options).template send<M>();
  simulation.run_until_idle();
  const SpanRecord failed = spans.named("restart").empty() ? SpanRecord() : spans.all().front();
  EXPECT_EQ(failed.status, SpanStatus::error);
  EXPECT_EQ(failed.status_message, "no paper");
  ASSERT_EQ(failed.events.size(), 1u);
  EXPECT_EQ(failed.events[0].name, "exception");
  const SpanRecord restart = spans.one("restart");
  EXPECT_TRUE(is_linked(restart, failed));
  EXPECT_GE(restart.end, failed.end);
  const auto* message = RecordedSpans::attribute(restart, "exception.message");
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(std::get<std::string>(*message), "no paper");
}

TEST(Tracing, AFailureAndTheRestartItCausesAreRecorded) { expect_failure_and_restart<Fail>(); }

TEST(Tracing, SoAreThoseOfAHandlerThatHadSuspended) { expect_failure_and_restart<FailLater>(); }

struct Call {};

class Caller final : public Actor<Call> {
 public:
  explicit Caller(RefOf<LeafActor> leaf) : leaf_(std::move(leaf)) {}
  Task<> on(Call) {
    auto send_note = [leaf = leaf_] {
      leaf.send<Note>();
      return current_trace();
    };
    const auto inside = co_await on_blocking_pool(std::move(send_note));
    EXPECT_TRUE(inside && inside->is_valid());
  }

 private:
  RefOf<LeafActor> leaf_;
};

TEST(Tracing, ABlockingCallIsASpanAndCarriesTheTrace) {
  const RecordedSpans spans;
  {
    ActorSystemOptions options = testing::quiet(2);
    options.telemetry = spans.telemetry();
    ActorSystem system(options);
    auto leaf = system.spawn<LeafActor>();
    system.spawn<Caller>(leaf).send<Call>();
    testing::eventually("the note", [&] { return spans.named("Note").size() == 1; });
  }
  const SpanRecord call = spans.one("Call");
  const SpanRecord blocking = spans.one("blocking call");
  EXPECT_TRUE(is_child(blocking, call));
  EXPECT_TRUE(is_linked(spans.one("Note"), blocking));
}

/// Makes its call in a part that is not recorded.
class UnrecordedCaller final : public Actor<Call> {
 public:
  explicit UnrecordedCaller(RefOf<LeafActor> leaf) : leaf_(std::move(leaf)) {}
  Task<> on(Call) {
    const auto part = caused_span({}, {});
    auto send_note = [leaf = leaf_] { leaf.send<Note>(); };
    static_cast<void>(co_await on_blocking_pool(std::move(send_note)));
  }

 private:
  RefOf<LeafActor> leaf_;
};

TEST(Tracing, ABlockingCallOfWhatIsNotRecordedIsNot) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto leaf = simulation.system().spawn<LeafActor>();
  simulation.system().spawn<UnrecordedCaller>(leaf).send<Call>();
  simulation.run_until_idle();
  leaf.send<Note>();
  simulation.run_until_idle();
  EXPECT_EQ(spans.named("Call").size(), 1u);
  EXPECT_TRUE(spans.named("blocking call").empty());
  EXPECT_EQ(spans.named("Note").size(), 1u) << "only that from outside";
}

struct Jam {};
struct Page {};
struct Job {};

class Press final : public Actor<Jam, Page> {
 public:
  void on(Jam) { throw std::runtime_error("jammed"); }
  void on(Page) {}
};

class Clerk final : public Actor<Job> {
 public:
  explicit Clerk(RefOf<Press> press) : press_(std::move(press)) {}
  void on(Job) {
    EXPECT_TRUE(press_.send<Jam>());
    EXPECT_TRUE(press_.send<Page>());
  }

 private:
  RefOf<Press> press_;
};

TEST(Tracing, AMessageThatWaitedDuringARestartIsLinkedToItsSender) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  const SpawnOptions restarted{.supervision = Supervision::restart()};
  auto press = simulation.system().spawn<Press>(restarted);
  simulation.system().spawn<Clerk>(press).send<Job>();
  simulation.run_until_idle();
  EXPECT_GT(spans.one("Page").begin, spans.one("restart").begin);
  EXPECT_TRUE(is_child(spans.one("Page"), spans.one("Job")));
  EXPECT_TRUE(is_linked(spans.one("Page"), spans.one("Job")));
}

struct Serve {
  telemetry::TraceContext from;
};

class Gateway final : public Actor<Serve> {
 public:
  explicit Gateway(RefOf<LeafActor> leaf) : leaf_(std::move(leaf)) {}
  Task<> on(Serve serve) {
    const auto request = remote_span("GET /", serve.from);
    EXPECT_TRUE(co_await leaf_.ask<Leaf>());
  }

 private:
  RefOf<LeafActor> leaf_;
};

TEST(Tracing, ATraceFromElsewhereGoesOn) {
  const RecordedSpans spans({.sampler = {.kind = telemetry::SamplerKind::always_off}});
  Simulation simulation(recording(spans));
  auto leaf = simulation.system().spawn<LeafActor>();
  telemetry::TraceContext remote;
  remote.trace.bytes[0] = 1;
  remote.span.bytes[0] = 2;
  remote.is_sampled = true;
  simulation.system().spawn<Gateway>(leaf).send<Serve>(remote);
  simulation.run_until_idle();
  const SpanRecord request = spans.one("GET /");
  EXPECT_EQ(request.context.trace, remote.trace);
  EXPECT_EQ(request.parent, remote.span);
  EXPECT_TRUE(request.parent_is_remote);
  EXPECT_EQ(request.kind, telemetry::SpanKind::server);
  EXPECT_TRUE(is_child(spans.one("Leaf"), request));
}

TEST(Tracing, ARequestThatSaysNothingOfATraceBeginsOneWithItsBaggage) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto leaf = simulation.system().spawn<LeafActor>();
  telemetry::TraceContext remote;
  remote.baggage = std::make_shared<const telemetry::TraceBaggage>(
      telemetry::TraceBaggage{.trace_state = {}, .baggage = "customer=7"});
  simulation.system().spawn<Gateway>(leaf).send<Serve>(remote);
  simulation.run_until_idle();
  const SpanRecord request = spans.one("GET /");
  EXPECT_FALSE(request.parent.is_valid());
  EXPECT_FALSE(request.parent_is_remote);
  EXPECT_EQ(request.kind, telemetry::SpanKind::server);
  for (const SpanRecord& span : {request, spans.one("Leaf")}) {
    ASSERT_NE(span.context.baggage, nullptr);
    EXPECT_EQ(span.context.baggage->baggage, "customer=7");
  }
}

struct Round {};

class Schedule final : public Actor<Round> {
 public:
  void on(Round) { const auto part = root_span("round"); }
};

TEST(Tracing, ARootBeginsATraceInsideAnother) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  simulation.system().spawn<Schedule>().send<Round>();
  simulation.run_until_idle();
  EXPECT_FALSE(spans.one("round").parent.is_valid());
  EXPECT_NE(spans.one("round").context.trace, spans.one("Round").context.trace);
  EXPECT_EQ(spans.one("round").kind, telemetry::SpanKind::internal);
}

TEST(Tracing, ATraceFromElsewhereThatIsNotSampledIsNot) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto leaf = simulation.system().spawn<LeafActor>();
  telemetry::TraceContext remote;
  remote.trace.bytes[0] = 1;
  remote.span.bytes[0] = 2;
  simulation.system().spawn<Gateway>(leaf).send<Serve>(remote);
  simulation.run_until_idle();
  EXPECT_TRUE(spans.named("GET /").empty());
  EXPECT_TRUE(spans.named("Leaf").empty());
}

// Frees what undelivered messages carry: the sanitizers see it otherwise.
TEST(Tracing, AMessageThatIsNotHandledLeavesNothingBehind) {
  const RecordedSpans spans;
  Simulation simulation(recording(spans));
  auto leaf = simulation.system().spawn<LeafActor>();
  auto middle = simulation.system().spawn<MiddleActor>(leaf);
  auto root = simulation.system().spawn<RootActor>(middle, leaf);
  leaf.stop();
  root.send<Root>();
  simulation.run_until_idle();
  EXPECT_EQ(spans.named("Root").size(), 1u);
  EXPECT_TRUE(spans.named("Leaf").empty());
  EXPECT_TRUE(spans.named("Note").empty());
}

}  // namespace
}  // namespace weir
