#include <weir/runtime/task_scope.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/channel.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/when_all.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using testing::ask_from_outside;
using testing::await_end;
using testing::Counted;
using testing::Event;
using testing::quiet;
using testing::Reports;

using Log = std::vector<std::string>;

Task<> step_twice(std::string name, Log* log) {
  log->push_back(name + "1");
  co_await yield();
  log->push_back(name + "2");
}

Task<Log> two_tasks() {
  Log log;
  // [scope]
  TaskScope scope;
  scope.spawn(step_twice("a", &log));
  scope.spawn(step_twice("b", &log));
  co_await scope.join();
  // [/scope]
  co_return log;
}

TEST(TaskScope, RunsTasksInterleaved) {
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(two_tasks()), (Log{"a1", "b1", "a2", "b2"}));
}

TEST(TaskScope, JoinOfNoTasksDoesNotWait) {
  struct Empty {
    static Task<bool> run() {
      TaskScope scope;
      co_await scope.join();
      co_return scope.running() == 0;
    }
  };
  ActorSystem system(quiet());
  EXPECT_TRUE(system.run(Empty::run()));
}

Task<> fail_after(int yields, std::string message) {
  for (int i = 0; i < yields; ++i) co_await yield();
  throw std::runtime_error(message);
}

TEST(TaskScope, JoinRethrowsTheFirstFailureWhenAllHaveEnded) {
  struct Failing {
    static Task<std::string> run() {
      Log log;
      TaskScope scope;
      scope.spawn(fail_after(3, "late"));
      scope.spawn(fail_after(1, "early"));
      scope.spawn(step_twice("c", &log));
      try {
        co_await scope.join();
      } catch (const std::runtime_error& error) {
        co_return std::string(error.what()) + " " + log.back() + " " +
            std::to_string(scope.running());
      }
      co_return "nothing was thrown";
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Failing::run()), "early c2 0");
}

TEST(TaskScope, CanBeJoinedAgain) {
  struct Again {
    static Task<Log> run() {
      Log log;
      TaskScope scope;
      scope.spawn(step_twice("a", &log));
      co_await scope.join();
      scope.spawn(step_twice("b", &log));
      co_await scope.join();
      co_return log;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Again::run()), (Log{"a1", "a2", "b1", "b2"}));
}

Task<> sleep_and_log(std::string name, Log* log) {
  const auto slept = co_await sleep_for(forever);
  log->push_back(name + (slept ? " slept" : " " + slept.error().message()));
}

TEST(TaskScope, CancelAllEndsWhatTasksWaitFor) {
  struct Cancelling {
    static Task<Log> run() {
      Log log;
      TaskScope scope;
      scope.spawn(sleep_and_log("a", &log));
      scope.spawn(sleep_and_log("b", &log));
      scope.cancel_all();
      log.push_back("cancelled " + std::to_string(scope.running()));
      co_await scope.join();
      co_return log;
    }
  };
  ActorSystem system(quiet());
  const Log log = system.run(Cancelling::run());
  ASSERT_EQ(log.size(), 3u);
  EXPECT_EQ(log[0], "cancelled 2");  // never inline
  EXPECT_NE(log[1].find("cancelled"), std::string::npos);
  EXPECT_NE(log[2].find("cancelled"), std::string::npos);
}

TEST(TaskScope, CancelAllReachesScopesWithinTasks) {
  struct Nested {
    static Task<> outer(Log* log) {
      TaskScope inner;
      inner.spawn(sleep_and_log("inner", log));
      co_await inner.join();
      log->push_back(current_cancellation().is_cancelled() ? "outer cancelled" : "outer goes on");
    }
    static Task<Log> run() {
      Log log;
      TaskScope scope;
      scope.spawn(outer(&log));
      scope.cancel_all();
      co_await scope.join();
      co_return log;
    }
  };
  ActorSystem system(quiet());
  const Log log = system.run(Nested::run());
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[1], "outer cancelled");
}

TEST(TaskScope, ATaskMaySpawnIntoItsScope) {
  struct Tree {
    static Task<> grow(TaskScope* scope, int depth, int* leaves) {
      co_await yield();
      if (depth == 0) {
        ++*leaves;
        co_return;
      }
      scope->spawn(grow(scope, depth - 1, leaves));
      scope->spawn(grow(scope, depth - 1, leaves));
    }
    static Task<int> run() {
      int leaves = 0;
      TaskScope scope;
      scope.spawn(grow(&scope, 6, &leaves));
      co_await scope.join();
      co_return leaves;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Tree::run()), 64);
}

struct Late {
  TaskScope scope;
  SequenceBarrier last_one_ends;
  Log log;
};

// Wakes the joiner by its end; before that one's turn comes somebody else has a task for the scope.
Task<> end_when_told(Late* late) {
  static_cast<void>(co_await late->last_one_ends.wait_until(1));
  late->log.push_back("early ended");
}
Task<> end_later(Late* late) {
  static_cast<void>(co_await sleep_for(std::chrono::milliseconds(1)));
  late->log.push_back("late ended");
}
Task<> join(Late* late) {
  co_await late->scope.join();
  late->log.push_back("joined " + std::to_string(late->scope.running()));
}
Task<> spawn_late(Late* late) {
  static_cast<void>(co_await late->last_one_ends.wait_until(1));
  late->scope.spawn(end_later(late));
}
Task<Log> join_with_a_late_task() {
  Late late;
  TaskScope others;
  others.spawn(spawn_late(&late));
  late.scope.spawn(end_when_told(&late));  // who waits last is told first
  others.spawn(join(&late));
  late.last_one_ends.publish(1);
  co_await others.join();
  co_return late.log;
}

TEST(TaskScope, JoinWaitsForATaskThatIsStartedWhenItHasBeenWoken) {
  Simulation simulation;
  EXPECT_EQ(simulation.run(join_with_a_late_task()),
            (Log{"early ended", "late ended", "joined 0"}));
}

struct Unfinished {};

Task<> hold_forever() {
  const Counted<Unfinished> local;
  static_cast<void>(co_await sleep_for(forever));
}

TEST(TaskScope, DestroysUnfinishedTasksWhenAnExceptionSkipsTheJoin) {
  struct Thrower {
    static Task<> scope_then_throw() {
      TaskScope scope;
      scope.spawn(hold_forever());
      throw std::runtime_error("no join");
      co_return;
    }
    static Task<std::int64_t> run() {
      try {
        co_await scope_then_throw();
      } catch (const std::runtime_error&) {
      }
      co_return Counted<Unfinished>::live();
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Thrower::run()), 0);
}

// A signal for the scope's task is on its way when the scope goes; others behind it are not lost.
TEST(TaskScope, WithdrawsWakeUpsOfDestroyedTasksAndKeepsTheOthers) {
  struct Waking {
    static Task<> pop_one(Channel<int>* channel, int* popped) {
      auto value = co_await channel->pop();
      if (value) *popped += *value;
    }
    static Task<int> run() {
      int popped = 0;
      Channel<int> doomed(1);
      Channel<int> kept(1);
      TaskScope outer;
      outer.spawn(pop_one(&kept, &popped));
      {
        TaskScope inner;
        inner.spawn(pop_one(&doomed, &popped));
        static_cast<void>(doomed.try_push(1000));
        static_cast<void>(kept.try_push(1));
      }
      co_await outer.join();
      co_return popped + static_cast<int>(doomed.size()) * 10;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Waking::run()), 11);
}

struct Start {};
struct Ticks {
  using Reply = int;
};

// Tasks in the background of an actor that handles messages meanwhile.
class Ticker final : public Actor<Start, Ticks> {
 public:
  explicit Ticker(Event* cancelled) : cancelled_(cancelled) {}

  void on(Start) { background_.spawn(tick()); }
  int on(Ticks) const { return ticks_; }

 private:
  Task<> tick() {
    for (;;) {
      ++ticks_;
      co_await yield();
      if (ticks_ < 3) continue;
      if (!co_await sleep_for(forever)) break;
    }
    cancelled_->set();
  }

  Event* cancelled_;
  int ticks_ = 0;
  TaskScope background_;
};

TEST(TaskScope, OfAnActorRunsInTheBackgroundAndIsCancelledWhenTheActorStops) {
  ActorSystem system(quiet());
  Event cancelled;
  auto ticker = system.spawn<Ticker>(&cancelled);
  ticker.send<Start>();
  testing::eventually("three ticks",
                      [&] { return *ask_from_outside(system, ticker, Ticks{}) == 3; });
  EXPECT_FALSE(cancelled.is_set());
  ticker.stop();
  await_end(system, ticker);
  EXPECT_TRUE(cancelled.is_set());
}

struct Play {};

// Two tasks that wake each other without end: in the background, or while their handler waits.
class Restless final : public Actor<Start, Play> {
 public:
  void on(Start) {
    background_.spawn(pass_on(&to_left_, &to_right_));
    background_.spawn(pass_on(&to_right_, &to_left_));
    static_cast<void>(to_left_.try_push(0));
  }
  Task<> on(Play) {
    Channel<int> to_left(1);
    Channel<int> to_right(1);
    TaskScope scope;
    scope.spawn(pass_on(&to_left, &to_right));
    scope.spawn(pass_on(&to_right, &to_left));
    static_cast<void>(to_left.try_push(0));
    co_await scope.join();
  }

 private:
  static Task<> pass_on(Channel<int>* from, Channel<int>* to) {
    for (;;) {
      const auto value = co_await from->pop();
      if (!value || !co_await to->push(*value + 1)) co_return;
    }
  }

  Channel<int> to_left_{1};
  Channel<int> to_right_{1};
  TaskScope background_;
};

class Idler final : public Actor<Ticks> {
 public:
  int on(Ticks) { return 7; }
};

TEST(TaskScope, TasksThatKeepEachOtherBusyLetOtherActorsRun) {
  ActorSystem system(quiet(1));
  auto idler = system.spawn<Idler>();
  auto in_background = system.spawn<Restless>();
  in_background.send<Start>();
  EXPECT_EQ(*ask_from_outside(system, idler, Ticks{}), 7);
  auto in_handler = system.spawn<Restless>();
  in_handler.send<Play>();
  EXPECT_EQ(*ask_from_outside(system, idler, Ticks{}), 7);
  in_background.stop();
  await_end(system, in_background);
  in_handler.stop(Stop::kill);
  await_end(system, in_handler);
}

class Holder final : public Actor<Start> {
 public:
  explicit Holder(Event* held) : held_(held) {}
  Task<> on(Start) {
    TaskScope scope;
    scope.spawn(hold_forever());
    scope.spawn(hold_forever());
    held_->set();
    co_await scope.join();
  }

 private:
  Event* held_;
};

TEST(TaskScope, GoesWithAKilledActor) {
  ActorSystem system(quiet());
  Event held;
  auto holder = system.spawn<Holder>(&held);
  holder.send<Start>();
  held.wait();
  EXPECT_EQ(Counted<Unfinished>::live(), 2);
  holder.stop(Stop::kill);
  await_end(system, holder);
  EXPECT_EQ(Counted<Unfinished>::live(), 0);
}

class Careless final : public Actor<Start> {
 public:
  void on(Start) { background_.spawn(fail_after(1, "nobody looks")); }

 private:
  TaskScope background_;
};

TEST(TaskScope, ReportsAFailureThatNobodyJoined) {
  Reports reports;
  ActorSystem system(reports.options());
  auto careless = system.spawn<Careless>();
  careless.send<Start>();
  careless.stop(Stop::when_drained);
  await_end(system, careless);
  EXPECT_EQ(reports.failures.wait_for(1).front().message,
            "a task that nobody joined: nobody looks");
}

TEST(TaskScope, SpawnOutsideAnActorThrows) {
  Log log;
  TaskScope scope;
  EXPECT_THROW(scope.spawn(step_twice("a", &log)), std::logic_error);
}

class Impatient final : public Actor<Start> {
 public:
  Impatient() { background_.spawn(hold_forever()); }
  void on(Start) {}

 private:
  TaskScope background_;
};

class ParentOfImpatient final : public Actor<Start> {
 public:
  explicit ParentOfImpatient(testing::Collector<std::string>* failures) : failures_(failures) {}
  void on(Start) {
    try {
      spawn<Impatient>();
      failures_->add("none");
    } catch (const std::logic_error& error) {
      failures_->add(error.what());
    }
  }

 private:
  testing::Collector<std::string>* failures_;
};

TEST(TaskScope, SpawnInAConstructorThrows) {
  testing::Collector<std::string> failures;
  ActorSystem system(quiet());
  EXPECT_THROW(system.spawn<Impatient>(), std::logic_error);
  system.spawn<ParentOfImpatient>(&failures).send<Start>();
  const std::string failure = failures.wait_for(1).front();
  EXPECT_NE(failure.find("constructor of " + std::string(type_name<Impatient>())),
            std::string::npos)
      << failure;
  EXPECT_NE(failure.find("on_start"), std::string::npos) << failure;
}

TEST(TaskScope, SpawnOfAnEmptyTaskThrows) {
  struct Empty {
    static Task<bool> run() {
      TaskScope scope;
      try {
        scope.spawn({});
      } catch (const std::logic_error&) {
        co_return true;
      }
      co_return false;
    }
  };
  ActorSystem system(quiet());
  EXPECT_TRUE(system.run(Empty::run()));
}

Task<int> later(int value) {
  co_await yield();
  co_return value;
}
Task<> nothing() { co_return; }
Task<std::string> text() { co_return "text"; }

TEST(WhenAll, GivesTheValuesOfAllTasks) {
  struct All {
    static Task<bool> run() {
      auto [number, empty, word] = co_await when_all(later(7), nothing(), text());
      static_assert(std::is_same_v<decltype(empty), std::monostate>);
      co_return number == 7 && word == "text";
    }
  };
  ActorSystem system(quiet());
  EXPECT_TRUE(system.run(All::run()));
}

TEST(WhenAll, RethrowsTheFirstException) {
  struct All {
    static Task<std::string> run() {
      try {
        co_await when_all(later(7), fail_after(1, "broken"));
      } catch (const std::runtime_error& error) {
        co_return error.what();
      }
      co_return "nothing was thrown";
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(All::run()), "broken");
}

}  // namespace
}  // namespace weir
