#include <weir/runtime/actor_pool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include <weir/runtime/simulation.hpp>
#include <weir/tests/runtime/support/gate_actor.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

// What the workers of a test have done. Simulated actors share a thread.
struct Ledger {
  int handled = 0;
  int stopped = 0;
  int started = 0;
  std::map<std::uint64_t, int> by_worker;
  ActorRef<test::Pass> gate;  // never opened: who asks it waits
};

struct Job {
  int number = 0;
};
struct Fail {};
struct Quit {};
struct Slow {};
struct WhoIsIt {
  using Reply = std::uint64_t;
};

class Worker final : public Actor<Job, Fail, Quit, Slow, WhoIsIt> {
 public:
  explicit Worker(Ledger* ledger) : ledger_(ledger) { ++ledger_->started; }
  void on(Job) {
    ++ledger_->handled;
    ++ledger_->by_worker[id().value];
  }
  void on(Fail) { throw std::runtime_error("asked to fail"); }
  void on(Quit) { stop(); }
  Task<> on(Slow) {
    static_cast<void>(co_await ledger_->gate.ask<test::Pass>().within(1ms));
    ++ledger_->handled;
  }
  std::uint64_t on(WhoIsIt) const { return id().value; }
  void on_stop() { ++ledger_->stopped; }

 private:
  Ledger* ledger_;
};

ActorSystemOptions quiet() {
  return {.on_dead_letter = [](const DeadLetter&) {}, .on_failure = [](const ActorFailure&) {}};
}

class ActorPoolTest : public testing::Test {
 protected:
  std::size_t workers_alive() {
    std::size_t count = 0;
    for (const ActorInfo& info : simulation.system().actors()) {
      count += info.type.ends_with("Worker") ? 1 : 0;
    }
    return count;
  }

  Ledger ledger;
  Simulation simulation{{.system = quiet()}};
  ActorSystem& system = simulation.system();
};

TEST_F(ActorPoolTest, HasAsManyWorkersAsItIsToldTo) {
  const auto pool = spawn_pool<Worker>(system, {.size = 3}, &ledger);
  EXPECT_EQ(pool.size(), 3u);
  EXPECT_EQ(workers_alive(), 3u);
}

TEST_F(ActorPoolTest, ItsWorkersAreItsChildrenAndNamedAfterIt) {
  const auto pool = spawn_pool<Worker>(system, {.name = "resizers", .size = 2}, &ledger);
  std::vector<std::string> names;
  for (const ActorInfo& info : system.actors()) {
    if (info.parent == pool.id()) names.push_back(info.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"resizers.1", "resizers.2"}));
}

TEST_F(ActorPoolTest, SpreadsMessagesOverItsWorkers) {
  const auto pool = spawn_pool<Worker>(system, {.size = 4}, &ledger);
  for (int i = 0; i < 12; ++i) EXPECT_TRUE(pool.send<Job>(i));
  simulation.run_until_idle();
  EXPECT_EQ(ledger.handled, 12);
  EXPECT_EQ(ledger.by_worker.size(), 4u);
  for (const auto& [worker, count] : ledger.by_worker) EXPECT_EQ(count, 3) << worker;
}

Task<std::uint64_t> ask_who(ActorPool<Worker> pool) {
  EXPECT_TRUE(co_await pool.deliver<Job>(1));
  co_return (co_await pool.ask<WhoIsIt>().within(1s)).value();
}

TEST_F(ActorPoolTest, DeliversAndAsksAsAReferenceDoes) {
  const auto pool = spawn_pool<Worker>(system, {.size = 2}, &ledger);
  EXPECT_NE(simulation.run(ask_who(pool)), 0u);
  EXPECT_EQ(ledger.handled, 1);
}

TEST_F(ActorPoolTest, GrowsWhenItIsResized) {
  const auto pool = spawn_pool<Worker>(system, {.size = 1}, &ledger);
  ASSERT_TRUE(pool.resize(5));
  simulation.run_until_idle();
  EXPECT_EQ(pool.size(), 5u);
  EXPECT_EQ(workers_alive(), 5u);
}

TEST_F(ActorPoolTest, WorkersItGivesUpHandleWhatTheyWereSent) {
  const auto pool = spawn_pool<Worker>(system, {.size = 4}, &ledger);
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(pool.send<Job>(i));
  ASSERT_TRUE(pool.resize(1));
  simulation.run_until_idle();
  EXPECT_EQ(ledger.handled, 40);
  EXPECT_EQ(workers_alive(), 1u);
  EXPECT_EQ(ledger.stopped, 3);
  EXPECT_EQ(system.dead_letters().total(), 0u);
}

struct Begin {};

// Sends, waits for room and asks, while the pool changes its size.
class Customer final : public Actor<Begin> {
 public:
  Customer(ActorPool<Worker> pool, int* sent) : pool_(std::move(pool)), sent_(sent) {}
  Task<> on(Begin) {
    for (int round = 0; round < 8; ++round) {
      for (int i = 0; i < 6; ++i) *sent_ += pool_.send<Job>(i) ? 1 : 0;
      for (int i = 0; i < 3; ++i) {
        if (!co_await pool_.deliver<Job>(round)) throw std::runtime_error("not delivered");
        ++*sent_;
      }
      const auto who = co_await pool_.ask<WhoIsIt>();
      if (!who && who.error() != Errc::full) throw std::runtime_error(who.error().message());
      if (!pool_.resize(1 + random() % 4)) throw std::runtime_error("not resized");
    }
  }

 private:
  ActorPool<Worker> pool_;
  int* sent_;
};

void resize_under_load(std::uint64_t seed) {
  Ledger ledger;
  int sent = 0;
  std::string failure;
  ActorSystemOptions options = quiet();
  options.on_failure = [&](const ActorFailure& f) { failure = f.message; };
  Simulation simulation({.seed = seed, .system = std::move(options)});
  PoolOptions<Worker> pool_options{.size = 3, .worker = {.mailbox_capacity = 2}};
  if (seed % 2 == 0) pool_options.routing = least_loaded;
  const auto pool = spawn_pool<Worker>(simulation.system(), pool_options, &ledger);
  for (int i = 0; i < 3; ++i) simulation.system().spawn<Customer>(pool, &sent).send<Begin>();
  simulation.run_until_idle();
  EXPECT_EQ(failure, "") << "seed " << seed;
  EXPECT_EQ(ledger.handled, sent) << "seed " << seed;
  EXPECT_EQ(simulation.system().dead_letters().of(DeadLetterReason::actor_stopped), 0u)
      << "seed " << seed;
}

TEST(ActorPool, LosesNothingWhenItIsResizedUnderLoadInAnyOrder) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) resize_under_load(seed);
}

class Tally final : public Actor<Job> {
 public:
  explicit Tally(std::atomic<int>* handled) : handled_(handled) {}
  void on(Job) { handled_->fetch_add(1); }

 private:
  std::atomic<int>* handled_;
};

Task<> order_and_resize(ActorPool<Tally> pool, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(co_await pool.deliver<Job>(i));
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(pool.send<Job>(i));
    EXPECT_TRUE(pool.resize(1 + static_cast<std::size_t>(round) % 4));
  }
}

TEST(ActorPool, LosesNothingWhenItIsResizedByThreads) {
  std::atomic<int> handled = 0;
  ActorSystem threads({.threads = 2});
  const auto pool =
      spawn_pool<Tally>(threads, {.size = 3, .worker = {.mailbox_capacity = unbounded}}, &handled);
  std::thread other([&] { threads.run(order_and_resize(pool, 200)); });
  threads.run(order_and_resize(pool, 200));
  other.join();
  pool.stop(Stop::when_drained);
  threads.stop({.drain = 10s});
  EXPECT_EQ(handled, 4000);
  EXPECT_EQ(threads.dead_letters().total(), 0u);
}

Task<> send_and_linger(ActorPool<Tally> pool, std::promise<void>* sent, std::future<void> end) {
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(pool.send<Job>(i));
  sent->set_value();
  end.wait();  // holds its thread, so that nothing is published on the way out
  co_return;
}

TEST(ActorPool, DrainsWhatAHandlerThatStillRunsHasSent) {
  std::atomic<int> handled = 0;
  std::promise<void> sent;
  std::promise<void> end;
  ActorSystem threads({.threads = 2});
  const auto pool = spawn_pool<Tally>(threads, {.size = 1}, &handled);
  std::thread sender([&] { threads.run(send_and_linger(pool, &sent, end.get_future())); });
  sent.get_future().wait();
  pool.stop(Stop::when_drained);
  while (pool.is_alive()) std::this_thread::yield();
  end.set_value();
  sender.join();
  EXPECT_EQ(handled, 10);
}

TEST_F(ActorPoolTest, AWorkerThatFailsRestartsInItsPlace) {
  const auto pool = spawn_pool<Worker>(system, {.size = 1}, &ledger);
  const auto before = pool.router().members();
  pool.send<Fail>();
  pool.send<Job>(1);
  simulation.run_until_idle();
  EXPECT_EQ(ledger.started, 2);
  EXPECT_EQ(ledger.handled, 1);
  EXPECT_EQ(pool.router().members(), before);
}

TEST_F(ActorPoolTest, AWorkerThatEndsIsReplacedAfterAWhile) {
  const auto pool = spawn_pool<Worker>(system, {.size = 2, .replace_after = 50ms}, &ledger);
  pool.send<Quit>();
  pool.send<Quit>();
  simulation.run_for(49ms);
  EXPECT_EQ(pool.size(), 0u);
  simulation.run_for(1ms);
  EXPECT_EQ(pool.size(), 2u);
  EXPECT_EQ(ledger.started, 4);
}

TEST_F(ActorPoolTest, AWorkerWhoseSupervisionGaveUpIsReplaced) {
  const auto pool = spawn_pool<Worker>(system, {.size = 1, .worker = {}}, &ledger);
  pool.send<Fail>();
  simulation.run_until_idle();
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(ledger.started, 2);
}

/// Cannot be made while its ledger says so.
class Moody final : public Actor<Job, Quit> {
 public:
  Moody(Ledger* ledger, const bool* refuses) {
    ++ledger->started;
    if (*refuses) throw std::runtime_error("not today");
  }
  void on(Job) {}
  void on(Quit) { stop(); }
};

class MoodyPoolTest : public testing::Test {
 protected:
  Ledger ledger;
  bool refuses = false;
  std::vector<std::string> failures;
  Simulation simulation{{.system = {.on_dead_letter = [](const DeadLetter&) {},
                                    .on_failure =
                                        [this](const ActorFailure& failure) {
                                          failures.emplace_back(failure.message);
                                        }}}};
  ActorSystem& system = simulation.system();
};

TEST_F(MoodyPoolTest, TriesAgainWhenAWorkerCannotBeReplacedAndKeepsTheOthers) {
  const auto pool =
      spawn_pool<Moody>(system, {.size = 2, .replace_after = 50ms}, &ledger, &refuses);
  refuses = true;
  pool.send<Quit>();
  simulation.run_for(175ms);
  EXPECT_TRUE(pool.is_alive());
  EXPECT_EQ(pool.size(), 1u);
  ASSERT_EQ(failures.size(), 3u);
  EXPECT_NE(failures[0].find("Moody could not be started: not today"), std::string::npos)
      << failures[0];
  refuses = false;
  simulation.run_for(50ms);
  EXPECT_EQ(pool.size(), 2u);
  EXPECT_EQ(ledger.started, 2 + 3 + 1);
}

TEST_F(MoodyPoolTest, TriesAgainWhenItCannotGrow) {
  const auto pool =
      spawn_pool<Moody>(system, {.size = 2, .replace_after = 50ms}, &ledger, &refuses);
  refuses = true;
  ASSERT_TRUE(pool.resize(4));
  simulation.run_for(1ms);
  EXPECT_EQ(pool.size(), 2u);
  refuses = false;
  simulation.run_for(50ms);
  EXPECT_EQ(pool.size(), 4u);
}

TEST_F(MoodyPoolTest, DrainsAfterAWorkerCouldNotBeMade) {
  const auto pool =
      spawn_pool<Moody>(system, {.size = 2, .replace_after = 50ms}, &ledger, &refuses);
  refuses = true;
  pool.send<Quit>();
  simulation.run_for(60ms);
  pool.stop(Stop::when_drained);
  simulation.run_until_idle();
  EXPECT_FALSE(pool.is_alive());
}

TEST_F(MoodyPoolTest, FailsAtOnceIfItsFirstWorkersCannotBeMade) {
  refuses = true;
  EXPECT_THROW(spawn_pool<Moody>(system, {.size = 2}, &ledger, &refuses), std::runtime_error);
}

TEST_F(ActorPoolTest, StoppingItStopsTheWorkers) {
  const auto pool = spawn_pool<Worker>(system, {.size = 3}, &ledger);
  pool.stop();
  simulation.run_until_idle();
  EXPECT_EQ(ledger.stopped, 3);
  EXPECT_FALSE(pool.is_alive());
  EXPECT_EQ(workers_alive(), 0u);
  SendResult<Job> refused = pool.send<Job>(7);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.reason(), Errc::stopped);
  EXPECT_EQ(pool.resize(2).error(), Errc::stopped);
}

TEST_F(ActorPoolTest, StoppedWhenDrainedItHandlesEverythingFirst) {
  const auto pool = spawn_pool<Worker>(system, {.size = 3}, &ledger);
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(pool.send<Job>(i));
  ledger.gate = system.spawn<test::GateActor>();
  pool.send<Slow>();
  pool.stop(Stop::when_drained);
  simulation.run_until_idle();
  EXPECT_EQ(ledger.handled, 31);
  EXPECT_FALSE(pool.is_alive());
  EXPECT_EQ(system.dead_letters().total(), 0u);
}

TEST_F(ActorPoolTest, RefusesSizesThatMakeNoSense) {
  const auto with = [&](std::size_t size, std::optional<PoolLimits> limits) {
    return [this, size, limits] {
      spawn_pool<Worker>(system, {.size = size, .limits = limits}, &ledger);
    };
  };
  EXPECT_THROW(with(0, {})(), std::invalid_argument);
  EXPECT_THROW(with(1, PoolLimits{.min = 0})(), std::invalid_argument);
  EXPECT_THROW(with(5, PoolLimits{.max = 4})(), std::invalid_argument);
  EXPECT_THROW(with(2, PoolLimits{.depth = 0})(), std::invalid_argument);
  EXPECT_THROW(with(2, PoolLimits{.every = 0s})(), std::invalid_argument);
  EXPECT_EQ(spawn_pool<Worker>(system, {}, &ledger).resize(0).error(), Errc::invalid_argument);
}

class Fragile final : public Actor<Job> {
 public:
  explicit Fragile(Ledger* ledger) {
    if (++ledger->started == 3) throw std::runtime_error("the third one");
  }
  void on(Job) {}
};

TEST_F(ActorPoolTest, IfAWorkerCannotBeMadeNothingIsLeftBehind) {
  EXPECT_THROW(spawn_pool<Fragile>(system, {.size = 4}, &ledger), std::runtime_error);
  simulation.run_until_idle();
  EXPECT_TRUE(system.actors().empty());
}

class Owner final : public Actor<Begin> {
 public:
  explicit Owner(Ledger* ledger) : ledger_(ledger) {}
  void on(Begin) { spawn_pool<Worker>({.size = 2}, ledger_); }

 private:
  Ledger* ledger_;
};

TEST_F(ActorPoolTest, InsideAnActorItIsAChildAndStopsWithIt) {
  const auto owner = system.spawn<Owner>(&ledger);
  owner.send<Begin>();
  simulation.run_until_idle();
  EXPECT_EQ(workers_alive(), 2u);
  owner.stop();
  simulation.run_until_idle();
  EXPECT_EQ(ledger.stopped, 2);
  EXPECT_TRUE(system.actors().empty());
}

TEST(PoolLimits, AskForAsManyWorkersAsTheWaitingMessagesNeed) {
  const PoolLimits limits{.min = 2, .max = 10, .depth = 10};
  EXPECT_EQ(next_pool_size(limits, 4, 40), 4u) << "as deep as allowed";
  EXPECT_EQ(next_pool_size(limits, 4, 41), 5u) << "one more is enough";
  EXPECT_EQ(next_pool_size(limits, 4, 1000), 8u) << "at most twofold";
  EXPECT_EQ(next_pool_size(limits, 8, 1000), 10u) << "never more than max";
  EXPECT_EQ(next_pool_size(limits, 4, 15), 4u) << "the rest would be half as deep";
  EXPECT_EQ(next_pool_size(limits, 4, 14), 3u);
  EXPECT_EQ(next_pool_size(limits, 2, 0), 2u) << "never less than min";
}

// Takes a millisecond for each job.
class Steady final : public Actor<Job> {
 public:
  explicit Steady(Ledger* ledger) : ledger_(ledger) {}
  Task<> on(Job) {
    static_cast<void>(co_await ledger_->gate.ask<test::Pass>().within(1ms));
    ++ledger_->handled;
  }

 private:
  Ledger* ledger_;
};

TEST_F(ActorPoolTest, WithLimitsItGrowsUnderLoadAndShrinksWhenIdle) {
  ledger.gate = system.spawn<test::GateActor>();
  const auto pool = spawn_pool<Steady>(
      system, {.size = 1, .limits = PoolLimits{.min = 1, .max = 8, .depth = 4, .every = 10ms}},
      &ledger);
  for (int i = 0; i < 400; ++i) EXPECT_TRUE(pool.send<Job>(i));
  simulation.run_for(35ms);
  EXPECT_EQ(pool.size(), 8u);
  simulation.run_for(1s);
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(ledger.handled, 400);
  pool.stop();
  EXPECT_EQ(simulation.run_until_idle(), RunEnd::idle) << "no timer is left";
}

}  // namespace
}  // namespace weir
