// The hazards of docs/coroutines.md, each in the form that avoids it.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using testing::ask_from_outside;
using testing::await_end;
using testing::Event;
using testing::quiet;

using Log = std::vector<std::string>;

// [lambda]
Task<> write_later(std::string line, Log* log) {
  co_await yield();
  log->push_back(std::move(line));
}

Task<> spawn_from_lambdas(Log* log) {
  TaskScope scope;
  for (const char* name : {"ada", "grace"}) {
    // The lambda is no coroutine: it hands its captures to one as parameters, and may then go.
    const auto write = [line = std::string("hello ") + name, log] {
      return write_later(line, log);
    };
    scope.spawn(write());
  }
  co_await scope.join();
}
// [/lambda]

TEST(CoroutineHazard, ALambdaThatCapturesHandsItsCapturesToACoroutine) {
  ActorSystem system(quiet());
  Log log;
  system.run(spawn_from_lambdas(&log));
  EXPECT_EQ(log, (Log{"hello ada", "hello grace"}));
}

// A lambda that captures nothing has nothing to lose.
TEST(CoroutineHazard, ALambdaWithoutCapturesMayBeACoroutine) {
  ActorSystem system(quiet());
  Log log;
  const std::function<Task<>(std::string, Log*)> write = [](std::string line,
                                                            Log* lines) -> Task<> {
    co_await yield();
    lines->push_back(std::move(line));
  };
  system.run(write("hello", &log));
  EXPECT_EQ(log, Log{"hello"});
}

// [parameters]
Task<std::size_t> length_of(std::string text) {  // a copy, or moved in: it lives in the frame
  co_await yield();
  co_return text.size();
}

Task<std::size_t> start_later() {
  Task<std::size_t> task = length_of(std::string(1000, 'x'));  // the temporary goes here
  co_await yield();
  co_return co_await std::move(task);
}
// [/parameters]

TEST(CoroutineHazard, ParametersByValueOutliveTheCaller) {
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(start_later()), 1000u);
}

struct Load {
  using Reply = int;
};
struct Reset {};

// Interleaves, so a message may be handled while another handler waits.
class Cache final : public Actor<Load, Reset> {
 public:
  static constexpr bool interleaves = true;

  explicit Cache(Event* loading) : loading_(loading) {}

  Task<int> on(Load) {
    // [recheck]
    const int generation = generation_;
    loading_->set();
    while (!is_reset_) co_await yield();
    if (generation != generation_) co_return -1;  // what was true before the wait may not be now
    // [/recheck]
    co_return generation;
  }
  void on(Reset) {
    ++generation_;
    is_reset_ = true;
  }

 private:
  Event* loading_;
  int generation_ = 0;
  bool is_reset_ = false;
};

TEST(CoroutineHazard, StateIsLookedAtAgainAfterAWait) {
  ActorSystem system(quiet());
  Event loading;
  auto cache = system.spawn<Cache>(&loading);
  struct Asking {
    static Task<int> run(RefOf<Cache> target, Event* begun) {
      TaskScope scope;
      int reply = 0;
      scope.spawn(ask(target, &reply));
      while (!begun->is_set()) co_await yield();
      static_cast<void>(target.send<Reset>());
      co_await scope.join();
      co_return reply;
    }
    static Task<> ask(RefOf<Cache> target, int* reply) {
      const auto result = co_await target.ask<Load>();
      *reply = *result;
    }
  };
  EXPECT_EQ(system.run(Asking::run(cache, &loading)), -1);
}

struct Hold {};

// What tasks use is declared before the scope that holds them, so that it goes after them.
class Holder final : public Actor<Hold> {
 public:
  Holder(Event* holds, Log* log) : holds_(holds), log_(log) {}

  Task<> on(Hold) {
    // [order]
    std::string shared = "still there";
    TaskScope scope;  // after what its tasks use
    scope.spawn(use_at_the_end(&shared, log_));
    // [/order]
    holds_->set();
    co_await scope.join();
  }

 private:
  struct AtTheEnd {
    std::string* shared;
    Log* log;
    ~AtTheEnd() { log->push_back(*shared); }
  };
  static Task<> use_at_the_end(std::string* shared, Log* log) {
    const AtTheEnd guard{shared, log};
    static_cast<void>(co_await sleep_for(forever));
  }

  Event* holds_;
  Log* log_;
};

TEST(CoroutineHazard, WhatTasksUseIsDeclaredBeforeTheirScope) {
  ActorSystem system(quiet());
  Event holds;
  Log log;
  auto holder = system.spawn<Holder>(&holds, &log);
  static_cast<void>(holder.send<Hold>());
  holds.wait();
  holder.stop(Stop::kill);
  await_end(system, holder);
  EXPECT_EQ(log, Log{"still there"});
}

}  // namespace
}  // namespace weir
