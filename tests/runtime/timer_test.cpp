// Scheduled messages: when they come, how often, and how they are cancelled.

#include <weir/runtime/timer.hpp>

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>

#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::ask_from_outside;
using testing::Collector;
using testing::Counted;
using testing::Event;
using testing::quiet;

struct Tick {
  int value = 0;
  Counted<Tick> counted = {};
};
struct Once {
  Duration delay;
  int value = 0;
};
struct Repeat {
  Every mode;
  Duration period;
};
struct Cancel {
  using Reply = bool;
};
struct IsPending {
  using Reply = bool;
};
struct Busy {
  Duration time;
};

struct Fired {
  Duration at;
  int value;
  friend bool operator==(const Fired&, const Fired&) = default;
};
std::ostream& operator<<(std::ostream& out, const Fired& fired) {
  return out << fired.value << " at " << fired.at.count();
}

class Clockwork final : public Actor<Once, Repeat, Cancel, IsPending, Busy, Tick> {
 public:
  explicit Clockwork(Collector<Fired>* fired) : fired_(fired) {}
  void on(Once wanted) { timer_ = schedule_once<Tick>(wanted.delay, wanted.value); }
  void on(Repeat wanted) { timer_ = schedule_every<Tick>(wanted.mode, wanted.period, 1); }
  bool on(Cancel) { return timer_.cancel(); }
  bool on(IsPending) { return timer_.is_pending(); }
  Task<> on(Busy work) { static_cast<void>(co_await sleep_for(work.time)); }
  void on(const Tick& tick) { fired_->add({now().time_since_epoch(), tick.value}); }

 private:
  Timer timer_;
  Collector<Fired>* fired_;
};

struct Scene {
  Collector<Fired> fired;
  Simulation simulation;
  RefOf<Clockwork> actor = simulation.system().spawn<Clockwork>(&fired);

  bool ask_cancel() { return *ask_from_outside(simulation.system(), actor, Cancel{}); }
  bool ask_pending() { return *ask_from_outside(simulation.system(), actor, IsPending{}); }
};

using Firings = std::vector<Fired>;

TEST(Timer, SendsItsMessageOnceAndOnTime) {
  Scene scene;
  scene.actor.send<Once>(3s, 7);
  scene.actor.send<Once>(1s, 8);
  EXPECT_TRUE(scene.ask_pending());
  EXPECT_EQ(scene.simulation.run_until_idle(), RunEnd::idle);
  EXPECT_EQ(scene.fired.values(), (Firings{{1s, 8}, {3s, 7}}));
  EXPECT_FALSE(scene.ask_pending());
}

TEST(Timer, WithoutDelayIsDueAtOnce) {
  Scene scene;
  scene.actor.send<Once>(0s, 1);
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.fired.values(), (Firings{{0s, 1}}));
}

TEST(Timer, ThatIsCancelledInTimeNeverFires) {
  Scene scene;
  scene.actor.send<Once>(3s, 7);
  scene.simulation.run_for(2s);
  EXPECT_TRUE(scene.ask_cancel());
  EXPECT_FALSE(scene.ask_pending());
  EXPECT_FALSE(scene.ask_cancel()) << "there is nothing left to cancel";
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.fired.values(), Firings{});
  EXPECT_EQ(Counted<Tick>::live(), 0);
}

TEST(Timer, ThatHasFiredIsCancelledTooLate) {
  Scene scene;
  scene.actor.send<Once>(3s, 7);
  scene.simulation.run_until_idle();
  EXPECT_FALSE(scene.ask_cancel());
}

// The message is in the mailbox, but nobody has handled it: still in time.
TEST(Timer, IsCancelledInTimeWhileItsMessageWaits) {
  Scene scene;
  scene.actor.send<Once>(1s, 7);
  scene.simulation.run_for(500ms);
  scene.actor.send<Busy>(2s);
  scene.simulation.run_for(100ms);
  bool cancelled = false;
  // Asked while the actor is busy, and so before the tick, which is put behind it.
  struct Asking {
    static Task<bool> run(RefOf<Clockwork> actor) { co_return *co_await actor.ask<Cancel>(); }
  };
  cancelled = scene.simulation.run(Asking::run(scene.actor));
  scene.simulation.run_until_idle();
  EXPECT_TRUE(cancelled);
  EXPECT_EQ(scene.fired.values(), Firings{});
  EXPECT_EQ(Counted<Tick>::live(), 0);
}

TEST(Timer, OfFixedRateDoesNotDrift) {
  Scene scene;
  scene.actor.send<Repeat>(Every::fixed_rate, 1s);
  scene.simulation.run_for(2500ms);
  scene.actor.send<Busy>(2s);  // holds up the ticks at 3 s and 4 s
  scene.simulation.run_for(4s);
  EXPECT_EQ(scene.fired.values(),
            (Firings{{1s, 1}, {2s, 1}, {4500ms, 1}, {4500ms, 1}, {5s, 1}, {6s, 1}}));
}

TEST(Timer, OfFixedDelayWaitsAfterEachRound) {
  Scene scene;
  scene.actor.send<Repeat>(Every::fixed_delay, 1s);
  scene.simulation.run_for(2500ms);
  scene.actor.send<Busy>(2s);
  scene.simulation.run_for(4s);
  EXPECT_EQ(scene.fired.values(),
            (Firings{{1s, 1}, {2s, 1}, {4500ms, 1}, {5500ms, 1}, {6500ms, 1}}));
}

TEST(Timer, ThatRepeatsEndsWhenCancelled) {
  for (const Every mode : {Every::fixed_rate, Every::fixed_delay}) {
    Scene scene;
    scene.actor.send<Repeat>(mode, 1s);
    scene.simulation.run_for(2500ms);
    EXPECT_TRUE(scene.ask_pending());
    EXPECT_TRUE(scene.ask_cancel());
    EXPECT_FALSE(scene.ask_pending());
    EXPECT_EQ(scene.simulation.run_until_idle(), RunEnd::idle);
    EXPECT_EQ(scene.fired.values().size(), 2u);
    EXPECT_EQ(Counted<Tick>::live(), 0);
  }
}

TEST(Timer, EndsWithItsActorAndLeavesNothingBehind) {
  for (const Stop how : {Stop::now, Stop::when_drained, Stop::kill}) {
    Scene scene;
    for (int i = 1; i < 20; ++i) {
      scene.actor.send<Once>(i * 100ms, i);
      scene.actor.send<Repeat>(i % 2 ? Every::fixed_rate : Every::fixed_delay, i * 70ms);
    }
    scene.simulation.run_for(1s);
    scene.actor.stop(how);
    EXPECT_EQ(scene.simulation.run_until_idle(), RunEnd::idle);
    EXPECT_EQ(Counted<Tick>::live(), 0);
    EXPECT_EQ(scene.simulation.system().dead_letters().total(), 0u);
  }
}

TEST(Timer, GoesOnWhenItsHandleIsLetGo) {
  Scene scene;
  scene.actor.send<Once>(1s, 1);  // each replaces the handle of the one before
  scene.actor.send<Once>(1s, 2);
  scene.actor.send<Once>(1s, 3);
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.fired.values().size(), 3u);
}

struct Start {};

// Every bad argument gets a clear answer: the exception fails the actor with its reason.
class Careless final : public Actor<Start, Tick> {
 public:
  explicit Careless(Duration delay, bool repeats) : delay_(delay), repeats_(repeats) {}
  void on(Start) {
    if (repeats_) {
      schedule_every<Tick>(delay_, 1);
    } else {
      schedule_once<Tick>(delay_, 1);
    }
  }
  void on(const Tick&) {}

 private:
  Duration delay_;
  bool repeats_;
};

std::string failure_of(Duration delay, bool repeats) {
  testing::Reports reports;
  Simulation simulation({.system = reports.options()});
  simulation.system().spawn<Careless>(delay, repeats).send<Start>();
  simulation.run_for(1s);
  const auto failures = reports.failures.values();
  return failures.empty() ? "" : failures[0].message;
}

TEST(Timer, WithANegativeDelayIsRefusedWithTheReason) {
  const std::string once = failure_of(-1ns, false);
  EXPECT_NE(once.find("Tick"), std::string::npos) << once;
  EXPECT_NE(once.find("is negative (-1 ns)"), std::string::npos) << once;
  EXPECT_NE(failure_of(-5s, true).find("is negative"), std::string::npos);
  EXPECT_NE(failure_of(0s, true).find("period of zero"), std::string::npos);
  EXPECT_EQ(Counted<Tick>::live(), 0);
}

/// Can be copied only so many times, and cannot be moved.
struct Fading {
  explicit Fading(int* left) : copies_left(left) {}
  Fading(const Fading& other) : copies_left(other.copies_left), counted(other.counted) {
    if (--*copies_left < 0) throw std::runtime_error("faded");
  }
  int* copies_left;
  Counted<Fading> counted = {};
};
struct Fade {
  Fading fading;
};
struct FadingQuestion {
  using Reply = std::string;
  Fading fading;
};

/// Starts a timer, and counts its rounds, also of those before it was restarted.
class Forgetful final : public Actor<Start, Fade, FadingQuestion> {
 public:
  Forgetful(Every mode, bool asks, int* rounds) : mode_(mode), asks_(asks), rounds_(rounds) {}
  void on(Start) {
    if (asks_) {
      schedule_every<FadingQuestion>(mode_, 10ms, Fading(&copies_left_));
    } else {
      schedule_every<Fade>(mode_, 10ms, Fading(&copies_left_));
    }
    copies_left_ = 2;
  }
  Task<> on(const Fade&) { return play(); }
  std::string on(const FadingQuestion&) {
    ++*rounds_;
    return "a long answer that does not fit into a small string";
  }

 private:
  Task<> play() {
    ++*rounds_;
    if (mode_ == Every::fixed_delay) static_cast<void>(co_await sleep_for(1ms));
  }

  Every mode_;
  bool asks_;
  int* rounds_;
  int copies_left_ = 100;
};

TEST(Timer, WhoseMessageCannotBeCopiedFailsItsActor) {
  for (const bool asks : {false, true}) {
    for (const Every mode : {Every::fixed_rate, Every::fixed_delay}) {
      int rounds = 0;
      testing::Reports reports;
      Simulation simulation({.system = reports.options()});
      auto actor = simulation.system().spawn<Forgetful>(mode, asks, &rounds);
      actor.send<Start>();
      simulation.run_for(1s);
      EXPECT_EQ(rounds, 3);
      ASSERT_EQ(reports.failures.values().size(), 1u);
      EXPECT_EQ(reports.failures.values()[0].message, "faded");
      EXPECT_FALSE(actor.is_alive());
    }
  }
  EXPECT_EQ(Counted<Fading>::live(), 0);
}

TEST(Timer, WhoseMessageCannotBeCopiedEndsAndItsActorGoesByItsSupervision) {
  int rounds = 0;
  testing::Reports reports;
  Simulation simulation({.system = reports.options()});
  auto actor = simulation.system().spawn<Forgetful>(
      SpawnOptions{.supervision = Supervision::resume()}, Every::fixed_rate, false, &rounds);
  actor.send<Start>();
  simulation.run_for(1s);
  EXPECT_EQ(rounds, 3) << "no round without a message";
  EXPECT_TRUE(actor.is_alive());
  EXPECT_EQ(Counted<Fading>::live(), 0);
}

TEST(Timer, ThatIsNeverDueNeverFires) {
  EXPECT_EQ(failure_of(forever, false), "");
  EXPECT_EQ(failure_of(forever, true), "");
  ActorSystem system(quiet());
  Collector<Fired> fired;
  auto actor = system.spawn<Clockwork>(&fired);
  actor.send<Once>(forever, 1);
  actor.send<Once>(std::chrono::hours(24 * 365 * 200), 2);
  actor.send<Once>(2ms, 3);
  EXPECT_EQ(fired.wait_for(1).front().value, 3);
  EXPECT_EQ(fired.values().size(), 1u);
}

// A request may be scheduled like any message. Nobody waits for the reply.
struct Question {
  using Reply = std::string;
  std::string text;
  Counted<Question> counted = {};
};

class Monologue final : public Actor<Start, Question> {
 public:
  Monologue(Every mode, bool suspends, Collector<std::string>* asked)
      : mode_(mode), suspends_(suspends), asked_(asked) {}
  void on(Start) {
    schedule_every<Question>(mode_, 10ms, std::string(100, 'x'));
    schedule_once<Question>(10ms, std::string(100, 'y'));
  }
  Task<std::string> on(Question question) {
    if (suspends_) static_cast<void>(co_await sleep_for(1ms));
    asked_->add(question.text);
    co_return question.text;
  }

 private:
  Every mode_;
  bool suspends_;
  Collector<std::string>* asked_;
};

TEST(Timer, MaySendARequestAgainAndAgain) {
  for (const Every mode : {Every::fixed_rate, Every::fixed_delay}) {
    for (const bool suspends : {false, true}) {
      {
        Simulation simulation;
        Collector<std::string> asked;
        simulation.system().spawn<Monologue>(mode, suspends, &asked).send<Start>();
        simulation.run_for(105ms);
        EXPECT_GE(asked.values().size(), 9u);
        for (const std::string& text : asked.values()) EXPECT_EQ(text.size(), 100u);
      }
      EXPECT_EQ(Counted<Question>::live(), 0);
    }
  }
}

struct Allow {};

// Not ready for ticks until it is allowed.
class Picky final : public Actor<Start, Tick, Allow, Cancel> {
 public:
  Picky(bool repeats, Collector<int>* got) : repeats_(repeats), got_(got) {}
  bool ready_for(const Tick&) const { return is_allowed_; }
  void on(Start) { timer_ = repeats_ ? schedule_every<Tick>(1s, 1) : schedule_once<Tick>(1s, 1); }
  void on(const Tick& tick) { got_->add(tick.value); }
  void on(Allow) {
    is_allowed_ = true;
    unstash();
  }
  bool on(Cancel) { return timer_.cancel(); }

 private:
  bool repeats_;
  bool is_allowed_ = false;
  Timer timer_;
  Collector<int>* got_;
};

// Set aside is not handled: cancelling is still in time.
TEST(Timer, MayBeCancelledWhileItsMessageIsSetAside) {
  for (const bool repeats : {false, true}) {
    Simulation simulation;
    Collector<int> got;
    auto picky = simulation.system().spawn<Picky>(repeats, &got);
    picky.send<Start>();
    simulation.run_for(1500ms);
    EXPECT_TRUE(*ask_from_outside(simulation.system(), picky, Cancel{})) << repeats;
    picky.send<Allow>();
    simulation.run_for(5s);
    EXPECT_EQ(got.values(), std::vector<int>{}) << repeats;
  }
  EXPECT_EQ(Counted<Tick>::live(), 0);
}

TEST(Timer, GoesOnAfterItsMessageWasSetAside) {
  Simulation simulation;
  Collector<int> got;
  auto picky = simulation.system().spawn<Picky>(true, &got);
  picky.send<Start>();
  simulation.run_for(1500ms);
  picky.send<Allow>();
  simulation.run_for(2s);
  EXPECT_EQ(got.values().size(), 3u) << "at 1.5 s, then twice on time";
}

// In real time, where ticks of the wheel are coarser than the period and late rounds come at once.
TEST(Timer, OfAShortPeriodIsNeverEarly) {
  class Counting final : public Actor<Tick> {
   public:
    Counting(Event* done, Duration* took) : done_(done), took_(took) {}
    void on_start() {
      begin_ = now();
      timer_ = schedule_every<Tick>(100us, 1);
    }
    void on(const Tick&) {
      if (++count_ < 200) return;
      timer_.cancel();
      *took_ = now() - begin_;
      done_->set();
    }

   private:
    Event* done_;
    Duration* took_;
    TimePoint begin_;
    Timer timer_;
    int count_ = 0;
  };
  Event done;
  Duration took{};
  ActorSystem system(quiet());
  system.spawn<Counting>(&done, &took);
  done.wait();
  EXPECT_GE(took, 20ms);
}

TEST(Timer, OfManyActorsFiresOnRealThreads) {
  const int actors = testing::scaled(2000);
  ActorSystem system(quiet());
  Collector<Fired> fired;
  std::vector<RefOf<Clockwork>> all;
  for (int i = 0; i < actors; ++i) {
    all.push_back(system.spawn<Clockwork>(&fired));
    all.back().send<Once>(std::chrono::microseconds(i % 50 * 100), i);
    all.back().send<Once>(1h, -1);
  }
  fired.wait_for(static_cast<std::size_t>(actors));
  for (auto& actor : all) actor.stop();
  testing::eventually("all to end", [&] { return system.actors().empty(); });
  EXPECT_EQ(fired.values().size(), static_cast<std::size_t>(actors));
  EXPECT_EQ(Counted<Tick>::live(), 0);
  for (const auto& worker : system.core().workers) EXPECT_EQ(worker->timers.size(), 0u);
}

// The owner moves between threads, so it arms timers on one while earlier ones fire on another.
TEST(Timer, OfAnActorFiresWhileItArmsOthers) {
  const int count = testing::scaled(2000);
  ActorSystem system(quiet());
  Collector<Fired> fired;
  auto actor = system.spawn<Clockwork>(&fired);
  for (int i = 0; i < count; ++i) {
    actor.send<Once>(std::chrono::microseconds(i % 10 * 100), i);
    EXPECT_TRUE(ask_from_outside(system, actor, IsPending{}).has_value());
  }
  fired.wait_for(static_cast<std::size_t>(count));
  EXPECT_EQ(fired.values().size(), static_cast<std::size_t>(count));
}

}  // namespace
}  // namespace weir
