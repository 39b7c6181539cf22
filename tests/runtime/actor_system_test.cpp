// A system as a whole: its options, and how it stops.

#include <weir/runtime/actor_system.hpp>

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/signals.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>

#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using testing::Counted;
using testing::Counter;
using testing::Event;
using testing::quiet;
using testing::Reports;

struct Go {};

/// Holds its thread until as many others do.
class Meeting final : public Actor<Go> {
 public:
  Meeting(Counter* there, int wanted, Collector<std::string>* threads)
      : there_(there), wanted_(wanted), threads_(threads) {}
  void on(Go) {
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof name);
    threads_->add(name);
    there_->add();
    there_->wait_for(wanted_);
  }

 private:
  Counter* there_;
  int wanted_;
  Collector<std::string>* threads_;
};

std::vector<std::string> meet_on_threads(ActorSystem& system, int count) {
  Counter there;
  Collector<std::string> threads;
  for (int i = 0; i < count; ++i) system.spawn<Meeting>(&there, count, &threads).send<Go>();
  auto names = threads.wait_for(static_cast<std::size_t>(count));
  there.wait_for(count);
  std::sort(names.begin(), names.end());
  EXPECT_TRUE(system.stop().is_clean());
  return names;
}

TEST(ActorSystem, RunsOnAsManyThreadsAsItIsTold) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    ActorSystem system(quiet(threads));
    EXPECT_EQ(system.threads(), threads);
    meet_on_threads(system, static_cast<int>(threads));
  }
  EXPECT_EQ(ActorSystem(quiet(0)).threads(), std::thread::hardware_concurrency());
}

TEST(ActorSystem, NamesItsThreads) {
  ActorSystemOptions options = quiet(2);
  options.name = "bank";
  ActorSystem bank(options);
  EXPECT_EQ(meet_on_threads(bank, 2), (std::vector<std::string>{"bank-0", "bank-1"}));
  options.name = "a name too long for a thread";
  ActorSystem wordy(options);
  EXPECT_EQ(meet_on_threads(wordy, 2),
            (std::vector<std::string>{"a name too lo-0", "a name too lo-1"}));
}

struct Draw {
  using Reply = std::vector<std::uint64_t>;
};

class Gambler final : public Actor<Draw> {
 public:
  std::vector<std::uint64_t> on(Draw) { return {random(), random(), random()}; }
};

std::vector<std::uint64_t> drawn_with(std::optional<std::uint64_t> seed) {
  ActorSystemOptions options = quiet(1);
  options.seed = seed;
  ActorSystem system(options);
  return *testing::ask_from_outside(system, system.spawn<Gambler>(), Draw{});
}

TEST(ActorSystem, DrawsTheSameNumbersFromTheSameSeed) {
  EXPECT_EQ(drawn_with(1), drawn_with(1));
  EXPECT_NE(drawn_with(1), drawn_with(2));
}

TEST(ActorSystem, DrawsOtherNumbersEachTimeWithoutASeed) {
  EXPECT_NE(drawn_with(std::nullopt), drawn_with(std::nullopt));
}

TEST(ActorSystem, WithADefaultCapacityOfZeroRefusesToSpawn) {
  ActorSystemOptions options = quiet(1);
  options.mailbox_capacity = 0;
  ActorSystem system(options);
  EXPECT_THROW(system.spawn<Gambler>(), std::invalid_argument);
  EXPECT_TRUE(system.actors().empty());
}

std::string refusal_of(ActorSystemOptions options) {
  try {
    const ActorSystem system(std::move(options));
    return "accepted";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(ActorSystem, OfOptionsThatMakeNoSenseIsRefusedWithTheReason) {
  using Change = void (*)(ActorSystemOptions&);
  const std::pair<Change, std::string> cases[] = {
      {[](auto& options) { options.message_quota = 0; }, "message_quota is 0"},
      {[](auto& options) { options.threads = static_cast<unsigned>(-1); },
       "threads is 4294967295; use at most 4096"},
      {[](auto& options) { options.ask_timeout = -1s; }, "ask_timeout is -1000000000 ns"},
      {[](auto& options) { options.ask_timeout = 0s; }, "ask_timeout is 0 ns"},
      {[](auto& options) { options.stop_timeout = -1ns; }, "stop_timeout is -1 ns"},
  };
  for (const auto& [change, reason] : cases) {
    ActorSystemOptions options = quiet(1);
    change(options);
    const std::string refusal = refusal_of(options);
    EXPECT_NE(refusal.find("ActorSystemOptions: " + reason), std::string::npos) << refusal;
  }
  ActorSystemOptions strict = quiet(1);
  strict.stop_timeout = 0s;
  EXPECT_EQ(refusal_of(strict), "accepted");
}

struct Hop {
  int left;
  Counted<Hop> counted = {};
};
struct Next {
  ActorRef<Hop> to;
};

/// Passes a message on, and stays busy until somebody else may have taken it.
class Relay final : public Actor<Hop, Next> {
 public:
  explicit Relay(std::atomic<int>* hops) : hops_(hops) {}
  void on(Next next) { next_ = std::move(next.to); }
  void on(const Hop& hop) {
    ++*hops_;
    if (hop.left > 0) next_.send<Hop>(hop.left - 1);
    for (int i = 0; i < 500; ++i) internal::relax_cpu();
  }

 private:
  ActorRef<Hop> next_;
  std::atomic<int>* hops_;
};

// The work is never in one place for long: a look at one thread after the other must not miss it.
TEST(SystemStop, DrainsWorkThatMovesFromThreadToThread) {
  for (int round = 0; round < testing::scaled(200); ++round) {
    std::atomic<int> hops{0};
    ActorSystem system(quiet(3));
    auto one = system.spawn<Relay>(&hops);
    auto two = system.spawn<Relay>(&hops);
    one.send<Next>(two);
    two.send<Next>(one);
    one.send<Hop>(300);
    EXPECT_TRUE(system.stop({.drain = 1h, .timeout = 1h}).is_clean());
    ASSERT_EQ(hops.load(), 301);
  }
}

class Held final : public Actor<Go, Hop> {
 public:
  Held(Event* entered, Event* leaves, std::atomic<int>* hops)
      : entered_(entered), leaves_(leaves), hops_(hops) {}
  void on(Go) {
    entered_->set();
    leaves_->wait();
  }
  void on(const Hop&) { ++*hops_; }

 private:
  Event* entered_;
  Event* leaves_;
  std::atomic<int>* hops_;
};

// I4.
TEST(SystemStop, WithoutDrainingRefusesWhatIsQueued) {
  Event entered;
  Event leaves;
  std::atomic<int> hops{0};
  ActorSystem system(quiet());
  auto held = system.spawn<Held>(&entered, &leaves, &hops);
  held.send<Go>();
  entered.wait();
  for (int i = 0; i < 10; ++i) held.send<Hop>(0);
  std::thread stopper([&] { EXPECT_TRUE(system.stop({.drain = 0s, .timeout = 1h}).is_clean()); });
  testing::eventually("the actor to be told", [&] { return !held.is_alive(); });
  EXPECT_EQ(held.send<Hop>(0).reason(), Errc::stopped) << "refuses new messages meanwhile";
  leaves.set();
  stopper.join();
  EXPECT_EQ(hops.load(), 0);
  EXPECT_EQ(system.dead_letters().of(DeadLetterReason::actor_stopped), 11u);
  EXPECT_EQ(Counted<Hop>::live(), 0);
}

/// Never finishes by itself.
class Stubborn final : public Actor<Go> {
 public:
  explicit Stubborn(Event* waits) : waits_(waits) {}
  Task<> on(Go) {
    waits_->set();
    static_cast<void>(co_await sleep_for(forever));
  }

 private:
  Event* waits_;
  Counted<Stubborn> counted_;
};

TEST(SystemStop, ReportsWhoDidNotStopAndKillsThem) {
  Event waits;
  ActorSystem system(quiet());
  auto stubborn = system.spawn<Stubborn>(SpawnOptions{.name = "mule"}, &waits);
  system.spawn<Gambler>();
  stubborn.send<Go>();
  waits.wait();
  ::testing::internal::CaptureStderr();
  const StopReport report = system.stop({.drain = 0s, .timeout = 1ms});
  const std::string printed = ::testing::internal::GetCapturedStderr();
  ASSERT_FALSE(report.is_clean());
  const auto mule = std::ranges::find(report.did_not_stop, "mule", &ActorInfo::name);
  ASSERT_NE(mule, report.did_not_stop.end());
  EXPECT_EQ(mule->id, stubborn.id());
  EXPECT_NE(printed.find("did not stop in time"), std::string::npos) << printed;
  EXPECT_NE(printed.find("mule"), std::string::npos) << printed;
  EXPECT_EQ(Counted<Stubborn>::live(), 0);
}

struct Work {
  Duration time;
};

class Slow final : public Actor<Work> {
 public:
  explicit Slow(bool* has_finished) : has_finished_(has_finished) {}
  Task<> on(Work work) { *has_finished_ = static_cast<bool>(co_await sleep_for(work.time)); }

 private:
  bool* has_finished_;
};

/// Whether work of that length is waited for in a system that waits for three seconds.
bool is_awaited(Duration time, void (*stop)(ActorSystem&)) {
  bool has_finished = false;
  SimulationOptions options;
  options.system.stop_timeout = 3s;
  Simulation simulation(options);
  simulation.system().spawn<Slow>(&has_finished).send<Work>(time);
  simulation.run_for(0s);
  ::testing::internal::CaptureStderr();
  stop(simulation.system());
  ::testing::internal::GetCapturedStderr();
  return has_finished;
}

TEST(SystemStop, WaitsAsLongAsTheSystemSays) {
  for (const auto stop : {+[](ActorSystem& system) { static_cast<void>(system.stop()); },
                          +[](ActorSystem& system) { system.stop({.drain = 0s}); }}) {
    EXPECT_TRUE(is_awaited(2999ms, stop));
    EXPECT_FALSE(is_awaited(3001ms, stop));
  }
}

TEST(SystemStop, WaitsAsLongAsTheCallSays) {
  const auto stop = [](ActorSystem& system) { static_cast<void>(system.stop({.timeout = 5s})); };
  EXPECT_TRUE(is_awaited(4999ms, stop));
  EXPECT_FALSE(is_awaited(5001ms, stop));
}

TEST(SystemStop, OnASignalWaitsAsLongAsTheSystemSays) {
  const auto stop = [](ActorSystem& system) {
    StopOnSignal stop_on_signal(system);
    std::raise(SIGTERM);
    stop_on_signal.wait();
  };
  EXPECT_TRUE(is_awaited(2999ms, stop));
  EXPECT_FALSE(is_awaited(3001ms, stop));
}

TEST(SystemStop, CalledAgainReportsWhatTheFirstOneFound) {
  Event waits;
  ActorSystem system(quiet());
  system.spawn<Stubborn>(SpawnOptions{.name = "mule"}, &waits).send<Go>();
  waits.wait();
  ::testing::internal::CaptureStderr();
  Collector<bool> clean;
  std::vector<std::thread> stoppers;
  for (int i = 0; i < 3; ++i) {
    stoppers.emplace_back(
        [&] { clean.add(system.stop({.drain = 0s, .timeout = 1ms}).is_clean()); });
  }
  for (std::thread& stopper : stoppers) stopper.join();
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(clean.values(), std::vector<bool>(3, false));
  EXPECT_EQ(printed.find("mule"), printed.rfind("mule")) << "and prints it once: " << printed;
}

TEST(SystemStop, WaitsForAHandlerThatHoldsItsThread) {
  Event waits;
  Event entered;
  Event leaves;
  std::atomic<int> hops{0};
  ActorSystem system(quiet());
  system.spawn<Stubborn>(&waits).send<Go>();
  system.spawn<Held>(&entered, &leaves, &hops).send<Go>();
  waits.wait();
  entered.wait();
  ::testing::internal::CaptureStderr();
  Event returned;
  std::thread stopper([&] {
    EXPECT_EQ(system.stop({.drain = 0s, .timeout = 0s}).did_not_stop.size(), 2u);
    returned.set();
  });
  testing::eventually("the other to be killed", [] { return Counted<Stubborn>::live() == 0; });
  EXPECT_FALSE(returned.is_set());
  leaves.set();
  stopper.join();
  ::testing::internal::GetCapturedStderr();
}

struct CallSystem {
  using Reply = std::string;
  bool stops;
};

Task<> nothing() { co_return; }

class Meddler final : public Actor<CallSystem> {
 public:
  std::string on(CallSystem call) {
    try {
      if (call.stops) {
        system().stop();
      } else {
        system().run(nothing());
      }
      return "it worked";
    } catch (const std::logic_error& error) {
      return error.what();
    }
  }
};

// It would wait for itself.
TEST(SystemStop, InsideAnActorIsRefusedAndSoIsRun) {
  ActorSystem system(quiet());
  auto meddler = system.spawn<Meddler>();
  for (const bool stops : {true, false}) {
    const std::string answer = *testing::ask_from_outside(system, meddler, CallSystem{stops});
    EXPECT_NE(answer.find("inside"), std::string::npos) << answer;
  }
  EXPECT_TRUE(meddler.is_alive());
}

TEST(SystemStop, LeavesAReferenceThatAnswersStoppedForWhatIsSpawnedLater) {
  Reports reports;
  ActorSystem system(reports.options());
  EXPECT_FALSE(system.is_stopping());
  EXPECT_TRUE(system.stop().is_clean());
  EXPECT_TRUE(system.is_stopping());
  auto late = system.spawn<Gambler>();
  EXPECT_FALSE(late);
  EXPECT_FALSE(late.is_alive());
  EXPECT_EQ(late.send<Draw>().reason(), Errc::stopped);
  try {
    system.run(nothing());
    FAIL() << "nobody can run it";
  } catch (const ErrorException& error) {
    EXPECT_EQ(error.error(), Errc::stopped);
  }
}

class LateChild final : public Actor<Go> {
 public:
  explicit LateChild(Counter* handled) : handled_(handled) {}
  void on(Go) { handled_->add(); }

 private:
  Counter* handled_;
};

/// Spawns when it is too late.
class Testator final : public Actor<> {
 public:
  Testator(Collector<bool>* accepted, Counter* handled) : accepted_(accepted), handled_(handled) {}
  void on_stop() {
    auto child = spawn<LateChild>(handled_);
    accepted_->add(child.is_alive() || static_cast<bool>(child.send<Go>()));
  }

 private:
  Collector<bool>* accepted_;
  Counter* handled_;
};

TEST(SystemStop, EndsAtOnceWhatIsSpawnedMeanwhile) {
  Collector<bool> accepted;
  Counter handled;
  ActorSystem system(quiet());
  system.spawn<Testator>(&accepted, &handled);
  EXPECT_TRUE(system.stop().is_clean());
  EXPECT_EQ(accepted.values(), std::vector<bool>{false});
  EXPECT_EQ(handled.value(), 0);
}

std::ptrdiff_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

struct Busy final : Actor<Hop> {
  Task<> on(Hop hop) {
    static_cast<void>(co_await on_blocking_pool([] { return 1; }));
    self().send<Hop>(hop.left + 1);
    schedule_once<Hop>(1h, 0);
  }
  Counted<Busy> counted;
};

// The destructor ends a system in full work: no thread, no actor, no message is left.
TEST(SystemStop, LeavesNothingBehind) {
  ActorSystem(quiet()).run(nothing());
  const std::ptrdiff_t threads = threads_of_process();
  for (int round = 0; round < testing::scaled(50); ++round) {
    ActorSystem system(quiet());
    for (int i = 0; i < 20; ++i) system.spawn<Busy>().send<Hop>(0);
  }
  EXPECT_EQ(Counted<Busy>::live(), 0);
  EXPECT_EQ(Counted<Hop>::live(), 0);
  EXPECT_LE(threads_of_process(), threads);
}

}  // namespace
}  // namespace weir
