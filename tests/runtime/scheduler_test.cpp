// The threads that run actors: they share the work, sleep without it, and wake for every message.

#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/internal/core.hpp>

#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::Collector;
using testing::Counter;
using testing::quiet;

struct Go {};

/// Tells its thread, and holds it until all others do.
class Occupier final : public Actor<Go> {
 public:
  Occupier(Counter* there, int wanted, Collector<pid_t>* threads)
      : there_(there), wanted_(wanted), threads_(threads) {}
  void on(Go) {
    threads_->add(gettid());
    there_->add();
    there_->wait_for(wanted_);
  }

 private:
  Counter* there_;
  int wanted_;
  Collector<pid_t>* threads_;
};

/// Gives work to many and then holds its own thread.
class Foreman final : public Actor<Go> {
 public:
  Foreman(std::vector<RefOf<Occupier>> workers, Counter* there, int wanted)
      : workers_(std::move(workers)), there_(there), wanted_(wanted) {}
  void on(Go) {
    for (auto& worker : workers_) worker.send<Go>();
    there_->wait_for(wanted_);
  }

 private:
  std::vector<RefOf<Occupier>> workers_;
  Counter* there_;
  int wanted_;
};

// One thread has all the work in its queue and does not come to it.
TEST(Scheduler, WorkMovesToEveryIdleThread) {
  const unsigned threads = 4;
  for (int round = 0; round < testing::scaled(50); ++round) {
    Counter there;
    Collector<pid_t> seen;
    ActorSystem system(quiet(threads));
    std::vector<RefOf<Occupier>> workers;
    for (unsigned i = 1; i < threads; ++i) {
      workers.push_back(system.spawn<Occupier>(&there, threads - 1, &seen));
    }
    system.spawn<Foreman>(workers, &there, static_cast<int>(threads) - 1).send<Go>();
    there.wait_for(threads - 1);
  }
}

std::vector<pid_t> thread_ids(ActorSystem& system) {
  const int count = static_cast<int>(system.threads());
  Counter there;
  Collector<pid_t> seen;
  std::vector<RefOf<Occupier>> workers;
  for (int i = 0; i < count; ++i) {
    workers.push_back(system.spawn<Occupier>(&there, count, &seen));
    workers.back().send<Go>();
  }
  auto ids = seen.wait_for(static_cast<std::size_t>(count));
  for (auto& worker : workers) {
    worker.stop();
    testing::await_end(system, worker);
  }
  return ids;
}

/// How often these threads have gone to sleep or were put to rest by the kernel.
std::int64_t switches_of(const std::vector<pid_t>& threads) {
  std::int64_t sum = 0;
  for (const pid_t thread : threads) {
    std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.find("ctxt_switches:") == std::string::npos) continue;
      sum += std::stoll(line.substr(line.find(':') + 1));
    }
  }
  return sum;
}

// Long enough for a thread that polls to be seen.
void compute_for_a_while() {
  for (int i = 0; i < 2'000'000; ++i) internal::relax_cpu();
}

/// A thread that polled, however rarely within such a while, would never let this end.
void expect_idle(ActorSystem& system) {
  const std::vector<pid_t> threads = thread_ids(system);
  testing::eventually("all threads to sleep and stay asleep", [&] {
    const std::int64_t before = switches_of(threads);
    compute_for_a_while();
    return switches_of(threads) == before &&
           system.core().sleepers.load() == static_cast<int>(threads.size());
  });
}

TEST(Scheduler, AnIdleSystemSleeps) {
  for (const unsigned threads : {1u, 2u, 4u}) {
    ActorSystem system(quiet(threads));
    expect_idle(system);
  }
}

struct Late {};

class Sleeper final : public Actor<Late> {
 public:
  void on_start() { schedule_every<Late>(1h); }
  void on(Late) {}
};

TEST(Scheduler, ASystemThatWaitsForALateTimerSleeps) {
  ActorSystem system(quiet(2));
  system.spawn<Sleeper>();
  expect_idle(system);
}

class Echo final : public Actor<Go> {
 public:
  explicit Echo(Counter* heard) : heard_(heard) {}
  void on(Go) { heard_->add(); }

 private:
  Counter* heard_;
};

// Each message comes while the threads are about to sleep or asleep: a lost one would never be
// heard.
TEST(Scheduler, WakesForEveryMessageHoweverItIsTimed) {
  const std::uint64_t seed = testing::test_seed();
  WEIR_TRACE_SEED(seed);
  std::mt19937_64 random(seed);
  Counter heard;
  ActorSystem system(quiet(2));
  std::vector<RefOf<Echo>> echoes;
  for (int i = 0; i < 3; ++i) echoes.push_back(system.spawn<Echo>(&heard));
  for (int round = 1; round <= testing::scaled(20'000); ++round) {
    for (std::uint64_t i = random() % 400; i > 0; --i) internal::relax_cpu();
    ASSERT_TRUE(echoes[random() % echoes.size()].send<Go>());
    heard.wait_for(round);
  }
}

}  // namespace
}  // namespace weir
