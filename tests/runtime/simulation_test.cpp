#include <weir/runtime/simulation.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace weir {
namespace {

using namespace std::chrono_literals;

struct Add {
  std::int64_t amount;
};
struct Total {
  using Reply = std::int64_t;
};
struct Note {
  int sender;
  int number;
};
struct Go {};
struct Tick {};

class Sum final : public Actor<Add, Total> {
 public:
  void on(Add message) { total_ += message.amount; }
  std::int64_t on(Total) const { return total_; }

 private:
  std::int64_t total_ = 0;
};

Task<std::int64_t> total_of(ActorRef<Total> sum) { co_return (co_await sum.ask<Total>()).value(); }

/// Keeps notes in the order in which they came.
class Notebook final : public Actor<Note> {
 public:
  explicit Notebook(std::vector<Note>* notes) : notes_(notes) {}
  void on(Note note) { notes_->push_back(note); }

 private:
  std::vector<Note>* notes_;
};

/// Sends its notes to itself first, so that others can come in between.
class Writer final : public Actor<Go, Note> {
 public:
  Writer(int number, int count, ActorRef<Note> notebook)
      : number_(number), count_(count), notebook_(std::move(notebook)) {}
  void on(Go) {
    for (int i = 0; i < count_; ++i) self().send<Note>(number_, i);
  }
  void on(Note note) { notebook_.send(note); }

 private:
  int number_;
  int count_;
  ActorRef<Note> notebook_;
};

std::vector<Note> write_notes(Simulation& simulation, int writers, int count) {
  std::vector<Note> notes;
  auto notebook = simulation.system().spawn<Notebook>(&notes);
  for (int i = 0; i < writers; ++i) {
    simulation.system().spawn<Writer>(i, count, notebook).send<Go>();
  }
  EXPECT_EQ(simulation.run_until_idle(), RunEnd::idle);
  return notes;
}

/// Does a bit of everything: asks, timers, children, chance, failures.
class Busy final : public Actor<Go, Tick, Total, ChildStopped> {
 public:
  explicit Busy(int generation) : generation_(generation) {}

  void on_start() { schedule_every<Tick>(3ms); }
  Task<> on(Go) {
    if (generation_ > 0) children_.push_back(spawn_child());
    for (const auto& child : std::vector(children_)) {
      child.send<Go>();
      const auto total = co_await child.ask<Total>().within(2ms);
      if (total) total_ += *total;
    }
  }
  void on(Tick) {
    ++total_;
    if (random() % 4 == 0) self().send<Go>();
    if (random() % 16 == 0) throw std::runtime_error("bad luck");
    if (generation_ == 0 && random() % 8 == 0) stop();
  }
  std::int64_t on(Total) const { return total_; }
  void on(ChildStopped message) {
    std::erase_if(children_, [&](const auto& child) { return child.id() == message.actor; });
  }

 private:
  ActorRef<Go, Total> spawn_child() {
    SpawnOptions options{.supervision = Supervision::restart()};
    options.supervision.backoff = 1ms;
    return spawn<Busy>(std::move(options), generation_ - 1);
  }

  int generation_;
  std::int64_t total_ = 0;
  std::vector<ActorRef<Go, Total>> children_;
};

void keep_busy(Simulation& simulation) {
  auto busy = simulation.system().spawn<Busy>(
      SpawnOptions{.name = "busy", .supervision = Supervision::restart()}, 2);
  busy.send<Go>();
  simulation.run_for(50ms);
}

TEST(Simulation, RunsActorsToTheEndOfTheirWork) {
  Simulation simulation;
  auto sum = simulation.system().spawn<Sum>();
  sum.send<Add>(40);
  sum.send<Add>(2);
  EXPECT_EQ(simulation.run_until_idle(), RunEnd::idle);
  EXPECT_EQ(simulation.run(total_of(sum)), 42);
}

TEST(Simulation, I6SameSeedGivesTheSameRunMessageForMessage) {
  const auto trace_of = [] {
    std::vector<std::string> trace;
    Simulation simulation({.seed = 7, .on_step = [&](const SimulatedStep& step) {
                             trace.push_back(std::to_string(step.time.time_since_epoch().count()) +
                                             " " + std::to_string(step.actor.value) + " " +
                                             std::string(step.message));
                           }});
    keep_busy(simulation);
    return trace;
  };
  const std::vector<std::string> first = trace_of();
  EXPECT_GT(first.size(), 100u);
  EXPECT_EQ(first, trace_of());
}

TEST(Simulation, I6SameSeedGivesTheSameHashForAHundredSeeds) {
  const auto hash_of = [](std::uint64_t seed) {
    Simulation simulation({.seed = seed});
    keep_busy(simulation);
    return simulation.trace_hash();
  };
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const std::uint64_t hash = hash_of(seed);
    EXPECT_EQ(hash, hash_of(seed)) << "seed " << seed;
    hashes.insert(hash);
  }
  EXPECT_EQ(hashes.size(), 100u);
}

// Other addresses, and types that got their place in the dispatch tables in another order.
TEST(Simulation, I6SameSeedGivesTheSameHashInAnotherProcess) {
  const bool is_child = std::getenv("WEIR_TEST_PRINTS_HASH") != nullptr;
  if (!is_child) {
    Simulation others;
    write_notes(others, 3, 3);
  }
  Simulation simulation({.seed = 5});
  keep_busy(simulation);
  const std::string hash = "hash=" + std::to_string(simulation.trace_hash());
  if (is_child) {
    std::printf("%s\n", hash.c_str());
    return;
  }
  const std::string command =
      "WEIR_TEST_PRINTS_HASH=1 /proc/" + std::to_string(getpid()) +
      "/exe --gtest_filter=Simulation.I6SameSeedGivesTheSameHashInAnotherProcess";
  std::FILE* child = popen(command.c_str(), "r");
  ASSERT_NE(child, nullptr);
  std::string output;
  for (char buffer[256]; std::fgets(buffer, sizeof buffer, child);) output += buffer;
  EXPECT_EQ(pclose(child), 0);
  EXPECT_NE(output.find(hash), std::string::npos) << output;
}

TEST(Simulation, OtherSeedsGiveAllOrders) {
  std::map<std::vector<int>, int> orders;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Simulation simulation({.seed = seed});
    std::vector<int> order;
    for (const Note& note : write_notes(simulation, 3, 1)) order.push_back(note.sender);
    ++orders[order];
  }
  ASSERT_EQ(orders.size(), 6u);
  for (const auto& [order, count] : orders) EXPECT_GT(count, 20);
}

TEST(Simulation, I1MessagesOfOneSenderArriveInOrderUnderEverySeed) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Simulation simulation({.seed = seed, .preemption = 0.5});
    std::vector<int> next(4, 0);
    for (const Note& note : write_notes(simulation, 4, 10)) {
      EXPECT_EQ(note.number, next[static_cast<std::size_t>(note.sender)]++) << "seed " << seed;
    }
    EXPECT_EQ(next, std::vector<int>(4, 10)) << "seed " << seed;
  }
}

TEST(Simulation, IdsAreTheSameInEveryRun) {
  const auto ids = [] {
    Simulation simulation;
    std::vector<ActorId> all;
    for (int i = 0; i < 3; ++i) all.push_back(simulation.system().spawn<Sum>().id());
    return all;
  };
  EXPECT_EQ(ids(), ids());
}

class Drawing final : public Actor<Note> {
 public:
  Drawing(bool draws, std::uint64_t* drawn) : draws_(draws), drawn_(drawn) {}
  void on(Note note) {
    if (draws_) *drawn_ = random();
    if (note.number > 0) self().send<Note>(note.sender, note.number - 1);
  }

 private:
  bool draws_;
  std::uint64_t* drawn_;
};

TEST(Simulation, I6WhatActorsDrawIsSeededAndDoesNotChangeTheOrder) {
  std::uint64_t drawn = 0;
  const auto hash_of = [&](bool draws) {
    Simulation simulation({.seed = 3});
    for (int i = 0; i < 3; ++i) simulation.system().spawn<Drawing>(draws, &drawn).send<Note>(i, 9);
    simulation.run_until_idle();
    return simulation.trace_hash();
  };
  const std::uint64_t hash = hash_of(true);
  const std::uint64_t first_drawn = std::exchange(drawn, 0);
  EXPECT_EQ(hash_of(true), hash);
  EXPECT_EQ(drawn, first_drawn);
  EXPECT_EQ(hash_of(false), hash);
}

TEST(Simulation, TheTestsOwnChoicesAreSeededAndDoNotChangeTheOrder) {
  const auto run = [](bool draws) {
    Simulation simulation({.seed = 9});
    const std::uint64_t choice = draws ? simulation.random() : 0;
    write_notes(simulation, 3, 3);
    return std::pair(choice, simulation.trace_hash());
  };
  EXPECT_EQ(run(true), run(true));
  EXPECT_EQ(run(true).second, run(false).second);
}

/// Two messages in one handler: can the first one's consequences overtake the second message?
class Relay final : public Actor<Note> {
 public:
  explicit Relay(ActorRef<Note> target) : target_(std::move(target)) {}
  void on(Note note) { target_.send(note); }

 private:
  ActorRef<Note> target_;
};
class TwoSender final : public Actor<Go> {
 public:
  TwoSender(ActorRef<Note> relay, ActorRef<Note> direct)
      : relay_(std::move(relay)), direct_(std::move(direct)) {}
  void on(Go) {
    relay_.send<Note>(0, 0);
    direct_.send<Note>(1, 0);
  }

 private:
  ActorRef<Note> relay_;
  ActorRef<Note> direct_;
};

int overtaken_in_hundred_seeds(double preemption) {
  int overtaken = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::vector<Note> notes;
    Simulation simulation({.seed = seed, .preemption = preemption});
    auto notebook = simulation.system().spawn<Notebook>(&notes);
    auto relay = simulation.system().spawn<Relay>(notebook);
    simulation.system().spawn<TwoSender>(relay, notebook).send<Go>();
    simulation.run_until_idle();
    if (notes.at(0).sender == 0) ++overtaken;
  }
  return overtaken;
}

TEST(Simulation, InterruptsASenderBetweenItsMessages) {
  EXPECT_EQ(overtaken_in_hundred_seeds(0), 0);
  const int overtaken = overtaken_in_hundred_seeds(0.5);
  EXPECT_GT(overtaken, 20);
  EXPECT_LT(overtaken, 80);
}

TEST(Simulation, RunStepsStopsAtAnyPointOfARun) {
  const auto hash_in_pieces_of = [](std::uint64_t piece) {
    Simulation simulation({.seed = 21});
    auto busy = simulation.system().spawn<Busy>(1);
    busy.send<Go>();
    while (simulation.now() < TimePoint(20ms)) {
      if (simulation.run_steps(piece) != RunEnd::step_limit) break;
    }
    EXPECT_FALSE(simulation.has_reached_step_limit());
    simulation.run_for(TimePoint(60ms) - simulation.now());
    return simulation.trace_hash();
  };
  EXPECT_EQ(hash_in_pieces_of(1), hash_in_pieces_of(7));
}

TEST(Simulation, SeveralMayRunAtOnceOnThreadsOfTheirOwn) {
  const auto hash_of = [](std::uint64_t seed) {
    Simulation simulation({.seed = seed});
    keep_busy(simulation);
    return simulation.trace_hash();
  };
  const std::uint64_t alone_1 = hash_of(1);
  const std::uint64_t alone_2 = hash_of(2);
  std::uint64_t beside_2 = 0;
  std::thread other([&] {
    for (int i = 0; i < 5; ++i) beside_2 = hash_of(2);
  });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(hash_of(1), alone_1);
  other.join();
  EXPECT_EQ(beside_2, alone_2);
}

}  // namespace
}  // namespace weir
