// Requests: each gets exactly one outcome, and it is its own (I3).

#include <string>

#include <gtest/gtest.h>

#include <weir/runtime/simulation.hpp>

#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::ask_from_outside;
using testing::await_end;
using testing::Collector;
using testing::Counted;
using testing::Event;
using testing::quiet;
using testing::Reports;

struct Echo {
  using Reply = int;
  int value;
};
struct Fail {
  using Reply = int;
  std::string message;
};
struct FailLater {
  using Reply = int;
  std::string message;
};
struct Never {
  using Reply = int;
};
struct Forward {
  using Reply = int;
};
struct Delayed {
  using Reply = int;
  Duration time;
  int value;
};
struct Tick {
  using Reply = void;
};

// Sets every request aside for ever.
class Mute final : public Actor<Never> {
 public:
  bool ready_for(const Never&) const { return false; }
  int on(Never) { return 0; }
};

// Is suspended by the first request that it never answers.
class Silent final : public Actor<Never, Echo> {
 public:
  Task<int> on(Never) {
    const auto reply = co_await mute_.ask<Never>().within(forever);
    co_return reply ? *reply : -1;
  }
  int on(Echo request) { return request.value; }
  void on_start() { mute_ = spawn<Mute>(); }

 private:
  ActorRef<Never> mute_;
};

class Server final : public Actor<Echo, Fail, FailLater, Delayed, Tick> {
 public:
  int on(Echo request) { return request.value; }
  int on(Fail request) { throw std::runtime_error(request.message); }
  Task<int> on(FailLater request) {
    static_cast<void>(co_await clock_.ask<Never>().within(1ms));
    throw std::runtime_error(request.message);
  }
  // Answers after some time: so long it waits for an actor that never answers.
  Task<int> on(Delayed request) {
    static_cast<void>(co_await clock_.ask<Never>().within(request.time));
    co_return request.value;
  }
  void on(Tick) {}
  void on_start() { clock_ = spawn<Mute>(); }

 private:
  ActorRef<Never> clock_;
};

TEST(Ask, GivesTheReply) {
  Simulation simulation;
  auto server = simulation.system().spawn<Server>();
  EXPECT_EQ(*ask_from_outside(simulation.system(), server, Echo{7}), 7);
  EXPECT_TRUE(ask_from_outside(simulation.system(), server, Tick{}).has_value());
}

// I5 as well: the exception's text reaches the caller and the supervisor.
TEST(Ask, GivesTheMessageOfAHandlerThatThrew) {
  Reports reports;
  Simulation simulation({.system = reports.options()});
  ActorSystem& system = simulation.system();
  const SpawnOptions resumes{.supervision = Supervision::resume()};
  auto server = system.spawn<Server>(resumes);
  const auto now = ask_from_outside(system, server, Fail{"no such row"});
  EXPECT_EQ(now.error(), Errc::failed);
  EXPECT_EQ(now.error().detail(), "no such row");
  const auto later = ask_from_outside(system, server, FailLater{"no such table"});
  EXPECT_EQ(later.error(), Errc::failed);
  EXPECT_EQ(later.error().detail(), "no such table");
  EXPECT_EQ(*ask_from_outside(system, server, Echo{1}), 1) << "it resumed";
  EXPECT_EQ(reports.failures.values().size(), 2u);
}

TEST(Ask, TimesOutAtItsDeadlineAndNotBefore) {
  Simulation simulation;
  auto silent = simulation.system().spawn<Silent>();
  const TimePoint begin = simulation.now();
  const auto result = ask_from_outside(simulation.system(), silent, Never{}, 250ms);
  EXPECT_EQ(result.error(), Errc::timed_out);
  EXPECT_EQ(simulation.now() - begin, 250ms);
}

TEST(Ask, TimesOutAfterTheSystemsDefault) {
  ActorSystemOptions options;
  options.ask_timeout = 3s;
  Simulation simulation({.system = options});
  auto silent = simulation.system().spawn<Silent>();
  struct Asking {
    static Task<Result<int>> run(RefOf<Silent> target) { co_return co_await target.ask<Never>(); }
  };
  EXPECT_EQ(simulation.run(Asking::run(silent)).error(), Errc::timed_out);
  EXPECT_EQ(simulation.now().time_since_epoch(), 3s);
}

TEST(Ask, WithAPastDeadlineIsAnsweredAtOnceAndNeverHandled) {
  Simulation simulation;
  auto server = simulation.system().spawn<Server>();
  for (const Duration past : {0ns, Duration(-1ns), Duration(-1h), Duration::min()}) {
    EXPECT_EQ(ask_from_outside(simulation.system(), server, Echo{1}, past).error(),
              Errc::timed_out);
  }
  simulation.run_until_idle();
  for (const ActorInfo& info : simulation.system().actors()) {
    EXPECT_EQ(info.messages_handled, 0u) << info.type;
  }
}

TEST(Ask, OfAStoppedActorSaysSo) {
  Simulation simulation;
  auto server = simulation.system().spawn<Server>();
  server.stop();
  simulation.run_until_idle();
  const auto result = ask_from_outside(simulation.system(), server, Echo{1});
  EXPECT_EQ(result.error(), Errc::stopped);
  EXPECT_NE(result.error().detail().find("Echo to "), std::string::npos);
  EXPECT_NE(result.error().detail().find("Server"), std::string::npos);
}

TEST(Ask, OfAFullActorSaysSo) {
  Simulation simulation;
  auto server = simulation.system().spawn<Server>();
  simulation.run_until_idle();
  simulation.fill_mailbox(server);
  EXPECT_EQ(ask_from_outside(simulation.system(), server, Echo{1}).error(), Errc::full);
}

struct Hold {};

/// Holds its thread in a handler.
class Held final : public Actor<Hold, Echo> {
 public:
  Held(testing::Event* entered, testing::Event* leaves) : entered_(entered), leaves_(leaves) {}
  void on(Hold) {
    entered_->set();
    leaves_->wait();
  }
  int on(Echo echo) { return echo.value; }

 private:
  testing::Event* entered_;
  testing::Event* leaves_;
};

TEST(Ask, OfAnActorWhoseMailboxIsFullSaysSoOnThreads) {
  testing::Event entered;
  testing::Event leaves;
  testing::Reports reports;
  ActorSystem system(reports.options());
  auto held = system.spawn<Held>({.mailbox_capacity = 1}, &entered, &leaves);
  held.send<Hold>();
  entered.wait();
  while (held.send<Hold>()) {
  }
  EXPECT_EQ(ask_from_outside(system, held, Echo{1}).error(), Errc::full);
  leaves.set();
}

// Asks, and keeps the outcome for the test.
struct AskNever {
  ActorRef<Never> target;
  Duration timeout;
};
struct AskEcho {
  ActorRef<Echo> target;
  int value;
};
struct AskDelayed {
  ActorRef<Delayed> target;
  Duration time;
  int value;
  Duration timeout;
};

class Client final : public Actor<AskNever, AskEcho, AskDelayed> {
 public:
  static constexpr bool interleaves = true;
  explicit Client(Collector<std::string>* outcomes) : outcomes_(outcomes) {}
  Task<> on(AskNever request) {
    note(co_await request.target.ask<Never>().within(request.timeout));
  }
  Task<> on(AskEcho request) { note(co_await request.target.ask<Echo>(request.value)); }
  Task<> on(AskDelayed request) {
    note(co_await request.target.ask<Delayed>(request.time, request.value).within(request.timeout));
  }

 private:
  void note(const Result<int>& result) {
    outcomes_->add(result ? std::to_string(*result) : result.error().code().message());
  }
  Collector<std::string>* outcomes_;
};

using Outcomes = std::vector<std::string>;

TEST(Ask, IsAnsweredWhenTheActorStopsBeforeItsTurn) {
  Collector<std::string> outcomes;
  Simulation simulation;
  auto silent = simulation.system().spawn<Silent>();
  auto client = simulation.system().spawn<Client>(&outcomes);
  client.send<AskNever>(silent, forever);
  simulation.run_for(1s);
  client.send<AskEcho>(silent, 1);  // waits behind the first
  simulation.run_for(1s);
  EXPECT_EQ(outcomes.values(), Outcomes{});
  silent.stop(Stop::kill);
  simulation.run_for(1s);
  EXPECT_EQ(outcomes.values(), (Outcomes{"actor stopped", "actor stopped"}));
}

TEST(Ask, IsAnsweredWhenTheWholeSystemStops) {
  Collector<std::string> outcomes;
  Simulation simulation;
  auto& node = simulation.add_node("other", [](ActorSystem&) {});
  auto silent = node.system().spawn<Silent>();
  simulation.system().spawn<Client>(&outcomes).send<AskNever>(silent, forever);
  simulation.run_until_idle(1min);
  node.crash();
  simulation.run_until_idle(1min);
  EXPECT_EQ(outcomes.values(), Outcomes{"actor stopped"});
}

TEST(Ask, DropsALateReplyAndCountsIt) {
  Collector<std::string> outcomes;
  Simulation simulation;
  ActorSystem& system = simulation.system();
  auto server = system.spawn<Server>();
  auto client = system.spawn<Client>(&outcomes);
  client.send<AskDelayed>(server, 10s, 1, 1s);
  simulation.run_until_idle(1min);
  EXPECT_EQ(outcomes.values(), Outcomes{"deadline passed"});
  EXPECT_EQ(system.dead_letters().of(DeadLetterReason::late_reply), 1u);
}

// The reply to a request that timed out must not answer the next one, though that may well have the
// same memory.
TEST(Ask, NeverMatchesALateReplyToAnotherRequest) {
  Collector<std::string> outcomes;
  Simulation simulation;
  auto server = simulation.system().spawn<Server>();
  auto client = simulation.system().spawn<Client>(&outcomes);
  Outcomes expected;
  for (int i = 0; i < 50; ++i) {
    const bool is_late = i % 2 == 0;
    client.send<AskDelayed>(server, 100ms, i, is_late ? 99ms : 101ms);
    simulation.run_for(105ms);
    expected.push_back(is_late ? "deadline passed" : std::to_string(i));
  }
  EXPECT_EQ(outcomes.values(), expected);
}

TEST(Ask, IsNotHandledWhenTheCallerGaveUpBefore) {
  Collector<std::string> outcomes;
  Simulation simulation;
  ActorSystem& system = simulation.system();
  auto silent = system.spawn<Silent>();
  auto client = system.spawn<Client>(&outcomes);
  client.send<AskNever>(silent, 10s);
  client.send<AskNever>(silent, 1s);  // waits behind the first and gives up earlier
  simulation.run_until_idle(1min);
  EXPECT_EQ(outcomes.values(), (Outcomes{"deadline passed", "deadline passed"}));
  EXPECT_EQ(system.dead_letters().of(DeadLetterReason::abandoned), 1u);
}

struct AskSelf {
  using Reply = std::string;
};

class Narcissus final : public Actor<AskSelf, Echo> {
 public:
  Task<std::string> on(AskSelf) {
    const auto result = co_await self().ask<Echo>(1);
    co_return result ? "answered" : result.error().message();
  }
  int on(Echo request) { return request.value; }
};

TEST(Ask, OfOneselfIsReportedAsADeadlock) {
  Simulation simulation;
  auto actor = simulation.system().spawn<Narcissus>();
  const auto result = ask_from_outside(simulation.system(), actor, AskSelf{});
  EXPECT_NE(result->find("would wait for itself"), std::string::npos);
  EXPECT_NE(result->find("Echo to "), std::string::npos);
  EXPECT_EQ(*ask_from_outside(simulation.system(), actor, Echo{5}), 5) << "it lives on";
}

class Reflective final : public Actor<AskSelf, Echo> {
 public:
  static constexpr bool interleaves = true;
  Task<std::string> on(AskSelf) {
    const auto result = co_await self().ask<Echo>(1);
    co_return result ? "answered" : result.error().message();
  }
  int on(Echo request) { return request.value; }
};

TEST(Ask, OfOneselfIsAnsweredByAnActorThatInterleaves) {
  Simulation simulation;
  auto actor = simulation.system().spawn<Reflective>();
  EXPECT_EQ(*ask_from_outside(simulation.system(), actor, AskSelf{}), "answered");
}

// Even one that interleaves handles nothing before it has started.
class Hasty final : public Actor<Echo> {
 public:
  static constexpr bool interleaves = true;
  explicit Hasty(Collector<std::string>* outcomes) : outcomes_(outcomes) {}
  Task<> on_start() {
    const auto result = co_await self().ask<Echo>(1);
    outcomes_->add(result ? "answered" : result.error().code().message());
  }
  int on(Echo request) { return request.value; }

 private:
  Collector<std::string>* outcomes_;
};

TEST(Ask, OfOneselfIsADeadlockBeforeTheActorHasStarted) {
  Collector<std::string> outcomes;
  Simulation simulation;
  simulation.system().spawn<Hasty>(&outcomes);
  simulation.run_until_idle(10s);
  EXPECT_EQ(outcomes.values(), Outcomes{"would wait for itself"});
}

Task<Result<int>> ask_echo(ActorRef<Echo> target) { co_return co_await target.ask<Echo>(1); }

TEST(Ask, OutsideAnActorIsRefusedWithTheReason) {
  ActorSystem system(quiet());
  auto server = system.spawn<Server>();
  auto handle = ask_echo(server).release();
  handle.resume();
  ASSERT_TRUE(handle.done());
  const Result<int> result = handle.promise().take();
  EXPECT_EQ(result.error(), Errc::unsupported);
  EXPECT_NE(result.error().detail().find("ActorSystem::run"), std::string::npos);
  handle.destroy();
}

// A chain of requests: when the first caller gives up, so do those behind it.
struct Link {
  using Reply = int;
};

class EndOfChain final : public Actor<Link> {
 public:
  bool ready_for(const Link&) const { return false; }
  int on(Link) { return 0; }
};

class Chained final : public Actor<Link> {
 public:
  Chained(ActorRef<Link> next, Collector<std::string>* outcomes)
      : next_(std::move(next)), outcomes_(outcomes) {}
  Task<int> on(Link) {
    const auto result = co_await next_.ask<Link>().within(forever);
    outcomes_->add(result ? "answered" : result.error().code().message());
    if (!is_cancelled()) outcomes_->add("still wanted");
    co_return 1;
  }

 private:
  ActorRef<Link> next_;
  Collector<std::string>* outcomes_;
};

ActorRef<Link> spawn_chain(ActorSystem& system, Collector<std::string>* outcomes) {
  ActorRef<Link> chain = system.spawn<EndOfChain>();
  for (int i = 0; i < 4; ++i) chain = system.spawn<Chained>(chain, outcomes);
  return chain;
}

TEST(Ask, GivesUpBehindACallerThatGaveUp) {
  Collector<std::string> outcomes;
  Simulation simulation;
  auto chain = spawn_chain(simulation.system(), &outcomes);
  EXPECT_EQ(ask_from_outside(simulation.system(), chain, Link{}, 1s).error(), Errc::timed_out);
  simulation.run_until_idle(1min);
  EXPECT_EQ(outcomes.values(), Outcomes(4, "cancelled"));
}

class Caller final : public Actor<Tick> {
 public:
  explicit Caller(ActorRef<Link> target) : target_(std::move(target)) {}
  Task<> on(Tick) { static_cast<void>(co_await target_.ask<Link>().within(forever)); }

 private:
  ActorRef<Link> target_;
};

TEST(Ask, GivesUpWhenTheCallersActorIsKilled) {
  Collector<std::string> outcomes;
  Simulation simulation;
  auto chain = spawn_chain(simulation.system(), &outcomes);
  auto caller = simulation.system().spawn<Caller>(chain);
  caller.send<Tick>();
  simulation.run_until_idle(1min);
  EXPECT_EQ(outcomes.values(), Outcomes{});
  caller.stop(Stop::kill);
  simulation.run_until_idle(1min);
  EXPECT_EQ(outcomes.values(), Outcomes(4, "cancelled"));
}

}  // namespace
}  // namespace weir
