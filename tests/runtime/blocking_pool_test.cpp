#include <weir/runtime/blocking_pool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/internal/blocking_pool.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using testing::await_end;
using testing::Counted;
using testing::Counter;
using testing::Event;
using testing::quiet;

TEST(BlockingPool, GivesTheResultAndGoesOnInTheActor) {
  struct Threads {
    static Task<bool> run() {
      const auto before = internal::current_cell();
      const auto there = co_await on_blocking_pool([] { return std::this_thread::get_id(); });
      co_return *there != std::this_thread::get_id() && internal::current_cell() == before;
    }
  };
  ActorSystem system(quiet());
  EXPECT_TRUE(system.run(Threads::run()));
}

Task<Result<std::string>> first_line_of(std::string path) {
  // [blocking]
  auto read = [path]() -> Result<std::string> {  // owns what it uses
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) return Error(Errc::not_found, path);
    return line;
  };
  co_return co_await on_blocking_pool(std::move(read));
  // [/blocking]
}

TEST(BlockingPool, ReadsAFile) {
  const std::string path = ::testing::TempDir() + "/blocking_pool_test";
  std::ofstream(path) << "hello\n";
  ActorSystem system(quiet());
  EXPECT_EQ(*system.run(first_line_of(path)), "hello");
  EXPECT_EQ(system.run(first_line_of(path + " not there")).error(), Errc::not_found);
  std::filesystem::remove(path);
}

TEST(BlockingPool, TakesEveryKindOfFunction) {
  struct Kinds {
    static Task<> run() {
      const Result<> nothing = co_await on_blocking_pool([] {});
      EXPECT_TRUE(nothing);
      Result<std::unique_ptr<int>> owned = co_await on_blocking_pool(
          [value = std::make_unique<int>(5)]() mutable { return std::move(value); });
      EXPECT_EQ(**owned, 5);
      const Result<int> failed =
          co_await on_blocking_pool([]() -> Result<int> { return Error(Errc::not_found); });
      EXPECT_EQ(failed.error(), Errc::not_found);
    }
  };
  ActorSystem system(quiet());
  system.run(Kinds::run());
}

TEST(BlockingPool, RethrowsWhatTheFunctionThrows) {
  struct Throwing {
    static Task<std::string> run() {
      try {
        static_cast<void>(co_await on_blocking_pool([] { throw std::runtime_error("disk full"); }));
      } catch (const std::runtime_error& error) {
        co_return error.what();
      }
      co_return "nothing was thrown";
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Throwing::run()), "disk full");
}

Task<> call(int* sum) {
  const auto value = co_await on_blocking_pool([] { return 1; });
  *sum += *value;
}

TEST(BlockingPool, ServesManyCallsAtOnce) {
  struct Many {
    static Task<int> run() {
      int sum = 0;
      TaskScope scope;
      for (int i = 0; i < testing::scaled(1000); ++i) scope.spawn(call(&sum));
      co_await scope.join();
      co_return sum;
    }
  };
  auto options = quiet();
  options.blocking_threads_max = 3;
  ActorSystem system(options);
  EXPECT_EQ(system.run(Many::run()), testing::scaled(1000));
  EXPECT_LE(system.core().blocking->threads(), 3u);
}

// What occupies the only thread of a pool until it is told to go on.
struct Blockade {
  Event began;
  Event go_on;

  static Task<> run(Blockade* self) {
    static_cast<void>(co_await on_blocking_pool([self] {
      self->began.set();
      self->go_on.wait();
    }));
  }
};

struct Captured {};

struct Occupy {};

class Occupant final : public Actor<Occupy> {
 public:
  Occupant(Blockade* blockade, Counter* calls) : blockade_(blockade), calls_(calls) {}

  Task<> on(Occupy) {
    TaskScope scope;
    scope.spawn(Blockade::run(blockade_));
    scope.spawn(count(calls_));
    co_await scope.join();
  }

 private:
  static Task<> count(Counter* calls) {
    const auto result =
        co_await on_blocking_pool([calls, local = Counted<Captured>()] { calls->add(); });
    EXPECT_TRUE(result);
  }

  Blockade* blockade_;
  Counter* calls_;
};

TEST(BlockingPool, OfAKilledActorFinishesWhatHasBegunAndRunsNothingElse) {
  Blockade blockade;
  Counter calls;
  auto options = quiet();
  options.blocking_threads_max = 1;
  {
    ActorSystem system(options);
    auto occupant = system.spawn<Occupant>(&blockade, &calls);
    occupant.send<Occupy>();
    blockade.began.wait();
    testing::eventually("the second call", [&] { return system.core().blocking->depth() == 1; });
    occupant.stop(Stop::kill);
    await_end(system, occupant);
    EXPECT_EQ(Counted<Captured>::live(), 1);  // still in the queue
    blockade.go_on.set();
  }
  EXPECT_EQ(calls.value(), 0);
  EXPECT_EQ(Counted<Captured>::live(), 0);
}

TEST(BlockingPool, StopOfTheSystemWaitsForWhatHasBegunAndDropsTheRest) {
  Blockade blockade;
  Counter calls;
  auto options = quiet();
  options.blocking_threads_max = 1;
  ActorSystem system(options);
  system.spawn<Occupant>(&blockade, &calls).send<Occupy>();
  blockade.began.wait();
  testing::eventually("the second call", [&] { return system.core().blocking->depth() == 1; });
  std::thread stopping(
      [&] { system.stop({.drain = Duration::zero(), .timeout = std::chrono::milliseconds(1)}); });
  testing::eventually("the kill", [&] { return system.actors().empty(); });
  blockade.go_on.set();
  stopping.join();
  EXPECT_EQ(system.core().blocking->threads(), 0u);
  EXPECT_EQ(calls.value(), 0);
  EXPECT_EQ(Counted<Captured>::live(), 0);
}

TEST(BlockingPool, ACancelledCallerIsNotRunIfItHasNotBegunAndWaitedForIfItHas) {
  struct Cancelling {
    static Task<> second(std::string* outcome) {
      const auto result = co_await on_blocking_pool([] { return 1; });
      *outcome = result ? "ran" : result.error().message();
    }
    static Task<> run(Blockade* blockade) {
      std::string outcome;
      TaskScope scope;
      scope.spawn(Blockade::run(blockade));
      while (!blockade->began.is_set()) co_await yield();
      scope.spawn(second(&outcome));
      scope.cancel_all();
      while (scope.running() == 2) co_await yield();
      EXPECT_EQ(outcome, Error(Errc::cancelled).message());
      EXPECT_EQ(scope.running(), 1u);
      blockade->go_on.set();
      co_await scope.join();
    }
  };
  Blockade blockade;
  auto options = quiet();
  options.blocking_threads_max = 1;
  ActorSystem system(options);
  system.run(Cancelling::run(&blockade));
}

TEST(BlockingPool, ThreadsWithoutWorkEnd) {
  internal::BlockingPool pool({.threads_max = 2, .idle_time = Duration::zero()});
  ActorSystem system(quiet());
  Counter calls;
  struct Call final : internal::BlockingCall {
    explicit Call(internal::Cell& home, Counter* counter)
        : BlockingCall(
              home, [](BlockingCall* self) noexcept { static_cast<Call*>(self)->calls->add(); },
              [](BlockingCall* self) noexcept { delete static_cast<Call*>(self); }),
          calls(counter) {}
    Counter* calls;
  };
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(pool.submit(new Call(*system.core().guardian, &calls)));
    if (i % 2 == 0) continue;
    calls.wait_for(i + 1);
    testing::eventually("the end of the threads", [&] { return pool.threads() == 0; });
  }
  EXPECT_EQ(calls.value(), 20);
}

TEST(BlockingPool, WithoutThreadsRefuses) {
  struct None {
    static Task<Error> run() {
      const auto result = co_await on_blocking_pool([] {});
      co_return result.error();
    }
  };
  auto options = quiet();
  options.blocking_threads_max = 0;
  ActorSystem system(options);
  EXPECT_EQ(system.run(None::run()), Errc::unsupported);
}

// Tells how it ended: called, or destroyed without having been.
class Begun {
 public:
  Begun(Blockade* blockade, Event* ended, std::atomic<bool>* was_called) noexcept
      : blockade_(blockade), ended_(ended), was_called_(was_called) {}
  Begun(Begun&& other) noexcept
      : blockade_(other.blockade_),
        ended_(std::exchange(other.ended_, nullptr)),
        was_called_(other.was_called_) {}
  Begun& operator=(Begun&&) = delete;
  ~Begun() {
    if (ended_) ended_->set();
  }
  void operator()() noexcept {
    *was_called_ = true;
    if (!blockade_) return;
    blockade_->began.set();
    blockade_->go_on.wait();
  }

 private:
  Blockade* blockade_;
  Event* ended_;
  std::atomic<bool>* was_called_;
};

TEST(BlockingPool, ACallThatIsBegunIsNotWaitedFor) {
  struct Beginning {
    static Task<> run(Blockade* blockade, Event* ended, std::atomic<bool>* was_called) {
      begin_on_blocking_pool(Begun(blockade, ended, was_called));
      co_return;
    }
  };
  Blockade blockade;
  Event ended;
  std::atomic<bool> was_called{false};
  ActorSystem system(quiet());
  system.run(Beginning::run(&blockade, &ended, &was_called));
  blockade.began.wait();  // its caller has come to an end
  EXPECT_FALSE(ended.is_set());
  blockade.go_on.set();
  ended.wait();
  EXPECT_TRUE(was_called);
}

TEST(BlockingPool, ACallThatIsBegunIsDestroyedIfItCannotBeMade) {
  struct Beginning {
    static Task<> run(Event* ended, std::atomic<bool>* was_called) {
      begin_on_blocking_pool(Begun(nullptr, ended, was_called));
      co_return;
    }
  };
  Event ended;
  std::atomic<bool> was_called{false};
  auto options = quiet();
  options.blocking_threads_max = 0;
  ActorSystem system(options);
  system.run(Beginning::run(&ended, &was_called));
  EXPECT_TRUE(ended.is_set());
  EXPECT_FALSE(was_called);
}

TEST(BlockingPool, ACallThatIsBegunIsDestroyedIfTheSystemStopsFirst) {
  struct Beginning {
    static Task<> run(Blockade* blockade, Event* first, Event* second,
                      std::atomic<bool>* was_called) {
      begin_on_blocking_pool(Begun(blockade, first, was_called));
      blockade->began.wait();
      was_called->store(false);
      begin_on_blocking_pool(Begun(nullptr, second, was_called));
      co_return;
    }
  };
  Blockade blockade;
  Event first;
  Event second;
  std::atomic<bool> was_called{false};
  auto options = quiet();
  options.blocking_threads_max = 1;
  ActorSystem system(options);
  system.run(Beginning::run(&blockade, &first, &second, &was_called));
  std::thread stopping([&] { system.stop(); });
  second.wait();
  EXPECT_FALSE(was_called);
  blockade.go_on.set();
  stopping.join();
  EXPECT_TRUE(first.is_set());
}

TEST(BlockingPool, ACallIsBegunUnderSimulation) {
  struct Beginning {
    static Task<> run(Event* ended, std::atomic<bool>* was_called) {
      begin_on_blocking_pool(Begun(nullptr, ended, was_called));
      EXPECT_FALSE(was_called->load());
      co_return;
    }
  };
  Event ended;
  std::atomic<bool> was_called{false};
  Simulation simulation;
  simulation.run(Beginning::run(&ended, &was_called));
  simulation.run_for(std::chrono::seconds(10));
  EXPECT_TRUE(was_called);
  EXPECT_TRUE(ended.is_set());
}

TEST(BlockingPool, RunsUnderSimulation) {
  struct Many {
    static Task<int> run() {
      int sum = 0;
      TaskScope scope;
      for (int i = 0; i < 10; ++i) scope.spawn(call(&sum));
      co_await scope.join();
      co_return sum;
    }
  };
  Simulation simulation;
  EXPECT_EQ(simulation.run(Many::run()), 10);
}

}  // namespace
}  // namespace weir
