// An actor that says `interleaves` handles other messages while a handler waits.

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/ask_all.hpp>
#include <weir/runtime/explore_gtest.hpp>
#include <weir/runtime/semaphore.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>

#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using testing::Counted;
using testing::Event;
using testing::quiet;

using Lines = std::vector<std::string>;

struct Work {
  using Reply = int;
  int number;
  Duration time;
};
struct Note {
  int number;
};
struct Throw {};

/// Begins each piece of work, waits, and ends it.
template <bool interleaved>
class Worker final : public Actor<Work, Note, Throw> {
 public:
  static constexpr bool interleaves = interleaved;

  explicit Worker(Collector<std::string>* log, Duration start_time = {})
      : log_(log), start_time_(start_time) {}
  Task<> on_start() {
    static_cast<void>(co_await sleep_for(start_time_));
    log_->add("started");
  }
  Task<int> on(Work work) {
    log_->add("begin " + std::to_string(work.number));
    most_ = std::max(most_, ++under_way_);
    static_cast<void>(co_await sleep_for(work.time));
    --under_way_;
    log_->add("end " + std::to_string(work.number));
    co_return work.number;
  }
  void on(Note note) { log_->add("note " + std::to_string(note.number)); }
  void on(Throw) { throw std::runtime_error("worker broke"); }
  void on_stop() { log_->add("stopped, most " + std::to_string(most_)); }

 private:
  Collector<std::string>* log_;
  Duration start_time_;
  int under_way_ = 0;
  int most_ = 0;
  Counted<Worker> counted_;
};

/// Asks once and notes the outcome.
class Client final : public Actor<> {
 public:
  Client(ActorRef<Work> worker, int number, Duration time, Collector<std::string>* outcomes)
      : worker_(std::move(worker)), number_(number), time_(time), outcomes_(outcomes) {}
  Task<> on_start() {
    const auto result = co_await worker_.ask<Work>(number_, time_).within(forever);
    outcomes_->add(std::to_string(number_) + ": " +
                   (result ? std::to_string(*result) : result.error().message()));
  }

 private:
  ActorRef<Work> worker_;
  int number_;
  Duration time_;
  Collector<std::string>* outcomes_;
};

struct Scene {
  explicit Scene(ActorSystemOptions options = quiet())
      : simulation({.system = std::move(options)}) {}

  // Nobody waits for the reply.
  template <class Ref>
  void work(const Ref& worker, int number, Duration time) {
    ASSERT_TRUE(worker.template send<Work>(number, time));
  }

  Collector<std::string> log;
  Collector<std::string> outcomes;
  Simulation simulation;
};

TEST(Interleaving, HandlesOtherMessagesWhileAHandlerWaits) {
  Scene scene;
  auto worker = scene.simulation.system().spawn<Worker<true>>(&scene.log);
  scene.work(worker, 1, 3s);
  scene.work(worker, 2, 1s);
  worker.send<Note>(3);
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.log.values(),
            (Lines{"started", "begin 1", "begin 2", "note 3", "end 2", "end 1"}));
}

TEST(Interleaving, IsOffUnlessTheClassSaysSo) {
  Scene scene;
  auto worker = scene.simulation.system().spawn<Worker<false>>(&scene.log);
  scene.work(worker, 1, 3s);
  scene.work(worker, 2, 1s);
  worker.send<Note>(3);
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.log.values(),
            (Lines{"started", "begin 1", "end 1", "begin 2", "end 2", "note 3"}));
}

TEST(Interleaving, BeginsWhenOnStartHasFinished) {
  Scene scene;
  auto worker = scene.simulation.system().spawn<Worker<true>>(&scene.log, 5s);
  worker.send<Note>(1);
  scene.work(worker, 2, 1s);
  scene.simulation.run_for(4s);
  EXPECT_EQ(scene.log.values(), Lines{});
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.log.values(), (Lines{"started", "note 1", "begin 2", "end 2"}));
}

TEST(Interleaving, StopsTakingMessagesAtItsLimit) {
  ActorSystemOptions options = quiet();
  options.interleaved_max = 3;
  Scene scene(options);
  auto worker = scene.simulation.system().spawn<Worker<true>>(&scene.log);
  for (int i = 0; i < 5; ++i) scene.work(worker, i, 1s);
  worker.send<Note>(5);
  scene.simulation.run_for(500ms);
  EXPECT_EQ(scene.log.values(), (Lines{"started", "begin 0", "begin 1", "begin 2"}));
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.log.values().size(), 12u);
  worker.stop();
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.log.values().back(), "stopped, most 3");
}

struct Open {};
struct Pass {
  using Reply = int;
};

/// Lets nobody pass until it is opened, by a message that comes behind them.
class Door final : public Actor<Pass, Open> {
 public:
  static constexpr bool interleaves = true;
  static constexpr std::uint32_t interleaved_max = unbounded;

  Task<int> on(Pass) {
    static_cast<void>(co_await opened_.wait_until(1));
    co_return 1;
  }
  void on(Open) { opened_.publish(1); }

 private:
  SequenceBarrier opened_;
};

TEST(Interleaving, AClassMayHaveALimitOfItsOwn) {
  ActorSystemOptions options = quiet();
  options.interleaved_max = 3;
  Scene scene(options);
  auto door = scene.simulation.system().spawn<Door>();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(door.send<Pass>());
  ASSERT_TRUE(door.send<Open>());
  const auto ask = [](RefOf<Door> asked) -> Task<Result<int>> {
    co_return co_await asked.ask<Pass>().within(1s);
  };
  EXPECT_TRUE(scene.simulation.run(ask(door))) << "all who wait keep out what they wait for";
}

struct Gather {
  using Reply = int;
};
struct Weight {
  using Reply = int;
};

/// Answers with the weight that its coordinator tells it.
class Scale final : public Actor<Gather> {
 public:
  explicit Scale(ActorRef<Weight> coordinator) : coordinator_(std::move(coordinator)) {}
  Task<Result<int>> on(Gather) { co_return co_await coordinator_.ask<Weight>().within(1min); }

 private:
  ActorRef<Weight> coordinator_;
};

/// Asks many who ask back.
class Coordinator final : public Actor<Gather, Weight> {
 public:
  static constexpr bool interleaves = true;

  explicit Coordinator(int scales) {
    for (int i = 0; i < scales; ++i) scales_.push_back(spawn<Scale>(self()));
  }
  Task<int> on(Gather) {
    int sum = 0;
    for (const auto& reply : co_await ask_all<Gather>(scales_).within(1min)) {
      sum += reply.value_or(0);
    }
    co_return sum;
  }
  int on(Weight) { return 1; }

 private:
  std::vector<ActorRef<Gather>> scales_;
};

TEST(Interleaving, TasksOfAHandlerDoNotCountAgainstTheLimit) {
  ActorSystemOptions options = quiet();
  options.interleaved_max = 2;
  Scene scene(options);
  auto coordinator = scene.simulation.system().spawn<Coordinator>(5);
  EXPECT_EQ(*testing::ask_from_outside(scene.simulation.system(), coordinator, Gather{}), 5);
}

/// Waits after its tasks have ended.
class Delegating final : public Actor<Work> {
 public:
  static constexpr bool interleaves = true;
  static constexpr std::uint32_t interleaved_max = 2;

  explicit Delegating(int* most) : most_(most) {}
  Task<int> on(Work work) {
    *most_ = std::max(*most_, ++under_way_);
    TaskScope scope;
    for (int i = 1; i <= 3; ++i) scope.spawn(wait(work.time * i));
    co_await scope.join();
    static_cast<void>(co_await sleep_for(work.time));
    --under_way_;
    co_return work.number;
  }

 private:
  static Task<> wait(Duration time) { static_cast<void>(co_await sleep_for(time)); }

  int* most_;
  int under_way_ = 0;
};

TEST(Interleaving, ATaskThatEndsDoesNotLiftTheLimit) {
  int most = 0;
  Scene scene;
  auto actor = scene.simulation.system().spawn<Delegating>(&most);
  for (int i = 0; i < 6; ++i) scene.work(actor, i, 1s);
  scene.simulation.run_until_idle();
  EXPECT_EQ(most, 2);
}

TEST(Interleaving, StopLetsEveryHandlerFinish) {
  Scene scene;
  auto worker = scene.simulation.system().spawn<Worker<true>>(&scene.log);
  for (int i = 0; i < 3; ++i) {
    scene.simulation.system().spawn<Client>(worker, i, 1s, &scene.outcomes);
  }
  scene.simulation.run_for(500ms);
  worker.stop();
  scene.simulation.run_until_idle();
  Lines outcomes = scene.outcomes.values();
  std::sort(outcomes.begin(), outcomes.end());
  EXPECT_EQ(outcomes, (Lines{"0: 0", "1: 1", "2: 2"}));
  EXPECT_EQ(scene.log.values().back(), "stopped, most 3");
}

TEST(Interleaving, KillAnswersEveryRequestWithStopped) {
  Scene scene;
  auto worker = scene.simulation.system().spawn<Worker<true>>(&scene.log);
  for (int i = 0; i < 3; ++i) {
    scene.simulation.system().spawn<Client>(worker, i, 1s, &scene.outcomes);
  }
  scene.simulation.run_for(500ms);
  worker.stop(Stop::kill);
  scene.simulation.run_until_idle();
  ASSERT_EQ(scene.outcomes.values().size(), 3u);
  for (const std::string& outcome : scene.outcomes.values()) {
    EXPECT_NE(outcome.find("actor stopped"), std::string::npos) << outcome;
  }
  EXPECT_EQ(Counted<Worker<true>>::live(), 0);
}

// What is suspended belongs to the instance that failed.
TEST(Interleaving, AFailureEndsTheHandlersThatWait) {
  Scene scene;
  auto worker = scene.simulation.system().spawn<Worker<true>>(&scene.log);
  for (int i = 0; i < 3; ++i) {
    scene.simulation.system().spawn<Client>(worker, i, 1s, &scene.outcomes);
  }
  scene.simulation.run_for(500ms);
  worker.send<Throw>();
  scene.simulation.run_until_idle();
  ASSERT_EQ(scene.outcomes.values().size(), 3u);
  for (const std::string& outcome : scene.outcomes.values()) {
    EXPECT_NE(outcome.find("worker broke"), std::string::npos) << outcome;
  }
  EXPECT_FALSE(worker.is_alive());
}

// With `resume` only the message that failed is lost.
TEST(Interleaving, AFailureThatIsResumedLeavesTheOthersAlone) {
  Scene scene;
  auto worker = scene.simulation.system().spawn<Worker<true>>(
      SpawnOptions{.supervision = Supervision::resume()}, &scene.log);
  scene.simulation.system().spawn<Client>(worker, 7, 1s, &scene.outcomes);
  scene.simulation.run_for(500ms);
  worker.send<Throw>();
  scene.simulation.run_until_idle();
  EXPECT_EQ(scene.outcomes.values(), Lines{"7: 7"});
}

// I3.
TEST(Interleaving, GivesEveryCallerItsOwnReplyInEveryOrder) {
  explore_in_test({.seeds = static_cast<std::uint64_t>(testing::scaled(200))},
                  [](Simulation& simulation) {
                    Collector<std::string> log;
                    Collector<std::string> outcomes;
                    auto worker = simulation.system().spawn<Worker<true>>(&log);
                    const int count = 40;
                    Lines expected;
                    for (int i = 0; i < count; ++i) {
                      const Duration time(static_cast<std::int64_t>(simulation.random() % 5));
                      simulation.system().spawn<Client>(worker, i, time, &outcomes);
                      expected.push_back(std::to_string(i) + ": " + std::to_string(i));
                    }
                    simulation.run_until_idle();
                    Lines got = outcomes.values();
                    std::sort(got.begin(), got.end());
                    std::sort(expected.begin(), expected.end());
                    EXPECT_EQ(got, expected);
                  });
}

struct Step {
  int rounds;
};

/// Between two awaits nobody else may be inside.
class Exclusive final : public Actor<Step> {
 public:
  static constexpr bool interleaves = true;

  Exclusive(testing::Counter* done, std::atomic<int>* overlaps)
      : done_(done), overlaps_(overlaps) {}
  Task<> on(Step step) {
    for (int i = 0; i < step.rounds; ++i) {
      if (is_inside_.exchange(true)) ++*overlaps_;
      for (int spin = 0; spin < 20; ++spin) internal::relax_cpu();
      is_inside_ = false;
      co_await yield();
    }
    done_->add();
  }

 private:
  testing::Counter* done_;
  std::atomic<int>* overlaps_;
  std::atomic<bool> is_inside_{false};
};

// I1 on threads.
TEST(Interleaving, RunsOneHandlerAtATime) {
  testing::Counter done;
  std::atomic<int> overlaps{0};
  ActorSystem system(quiet(3));
  auto actor = system.spawn<Exclusive>(&done, &overlaps);
  const int count = testing::scaled(500);
  for (int i = 0; i < count; ++i) ASSERT_TRUE(actor.send<Step>(10));
  done.wait_for(count);
  EXPECT_EQ(overlaps.load(), 0);
}

struct AwaitFirst {};
struct AwaitSecond {};
struct ReleaseFirst {};
struct Nudge {};

/// Whoever waits for the first permit lets the one who waits for the second go on, and sends the
/// actor a message.
class Relay final : public Actor<AwaitFirst, AwaitSecond, ReleaseFirst, Nudge> {
 public:
  static constexpr bool interleaves = true;

  explicit Relay(Event* woken) : woken_(woken) {}
  Task<> on(AwaitFirst) {
    const auto permit = co_await first_.acquire();
    second_held_.reset();
    self().send<Nudge>();
  }
  Task<> on(AwaitSecond) {
    const auto permit = co_await second_.acquire();
    woken_->set();
  }
  void on(ReleaseFirst) { first_held_.reset(); }
  void on(Nudge) {}

 private:
  Event* woken_;
  Semaphore first_{1};
  Semaphore second_{1};
  std::optional<Semaphore::Permit> first_held_ = first_.try_acquire();
  std::optional<Semaphore::Permit> second_held_ = second_.try_acquire();
};

TEST(Interleaving, AMessageThatComesAfterASignalDoesNotHideIt) {
  ActorSystem system(quiet());
  Event woken;
  const auto relay = system.spawn<Relay>(&woken);
  relay.send<AwaitFirst>();
  relay.send<AwaitSecond>();
  relay.send<ReleaseFirst>();
  woken.wait();
}

}  // namespace
}  // namespace weir
