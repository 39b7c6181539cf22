#include <weir/runtime/cancellation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/explore_gtest.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using testing::Event;
using testing::quiet;

TEST(CancellationToken, TellsWhetherItsSourceWasCancelled) {
  CancellationSource source;
  const CancellationToken token = source.token();
  EXPECT_FALSE(token.is_cancelled());
  source.cancel();
  source.cancel();
  EXPECT_TRUE(token.is_cancelled());
  EXPECT_TRUE(source.is_cancelled());
}

TEST(CancellationToken, OfNothingIsNeverCancelled) {
  EXPECT_FALSE(CancellationToken().is_cancelled());
  EXPECT_FALSE(current_cancellation().is_cancelled());
}

TEST(CancellationToken, OutlivesItsSource) {
  CancellationToken token;
  {
    CancellationSource source;
    token = source.token();
    source.cancel();
  }
  EXPECT_TRUE(token.is_cancelled());
}

Task<> await_token(CancellationToken token, std::vector<std::string>* log) {
  const auto result = co_await token.cancelled();
  log->push_back(result ? "cancelled" : "gave up");
}

TEST(CancellationToken, WakesEverybodyWhoWaits) {
  struct Waiting {
    static Task<std::vector<std::string>> run() {
      std::vector<std::string> log;
      CancellationSource source;
      TaskScope scope;
      for (int i = 0; i < 3; ++i) scope.spawn(await_token(source.token(), &log));
      source.cancel();
      log.push_back("never inline");
      co_await scope.join();
      co_await await_token(source.token(), &log);
      co_return log;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Waiting::run()),
            (std::vector<std::string>{"never inline", "cancelled", "cancelled", "cancelled",
                                      "cancelled"}));
}

TEST(CancellationToken, AWaitIsItselfCancelled) {
  struct Waiting {
    static Task<std::vector<std::string>> run() {
      std::vector<std::string> log;
      CancellationSource source;
      TaskScope scope;
      scope.spawn(await_token(source.token(), &log));
      scope.spawn(await_token({}, &log));
      scope.cancel_all();
      co_await scope.join();
      co_return log;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Waiting::run()), (std::vector<std::string>{"gave up", "gave up"}));
}

// Threads cancel while the waits begin, end and are destroyed.
TEST(CancellationSource, CanBeCancelledByAnyThreadAtAnyTime) {
  struct Waiting {
    static Task<> wait(CancellationToken token, bool leaves) {
      std::vector<std::string> log;
      TaskScope scope;
      scope.spawn(await_token(token, &log));
      scope.spawn(await_token(token, &log));
      if (leaves) co_return;
      co_await scope.join();
      EXPECT_EQ(log.size(), 2u);
    }
  };
  ActorSystem system(quiet());
  for (int i = 0; i < testing::scaled(400); ++i) {
    CancellationSource source;
    std::thread other([&] { source.cancel(); });
    system.run(Waiting::wait(source.token(), i % 3 == 0));
    other.join();
  }
}

// A chain of actors: each handler asks the next and tells what became of it.
struct Work {
  using Reply = int;
};

struct Trace {
  Collector<std::string> lines;
  Event waits;  // the last one in the chain waits
};

class Last final : public Actor<Work> {
 public:
  explicit Last(Trace* trace) : trace_(trace) {}
  Task<int> on(Work) {
    trace_->waits.set();
    const auto slept = co_await sleep_for(forever);
    trace_->lines.add(std::string("last: ") + (slept ? "slept" : "cancelled") +
                      (is_cancelled() ? ", and knows" : ""));
    co_return 1;
  }

 private:
  Trace* trace_;
};

class Middle final : public Actor<Work> {
 public:
  Middle(ActorRef<Work> next, Trace* trace) : next_(std::move(next)), trace_(trace) {}
  Task<int> on(Work) {
    const auto token = current_cancellation();
    const auto reply = co_await next_.ask<Work>().within(forever);
    trace_->lines.add(std::string("middle: ") + (reply ? "replied" : reply.error().message()) +
                      (token.is_cancelled() ? ", and knows" : ""));
    const auto again = co_await next_.ask<Work>().within(forever);
    trace_->lines.add("middle again: " + again.error().message());
    co_return 2;
  }

 private:
  ActorRef<Work> next_;
  Trace* trace_;
};

TEST(Cancellation, FollowsTheCallerThroughNestedRequests) {
  ActorSystem system(quiet());
  Trace trace;
  auto last = system.spawn<Last>(&trace);
  auto middle = system.spawn<Middle>(last, &trace);
  struct Caller {
    static Task<> ask(ActorRef<Work> target) {
      const auto reply = co_await target.ask<Work>().within(forever);
      EXPECT_EQ(reply.error(), Errc::cancelled);
    }
    static Task<> run(ActorRef<Work> target, Trace* trace) {
      TaskScope scope;
      scope.spawn(ask(target));
      static_cast<void>(co_await on_blocking_pool([trace] { trace->waits.wait(); }));
      scope.cancel_all();
      co_await scope.join();
    }
  };
  system.run(Caller::run(middle, &trace));
  auto lines = trace.lines.wait_for(3);
  std::sort(lines.begin(), lines.end());
  const std::string cancelled = Error(Errc::cancelled).message();
  EXPECT_EQ(lines,
            (std::vector<std::string>{"last: cancelled, and knows", "middle again: " + cancelled,
                                      "middle: " + cancelled + ", and knows"}));
}

struct Go {};
struct Take {
  using Reply = bool;
  Duration time;
  bool tells = false;
  std::array<char, 700> padding = {};  // so that nothing but another request has its memory
};

/// Says whether it could take its time. Having told somebody, it may be interrupted.
class Server final : public Actor<Take> {
 public:
  static constexpr bool interleaves = true;
  explicit Server(ActorRef<Go> other) : other_(std::move(other)) {}
  Task<bool> on(Take message) {
    const auto slept = co_await sleep_for(message.time);
    if (message.tells) other_.send<Go>();
    co_return slept.has_value();
  }

 private:
  ActorRef<Go> other_;
};

class Bystander final : public Actor<Go> {
 public:
  void on(Go) {}
};

/// Gives up on a request just when it is answered, and makes another one.
class Impatient final : public Actor<Go> {
 public:
  Impatient(ActorRef<Take> server, Collector<bool>* replies)
      : server_(std::move(server)), replies_(replies) {}
  Task<> on(Go) {
    if (!std::exchange(is_again_, true)) {
      static_cast<void>(co_await server_.ask<Take>(10ms).within(10ms));
      self().send<Go>();
    } else {
      replies_->add((co_await server_.ask<Take>(1ms).within(1h)).value());
    }
  }

 private:
  ActorRef<Take> server_;
  Collector<bool>* replies_;
  bool is_again_ = false;
};

class Talker final : public Actor<Go> {
 public:
  explicit Talker(ActorRef<Take> server) : server_(std::move(server)) {}
  Task<> on(Go) { static_cast<void>(co_await server_.ask<Take>(10ms, true).within(1h)); }

 private:
  ActorRef<Take> server_;
};

// In some orders the second request has the memory of the first one, and has begun when the server
// is told that the first one was given up.
TEST(Cancellation, OfARequestThatIsOverMissesTheOneInItsPlace) {
  ExploreOptions options{.seeds = static_cast<std::uint64_t>(testing::scaled(500))};
  options.simulation.preemption = 0.8;
  explore_in_test(options, [](Simulation& simulation) {
    Collector<bool> replies;
    ActorSystem& system = simulation.system();
    auto server = system.spawn<Server>(system.spawn<Bystander>());
    system.spawn<Impatient>(server, &replies).send<Go>();
    system.spawn<Talker>(server).send<Go>();
    simulation.run_until_idle();
    EXPECT_EQ(replies.values(), std::vector<bool>{true});
  });
}

// A wait that begins after the cancellation ends at once, and lets others run all the same.
TEST(Cancellation, ALoopThatIgnoresItStillMakesWay) {
  struct Stubborn {
    static Task<> loop(int* rounds, const bool* is_over) {
      while (!*is_over) {
        static_cast<void>(co_await sleep_for(forever));
        ++*rounds;
      }
    }
    static Task<int> run() {
      int rounds = 0;
      bool is_over = false;
      TaskScope scope;
      scope.spawn(loop(&rounds, &is_over));
      scope.cancel_all();
      for (int i = 0; i < 10; ++i) co_await yield();
      is_over = true;
      co_await scope.join();
      co_return rounds;
    }
  };
  ActorSystem system(quiet());
  EXPECT_GT(system.run(Stubborn::run()), 5);
}

TEST(CancellationShield, LetsACancelledTaskCleanUp) {
  struct Cleaner {
    static Task<> work(std::vector<std::string>* log) {
      // [shield]
      const auto slept = co_await sleep_for(forever);
      log->push_back(slept ? "slept" : "cancelled");
      if (!slept) {
        const CancellationShield shield;  // what follows is waited for all the same
        const auto cleaned = co_await sleep_for(std::chrono::microseconds(1));
        log->push_back(cleaned ? "cleaned up" : "cancelled");
      }
      // [/shield]
      const auto after = co_await sleep_for(std::chrono::microseconds(1));
      log->push_back(after ? "slept" : "cancelled");
    }
    static Task<std::vector<std::string>> run() {
      std::vector<std::string> log;
      TaskScope scope;
      scope.spawn(work(&log));
      scope.cancel_all();
      co_await scope.join();
      co_return log;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Cleaner::run()),
            (std::vector<std::string>{"cancelled", "cleaned up", "cancelled"}));
}

TEST(CancellationShield, KeepsTheWaitThatIsUnderWay) {
  struct Shielded {
    static Task<> work(Event* began, Event* finish, std::vector<std::string>* log) {
      const CancellationShield shield;
      CancellationSource source;
      began->set();
      std::thread other([&] {
        finish->wait();
        source.cancel();
      });
      const auto result = co_await source.token().cancelled();
      other.join();
      log->push_back(result ? "to the end" : "cancelled");
    }
    static Task<std::vector<std::string>> run() {
      std::vector<std::string> log;
      Event began;
      Event finish;
      TaskScope scope;
      scope.spawn(work(&began, &finish, &log));
      scope.cancel_all();
      co_await yield();
      finish.set();
      co_await scope.join();
      co_return log;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Shielded::run()), std::vector<std::string>{"to the end"});
}

}  // namespace
}  // namespace weir
