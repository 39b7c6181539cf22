#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/tests/runtime/support/scaled.hpp>

// What tests of the real runtime share: ways to wait for something without sleeping, and ways to
// see what the actors did.
namespace weir::testing {

/// No test waits for that long unless something is broken.
inline constexpr std::chrono::seconds patience{60};

[[noreturn]] inline void give_up(const char* what) {
  std::fprintf(stderr, "the test waited in vain for %s\n", what);
  std::abort();
}

/// Something that happens once; threads wait for it.
class Event {
 public:
  void set() {
    std::scoped_lock hold(mutex_);
    is_set_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock hold(mutex_);
    if (!changed_.wait_for(hold, patience, [this] { return is_set_; })) give_up("an event");
  }
  bool is_set() const {
    std::scoped_lock hold(mutex_);
    return is_set_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_set_ = false;
};

/// A number that grows; threads wait until it is large enough.
class Counter {
 public:
  void add(std::int64_t amount = 1) {
    std::scoped_lock hold(mutex_);
    value_ += amount;
    changed_.notify_all();
  }
  void wait_for(std::int64_t wanted) {
    std::unique_lock hold(mutex_);
    if (!changed_.wait_for(hold, patience, [&] { return value_ >= wanted; })) give_up("a count");
  }
  std::int64_t value() const {
    std::scoped_lock hold(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t value_ = 0;
};

/// Values that actors put in and the test takes out.
template <class T>
class Collector {
 public:
  void add(T value) {
    std::scoped_lock hold(mutex_);
    values_.push_back(std::move(value));
    changed_.notify_all();
  }
  std::vector<T> wait_for(std::size_t count) {
    std::unique_lock hold(mutex_);
    if (!changed_.wait_for(hold, patience, [&] { return values_.size() >= count; })) {
      give_up("values");
    }
    return values_;
  }
  std::vector<T> values() const {
    std::scoped_lock hold(mutex_);
    return values_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<T> values_;
};

/// For what nobody announces: looks again and again.
template <class Predicate>
void eventually(const char* what, Predicate predicate) {
  using Clock = std::chrono::steady_clock;   // bounds a wait that would otherwise hang
  const auto end = Clock::now() + patience;  // tidy: allow time_in_tests: bounds a hang
  while (!predicate()) {
    if (Clock::now() > end) give_up(what);  // tidy: allow time_in_tests: bounds a hang
    std::this_thread::yield();
  }
}

/// Counts its living instances. `Tag` keeps the counts of different tests apart.
template <class Tag>
class Counted {
 public:
  Counted() noexcept { live_.fetch_add(1); }
  Counted(const Counted&) noexcept { live_.fetch_add(1); }
  Counted& operator=(const Counted&) noexcept = default;
  ~Counted() { live_.fetch_sub(1); }

  static std::int64_t live() noexcept { return live_.load(); }

 private:
  static inline std::atomic<std::int64_t> live_{0};
};

/// A dead letter or failure with texts that outlive the call.
struct Letter {
  DeadLetterReason reason;
  std::string message;
  std::string actor_type;
  std::string actor_name;
  ActorId actor;
};
struct Failure {
  ActorId actor;
  std::string actor_name;
  std::string message;
  std::uint32_t restarts;
};

/// What a system reports, kept for the test instead of printed.
struct Reports {
  Collector<Letter> letters;
  Collector<Failure> failures;

  ActorSystemOptions options(unsigned threads = 2) {
    ActorSystemOptions made;
    made.threads = threads;
    made.on_dead_letter = [this](const DeadLetter& letter) {
      letters.add({letter.reason, std::string(letter.message), std::string(letter.actor_type),
                   std::string(letter.actor_name), letter.actor});
    };
    made.on_failure = [this](const ActorFailure& failure) {
      failures.add({failure.actor, std::string(failure.actor_name), std::string(failure.message),
                    failure.restarts});
    };
    return made;
  }
};

/// Counts what a system reports and keeps quiet.
inline ActorSystemOptions quiet(unsigned threads = 2) {
  ActorSystemOptions made;
  made.threads = threads;
  made.on_dead_letter = [](const DeadLetter&) {};
  made.on_failure = [](const ActorFailure&) {};
  return made;
}

struct WatchFor {
  ActorRef<> target;
};

/// Collects how other actors ended.
class DeathWatch final : public Actor<WatchFor, Terminated> {
 public:
  explicit DeathWatch(Collector<Terminated>* ended) : ended_(ended) {}
  void on(WatchFor message) { monitor(message.target); }
  void on(Terminated message) { ended_->add(std::move(message)); }

 private:
  Collector<Terminated>* ended_;
};

/// Waits until the actor has ended.
template <Message... Ms>
Terminated await_end(ActorSystem& system, const ActorRef<Ms...>& actor) {
  Collector<Terminated> ended;
  auto watch = system.spawn<DeathWatch>(&ended);
  watch.template send<WatchFor>(actor);
  Terminated result = ended.wait_for(1).front();
  watch.stop();
  return result;
}

/// Runs the simulation until the actor has ended.
template <Message... Ms>
Terminated await_end(Simulation& simulation, const ActorRef<Ms...>& actor) {
  Collector<Terminated> ended;
  auto watch = simulation.system().spawn<DeathWatch>(&ended);
  watch.template send<WatchFor>(actor);
  simulation.run_until([&] { return !ended.values().empty(); });
  if (ended.values().empty()) give_up("an actor to end");
  watch.stop();
  return ended.values().front();
}

/// Asks from a thread that runs no actor.
template <class M, class Ref>
Result<ReplyOf<M>> ask_from_outside(ActorSystem& system, Ref ref, M request,
                                    Duration timeout = forever) {
  struct Asking {
    static Task<Result<ReplyOf<M>>> run(Ref target, M message, Duration limit) {
      co_return co_await target.template ask<M>(std::move(message)).within(limit);
    }
  };
  return system.run(Asking::run(std::move(ref), std::move(request), timeout));
}

/// The seed of a random test: `WEIR_SEED` replays one, otherwise it is new each time.
inline std::uint64_t test_seed() {
  std::uint64_t seed = std::random_device{}();
  if (const char* fixed = std::getenv("WEIR_SEED")) seed = std::strtoull(fixed, nullptr, 0);
  return seed;
}

}  // namespace weir::testing

/// Prints the seed with every failure in the scope.
#define WEIR_TRACE_SEED(seed) SCOPED_TRACE("replay with WEIR_SEED=" + std::to_string(seed))
