#include <weir/runtime/sleep.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::await_end;
using testing::Counted;
using testing::Event;
using testing::quiet;

TEST(Sleep, WaitsOnTheSystemClock) {
  struct Sleeping {
    static Task<> run(Simulation* simulation) {
      EXPECT_TRUE(co_await sleep_for(seconds(3)));
      EXPECT_EQ(simulation->now().time_since_epoch(), seconds(3));
      EXPECT_TRUE(co_await sleep_until(TimePoint(seconds(5))));
      EXPECT_EQ(simulation->now().time_since_epoch(), seconds(5));
    }
  };
  Simulation simulation;
  simulation.run(Sleeping::run(&simulation));
}

TEST(Sleep, UntilATimeThatHasPassedDoesNotWait) {
  struct Sleeping {
    static Task<> run(Simulation* simulation) {
      EXPECT_TRUE(co_await sleep_for(seconds(3)));
      EXPECT_TRUE(co_await sleep_for(Duration::zero()));
      EXPECT_TRUE(co_await sleep_for(-seconds(1)));
      EXPECT_TRUE(co_await sleep_for(Duration::min()));
      EXPECT_TRUE(co_await sleep_until(TimePoint(seconds(1))));
      EXPECT_EQ(simulation->now().time_since_epoch(), seconds(3));
    }
  };
  Simulation simulation;
  simulation.run(Sleeping::run(&simulation));
}

Task<> sleep_and_add(Duration duration, std::vector<std::string>* log, std::string name) {
  const auto slept = co_await sleep_for(duration);
  log->push_back(name + (slept ? "" : " cancelled"));
}

TEST(Sleep, TasksOfOneActorSleepSideBySide) {
  struct Sleeping {
    static Task<std::vector<std::string>> run() {
      std::vector<std::string> log;
      TaskScope scope;
      scope.spawn(sleep_and_add(seconds(3), &log, "c"));
      scope.spawn(sleep_and_add(seconds(1), &log, "a"));
      scope.spawn(sleep_and_add(seconds(2), &log, "b"));
      scope.spawn(sleep_and_add(forever, &log, "d"));
      EXPECT_TRUE(co_await sleep_for(seconds(10)));
      scope.cancel_all();
      co_await scope.join();
      co_return log;
    }
  };
  Simulation simulation;
  EXPECT_EQ(simulation.run(Sleeping::run()),
            (std::vector<std::string>{"a", "b", "c", "d cancelled"}));
  EXPECT_EQ(simulation.now().time_since_epoch(), seconds(10));
}

struct Nap {
  Duration duration;
};

class Sleeper final : public Actor<Nap> {
 public:
  explicit Sleeper(Event* sleeps) : sleeps_(sleeps) {}
  Task<> on(Nap nap) {
    const Counted<Sleeper> local;
    sleeps_->set();
    static_cast<void>(co_await sleep_for(nap.duration));
  }

 private:
  Event* sleeps_;
};

TEST(Sleep, EndsWithAKilledActor) {
  ActorSystem system(quiet());
  for (int i = 0; i < testing::scaled(200); ++i) {
    Event sleeps;
    auto sleeper = system.spawn<Sleeper>(&sleeps);
    // Sometimes the timer has just fired, and its signal is on the way.
    sleeper.send<Nap>(i % 2 == 0 ? Duration(milliseconds(i % 3)) : forever);
    sleeps.wait();
    sleeper.stop(Stop::kill);
    await_end(system, sleeper);
  }
  EXPECT_EQ(Counted<Sleeper>::live(), 0);
}

TEST(Sleep, OutsideAnActorThrows) {
  // A coroutine that nobody runs on behalf of an actor.
  auto handle = sleep_and_add(seconds(1), nullptr, "nobody").release();
  handle.resume();
  ASSERT_TRUE(handle.done());
  EXPECT_THROW(handle.promise().take(), std::logic_error);
  handle.destroy();
}

struct Turn {
  int rounds;
};

struct Turns {
  std::vector<int> order;
  testing::Counter finished;
};

/// Takes turns with others like it on the only thread.
class Player final : public Actor<Turn> {
 public:
  Player(int number, Turns* turns) : number_(number), turns_(turns) {}
  Task<> on(Turn turn) {
    for (int i = 0; i < turn.rounds; ++i) {
      turns_->order.push_back(number_);
      co_await yield();
    }
    turns_->finished.add();
  }

 private:
  int number_;
  Turns* turns_;
};

TEST(Yield, LetsOtherActorsRun) {
  ActorSystem system(quiet(1));
  Turns turns;
  struct Together {
    static Task<> begin(RefOf<Player> a, RefOf<Player> b) {
      a.send<Turn>(50);
      b.send<Turn>(50);
      co_return;
    }
  };
  system.run(Together::begin(system.spawn<Player>(0, &turns), system.spawn<Player>(1, &turns)));
  turns.finished.wait_for(2);
  int changes = 0;
  for (std::size_t i = 1; i < turns.order.size(); ++i)
    changes += turns.order[i] != turns.order[i - 1];
  EXPECT_EQ(turns.order.size(), 100u);
  EXPECT_EQ(changes, 99);
}

struct Poke {
  using Reply = void;
};

/// Computes for ever in the background, and answers all the same.
class Busy final : public Actor<Turn, Poke> {
 public:
  static constexpr bool interleaves = true;

  Task<> on(Turn) {
    while (!is_poked_) co_await yield();
  }
  void on(Poke) { is_poked_ = true; }

 private:
  bool is_poked_ = false;
};

TEST(Yield, LetsAnActorThatInterleavesHandleMessages) {
  ActorSystem system(quiet(1));
  auto busy = system.spawn<Busy>();
  busy.send<Turn>(0);
  EXPECT_TRUE(testing::ask_from_outside(system, busy, Poke{}));
}

TEST(Yield, EndsWithAKilledActor) {
  ActorSystem system(quiet());
  auto busy = system.spawn<Busy>();
  busy.send<Turn>(0);
  busy.stop(Stop::kill);
  await_end(system, busy);
}

}  // namespace
}  // namespace weir
