// Nobody is starved: neither by an actor that is never idle nor by a thread that is.

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/internal/core.hpp>

#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

using testing::Collector;
using testing::Counter;
using testing::Event;
using testing::quiet;

struct Again {};
struct Note {
  int value;
};

// Always has a message for itself.
class Busy final : public Actor<Again> {
 public:
  void on_start() { self().send<Again>(); }
  void on(Again) { self().send<Again>(); }
};

class Quiet final : public Actor<Note> {
 public:
  explicit Quiet(Event* got) : got_(got) {}
  void on(Note) { got_->set(); }

 private:
  Event* got_;
};

TEST(Fairness, AnActorThatIsNeverIdleDoesNotHoldUpMessagesFromOutside) {
  ActorSystem system(quiet(1));
  for (int i = 0; i < 3; ++i) system.spawn<Busy>();
  Event got;
  auto actor = system.spawn<Quiet>(&got);
  actor.send<Note>(1);
  got.wait();
}

struct Holding {
  Event held;
  Event released;
};

// Keeps the only thread until many others wait outside.
class Doorkeeper final : public Actor<Again> {
 public:
  explicit Doorkeeper(Holding* holding) : holding_(holding) {}
  void on(Again) {
    holding_->held.set();
    holding_->released.wait();
  }

 private:
  Holding* holding_;
};

struct Visits {
  std::uint64_t activations() const { return worker->activations.load(); }

  const internal::Worker* worker;
  int expected;
  // By the only thread.
  int seen = 0;
  int interrupted = 0;  // others had a turn since the last
  std::uint64_t activations_at_the_last = 0;
  Event all_seen = {};
};

class Visitor final : public Actor<Note> {
 public:
  explicit Visitor(Visits* visits) : visits_(visits) {}
  void on(Note) {
    const std::uint64_t now = visits_->activations();
    visits_->interrupted += now != visits_->activations_at_the_last + 1 ? 1 : 0;
    visits_->activations_at_the_last = now;
    if (++visits_->seen == visits_->expected) visits_->all_seen.set();
  }

 private:
  Visits* visits_;
};

// Each has so little to do that many of them are one small part of the time: were they handled one
// by one, with a while in between, the one that is never idle would have its turns after each.
TEST(Fairness, AnActorThatIsNeverIdleLeavesManyFromOutsideTheirShare) {
  constexpr int count = 2'000;
  ActorSystemOptions options = quiet(1);
  options.message_quota = 1;  // what the busy one does in a turn is about what a visitor does
  ActorSystem system(options);
  Holding holding;
  Visits visits{system.core().workers.front().get(), count};
  std::vector<RefOf<Visitor>> visitors;
  for (int i = 0; i < count; ++i) visitors.push_back(system.spawn<Visitor>(&visits));
  system.spawn<Busy>();
  system.spawn<Doorkeeper>(&holding).send<Again>();
  holding.held.wait();
  for (auto& visitor : visitors) visitor.send<Note>(1);
  holding.released.set();
  visits.all_seen.wait();
  EXPECT_LT(visits.interrupted, count / 4);
}

struct Bounce {
  ActorRef<Bounce> from;
};

class Wall final : public Actor<Bounce> {
 public:
  void on(Bounce ball) { ball.from.send<Bounce>(self()); }
};

// Two actors that hand each other a message stay in the slot beside the queue.
TEST(Fairness, APairThatIsNeverIdleDoesNotHoldUpMessagesFromOutside) {
  ActorSystem system(quiet(1));
  auto wall = system.spawn<Wall>();
  for (int i = 0; i < 3; ++i) wall.send<Bounce>(system.spawn<Wall>());
  Event got;
  auto actor = system.spawn<Quiet>(&got);
  actor.send<Note>(1);
  got.wait();
}

class Started final : public Actor<> {
 public:
  explicit Started(Event* started) : started_(started) {}
  void on_start() { started_->set(); }

 private:
  Event* started_;
};

class Parent final : public Actor<Again> {
 public:
  explicit Parent(Event* started) : started_(started) {}
  void on(Again) {
    spawn<Started>(started_);
    spawn<Busy>();
    spawn<Busy>();
  }

 private:
  Event* started_;
};

TEST(Fairness, ActorsThatAreNeverIdleDoNotHoldUpNewOnes) {
  ActorSystem system(quiet(1));
  Event started;
  system.spawn<Parent>(&started).send<Again>();
  started.wait();
}

class Alarm final : public Actor<Note> {
 public:
  explicit Alarm(Event* rang, std::chrono::milliseconds delay = 1ms) : rang_(rang), delay_(delay) {}
  void on_start() { schedule_once<Note>(delay_, 1); }
  void on(Note) { rang_->set(); }

 private:
  Event* rang_;
  std::chrono::milliseconds delay_;
};

TEST(Fairness, ActorsThatAreNeverIdleDoNotHoldUpTimers) {
  ActorSystem system(quiet(1));
  Event rang;
  for (int i = 0; i < 3; ++i) system.spawn<Busy>();
  system.spawn<Alarm>(&rang);
  rang.wait();
}

class Recorder final : public Actor<Note> {
 public:
  Recorder(int number, Event* opens, Collector<int>* order)
      : number_(number), opens_(opens), order_(order) {}
  void on_start() { opens_->wait(); }
  void on(Note) { order_->add(number_); }

 private:
  int number_;
  Event* opens_;
  Collector<int>* order_;
};

TEST(Fairness, AFloodedActorMakesWayAfterItsQuota) {
  ActorSystemOptions options = quiet(1);
  options.message_quota = 10;
  ActorSystem system(options);
  Event opens;
  Collector<int> order;
  const SpawnOptions endless{.mailbox_capacity = unbounded};
  auto one = system.spawn<Recorder>(endless, 1, &opens, &order);
  auto two = system.spawn<Recorder>(endless, 2, &opens, &order);
  for (int i = 0; i < 1000; ++i) {
    one.send<Note>(i);
    two.send<Note>(i);
  }
  opens.set();
  const auto got = order.wait_for(2000);
  int run = 0;
  int longest = 0;
  const auto both_run = std::find(got.begin(), got.end(), 2);
  EXPECT_LT(both_run - got.begin(), 200);
  const auto one_is_done = std::find(got.rbegin(), got.rend(), got.back() == 1 ? 2 : 1).base();
  for (auto at = both_run; at < one_is_done; ++at) {
    run = *at == *(at - 1) ? run + 1 : 1;
    longest = std::max(longest, run);
  }
  EXPECT_LE(longest, 10);
}

TEST(Fairness, AQuotaOfZeroIsRefused) {
  ActorSystemOptions options = quiet(1);
  options.message_quota = 0;
  EXPECT_THROW(ActorSystem system(options), std::invalid_argument);
}

struct Release {};

class Releaser final : public Actor<Release> {
 public:
  explicit Releaser(Event* released) : released_(released) {}
  void on(Release) { released_->set(); }

 private:
  Event* released_;
};

// Sends, and then holds its thread until the receiver has run: that needs another thread.
class Blocker final : public Actor<Again> {
 public:
  Blocker(ActorRef<Release> other, Event* released, Event* done)
      : other_(std::move(other)), released_(released), done_(done) {}
  void on(Again) {
    other_.send<Release>();
    released_->wait();
    done_->set();
  }

 private:
  ActorRef<Release> other_;
  Event* released_;
  Event* done_;
};

TEST(Fairness, WorkBehindABlockedThreadMovesToAnIdleOne) {
  for (int i = 0; i < testing::scaled(100); ++i) {
    ActorSystem system(quiet(2));
    Event released;
    Event done;
    auto releaser = system.spawn<Releaser>(&released);
    system.spawn<Blocker>(releaser, &released, &done).send<Again>();
    done.wait();
  }
}

// A third thread that is never idle says nothing about the blocked one.
TEST(Fairness, WorkBehindABlockedThreadMovesToAnIdleOneWhileAnotherOneIsBusy) {
  ActorSystemOptions options = quiet(3);
  options.message_quota = 1;  // the busy one is activated again and again
  ActorSystem system(options);
  system.spawn<Busy>();
  for (int i = 0; i < testing::scaled(20); ++i) {
    Event released;
    Event done;
    auto releaser = system.spawn<Releaser>(&released);
    auto blocker = system.spawn<Blocker>(releaser, &released, &done);
    blocker.send<Again>();
    done.wait();
    releaser.stop();
    blocker.stop();
  }
}

// The same when both threads have been asleep, and when the message waits behind others.
TEST(Fairness, WorkBehindABlockedThreadMovesWhenTheSystemWasIdle) {
  ActorSystem system(quiet(2));
  for (int i = 0; i < testing::scaled(100); ++i) {
    testing::eventually("the system to be idle",
                        [&] { return system.core().sleepers.load() == 2; });
    Event released;
    Event done;
    auto releaser = system.spawn<Releaser>(&released);
    auto blocker = system.spawn<Blocker>(releaser, &released, &done);
    blocker.send<Again>();
    done.wait();
    releaser.stop();
    blocker.stop();
  }
}

class SpawningBlocker final : public Actor<Again> {
 public:
  SpawningBlocker(Event* started, Event* done) : started_(started), done_(done) {}
  void on(Again) {
    spawn<Started>(started_);
    started_->wait();
    done_->set();
  }

 private:
  Event* started_;
  Event* done_;
};

TEST(Fairness, AnActorSpawnedByABlockedThreadStartsOnAnIdleOne) {
  for (int i = 0; i < testing::scaled(100); ++i) {
    ActorSystem system(quiet(2));
    Event started;
    Event done;
    system.spawn<SpawningBlocker>(&started, &done).send<Again>();
    done.wait();
  }
}

class TimerBlocker final : public Actor<Again, Note> {
 public:
  TimerBlocker(RefOf<Quiet> other, Event* rang, Event* done)
      : other_(std::move(other)), rang_(rang), done_(done) {}
  void on(Again) {
    alarm_ = spawn<Alarm>(rang_);
    self().send<Note>(1);
  }
  // Holds the thread whose timers ring the alarm.
  void on(Note) {
    rang_->wait();
    done_->set();
  }

 private:
  RefOf<Quiet> other_;
  RefOf<Alarm> alarm_;
  Event* rang_;
  Event* done_;
};

class Holder final : public Actor<Again> {
 public:
  Holder(Event* rang, Event* done) : rang_(rang), done_(done) {}
  void on(Again) {
    rang_->wait();
    done_->set();
  }

 private:
  Event* rang_;
  Event* done_;
};

// Nothing tells the idle thread that the other one is busy.
TEST(Fairness, ATimerOfABlockedThreadIsFiredByOneThatSleeps) {
  ActorSystem system(quiet(2));
  for (int i = 0; i < testing::scaled(20); ++i) {
    Event rang;
    Event done;
    auto alarm = system.spawn<Alarm>(&rang, 20ms);
    testing::eventually("the system to be idle",
                        [&] { return system.core().sleepers.load() == 2; });
    auto holder = system.spawn<Holder>(&rang, &done);
    holder.send<Again>();
    done.wait();
    alarm.stop();
    holder.stop();
  }
}

TEST(Fairness, ATimerOfABlockedThreadIsFiredByAnIdleOneWhileAnotherOneIsBusy) {
  ActorSystemOptions options = quiet(3);
  options.message_quota = 1;  // the busy one is activated again and again
  ActorSystem system(options);
  system.spawn<Busy>();
  for (int i = 0; i < testing::scaled(20); ++i) {
    Event rang;
    Event done;
    Event unused;
    auto unheard = system.spawn<Quiet>(&unused);
    auto blocker = system.spawn<TimerBlocker>(unheard, &rang, &done);
    blocker.send<Again>();
    done.wait();
    unheard.stop();
    blocker.stop();
  }
}

TEST(Fairness, ATimerOfABlockedThreadIsFiredByAnIdleOne) {
  for (int i = 0; i < testing::scaled(20); ++i) {
    ActorSystem system(quiet(2));
    Event rang;
    Event done;
    Event unused;
    system.spawn<TimerBlocker>(system.spawn<Quiet>(&unused), &rang, &done).send<Again>();
    done.wait();
  }
}

}  // namespace
}  // namespace weir
