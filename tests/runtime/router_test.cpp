#include <weir/runtime/router.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>

#include <weir/runtime/actor_system.hpp>
#include <weir/tests/runtime/support/event_log.hpp>
#include <weir/tests/runtime/support/gate_actor.hpp>

namespace weir {
namespace {

using test::EventLog;
using test::GateActor;
using test::Open;
using test::Pass;
using Lines = std::vector<std::string>;

struct Note {
  std::string text;
};
struct Who {
  using Reply = std::string;
  std::uint64_t key = 0;
};

// Writes down what it gets, under its own name.
class Scribe final : public Actor<Note, Who> {
 public:
  Scribe(std::string name, EventLog* log) : name_(std::move(name)), log_(log) {}
  void on(Note note) { log_->add(name_ + " " + note.text); }
  std::string on(Who) const { return name_; }
  void on_stop() { log_->add(name_ + " stopped"); }

 private:
  std::string name_;
  EventLog* log_;
};

// Says that it is busy with a message and stays so until the gate opens.
class Slow final : public Actor<Note, Who> {
 public:
  Slow(std::string name, EventLog* log, ActorRef<Pass> gate)
      : name_(std::move(name)), log_(log), gate_(std::move(gate)) {}
  Task<> on(Note note) {
    log_->add(name_ + " " + note.text);
    static_cast<void>(co_await gate_.ask<Pass>());
  }
  Task<std::string> on(Who) {
    static_cast<void>(co_await gate_.ask<Pass>());
    co_return name_;
  }

 private:
  std::string name_;
  EventLog* log_;
  ActorRef<Pass> gate_;
};

using Target = ActorRef<Note, Who>;

class RouterTest : public testing::Test {
 protected:
  Target scribe(const std::string& name) { return system.spawn<Scribe>(name, &log); }
  Target slow(const std::string& name, std::uint32_t capacity = 10) {
    return system.spawn<Slow>({.mailbox_capacity = capacity}, name, &log, gate);
  }
  // A slow one that is busy already.
  Target busy(const std::string& name, std::uint32_t capacity = 10) {
    Target actor = slow(name, capacity);
    actor.send<Note>("begins");
    EXPECT_TRUE(log.wait_for(name + " begins"));
    while (internal::RefAccess::cell(actor)->control.load() != internal::Cell::waiting) {
      std::this_thread::yield();
    }
    return actor;
  }
  std::uint32_t depth_of(const Target& actor) { return internal::RefAccess::cell(actor)->depth(); }
  void stop(const Target& actor, const std::string& name) {
    actor.stop();
    EXPECT_TRUE(log.wait_for(name + " stopped"));
  }

  EventLog log;
  ActorSystem system{{.threads = 2, .on_dead_letter = [](const DeadLetter&) {}}};
  RefOf<GateActor> gate = system.spawn<GateActor>();
};

Task<std::string> who(Router<Note, Who> router, std::uint64_t key) {
  const Result<std::string> name = co_await router.ask<Who>(key);
  co_return name ? *name : name.error().message();
}

Task<std::map<std::uint64_t, std::string>> who_has(Router<Note, Who> router, std::uint64_t keys) {
  std::map<std::uint64_t, std::string> owners;
  for (std::uint64_t key = 0; key < keys; ++key) {
    owners[key] = (co_await router.ask<Who>(key)).value();
  }
  co_return owners;
}

TEST_F(RouterTest, RoundRobinSendsToOneMemberAfterTheOther) {
  const Router<Note, Who> router(round_robin, {scribe("a"), scribe("b"), scribe("c")});
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(router.send<Note>(std::to_string(i)));
  ASSERT_TRUE(log.wait_for_lines(6));
  for (const char* line : {"a 0", "b 1", "c 2", "a 3", "b 4", "c 5"}) {
    EXPECT_EQ(log.count(line), 1u) << line;
  }
}

TEST_F(RouterTest, RoundRobinPassesOverAFullMember) {
  const Target full = busy("full", 1);
  full.send<Note>("waits");
  const Router<Note, Who> router(round_robin, {full, scribe("free")});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(router.send<Note>("n"));
  EXPECT_TRUE(log.wait_for("free n", 3));
  gate.send<Open>();
}

TEST_F(RouterTest, WhenAllAreFullTheMessageComesBack) {
  const Target full = busy("full", 1);
  full.send<Note>("waits");
  const Router<Note, Who> router(round_robin, {full});
  SendResult<Note> result = router.send(Note{"one too many"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.reason(), Errc::full);
  EXPECT_EQ(result.message().text, "one too many");
  EXPECT_EQ(system.dead_letters().of(DeadLetterReason::mailbox_full), 1u);
  gate.send<Open>();
}

TEST_F(RouterTest, LeastLoadedEvensMailboxesOut) {
  const Target a = busy("a");
  const Target b = busy("b");
  const Target c = busy("c");
  for (int i = 0; i < 4; ++i) a.send<Note>("own");
  b.send<Note>("own");
  const Router<Note, Who> router(least_loaded, {a, b, c});
  for (int i = 0; i < 7; ++i) EXPECT_TRUE(router.send<Note>("routed"));
  EXPECT_EQ(depth_of(a), 4u);
  EXPECT_EQ(depth_of(b), 4u);
  EXPECT_EQ(depth_of(c), 4u);
  gate.send<Open>();
}

TEST_F(RouterTest, LeastLoadedAvoidsAMemberWhoseHandlerIsSuspended) {
  const Router<Note, Who> router(least_loaded, {busy("busy"), scribe("free")});
  for (std::size_t i = 1; i <= 5; ++i) {
    EXPECT_TRUE(router.send<Note>("n"));
    ASSERT_TRUE(log.wait_for("free n", i));
  }
  gate.send<Open>();
}

TEST_F(RouterTest, LeastLoadedSpreadsOverMembersThatAreEquallyIdle) {
  const Router<Note, Who> router(least_loaded, {scribe("a"), scribe("b")});
  for (std::size_t i = 1; i <= 10; ++i) {
    EXPECT_TRUE(router.send<Note>("n"));
    ASSERT_TRUE(log.wait_for_lines(i));
  }
  EXPECT_GE(log.count("a n"), 3u);
  EXPECT_GE(log.count("b n"), 3u);
}

Router<Note, Who> keyed(std::initializer_list<Target> members) {
  struct KeyOf {
    std::string operator()(const Note& note) const { return note.text; }
    std::uint64_t operator()(const Who& who) const { return who.key; }
  };
  return Router<Note, Who>(by_key(KeyOf{}), members);
}

TEST_F(RouterTest, ByKeySendsTheSameKeyToTheSameMember) {
  const auto router = keyed({scribe("a"), scribe("b"), scribe("c")});
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(router.send<Note>("apple"));
  ASSERT_TRUE(log.wait_for_lines(10));
  EXPECT_EQ(log.count(log.lines()[0]), 10u);
}

TEST_F(RouterTest, ByKeySpreadsKeysEvenly) {
  const auto router = keyed({scribe("a"), scribe("b"), scribe("c"), scribe("d")});
  std::map<std::string, int> share;
  for (const auto& [key, name] : system.run(who_has(router, 2000))) ++share[name];
  for (const char* name : {"a", "b", "c", "d"}) {
    EXPECT_GT(share[name], 400) << name;
    EXPECT_LT(share[name], 600) << name;
  }
}

TEST_F(RouterTest, ByKeyMovesOnlyTheKeysThatAMemberTakesOrLeaves) {
  auto router = keyed({});
  constexpr std::uint64_t keys = 1000;
  std::vector<Target> members{scribe("0")};
  router.add(members[0]);
  auto before = system.run(who_has(router, keys));
  for (std::size_t count = 2; count <= 12; ++count) {
    const std::string name = std::to_string(count - 1);
    members.push_back(scribe(name));
    ASSERT_TRUE(router.add(members.back()));
    const auto after = system.run(who_has(router, keys));
    std::size_t moved = 0;
    for (const auto& [key, owner] : after) {
      if (owner == before[key]) continue;
      ++moved;
      EXPECT_EQ(owner, name) << "key " << key << " moved between members that stayed";
    }
    EXPECT_NEAR(static_cast<double>(moved), static_cast<double>(keys / count), 60) << count;
    // Leaving undoes it.
    ASSERT_TRUE(router.remove(members.back()));
    EXPECT_EQ(system.run(who_has(router, keys)), before) << count;
    ASSERT_TRUE(router.add(members.back()));
    before = after;
  }
}

TEST_F(RouterTest, ASuccessorTakesOverTheKeysOfTheMemberItReplaces) {
  const Target first = scribe("first");
  auto router = keyed({first, scribe("b"), scribe("c")});
  const auto before = system.run(who_has(router, 200));
  router.remove(first);
  router.add(scribe("successor"));
  for (const auto& [key, owner] : system.run(who_has(router, 200))) {
    EXPECT_EQ(owner, before.at(key) == "first" ? "successor" : before.at(key)) << key;
  }
}

TEST_F(RouterTest, StoppedMembersArePassedOverAndForgotten) {
  const Target a = scribe("a");
  Router<Note, Who> router(round_robin, {a, scribe("b")});
  stop(a, "a");
  EXPECT_EQ(router.size(), 1u);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(router.send<Note>("n"));
  EXPECT_TRUE(log.wait_for("b n", 4));
  EXPECT_EQ(router.members().size(), 1u);
  EXPECT_FALSE(router.add(a));
}

TEST_F(RouterTest, WithoutMembersEverythingComesBackAsStopped) {
  const Router<Note, Who> router;
  SendResult<Note> result = router.send<Note>("nobody");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.reason(), Errc::stopped);
  EXPECT_EQ(result.message().text, "nobody");
  EXPECT_EQ(system.run(who(router, 1)), "actor stopped: empty reference");
}

Task<Result<std::string>> deliver_and_ask(Router<Note, Who> router) {
  SendResult<Note> delivered = co_await router.deliver<Note>("hello");
  if (!delivered) co_return delivered.error();
  co_return co_await router.ask<Who>(3u).within(std::chrono::seconds(10));
}

TEST_F(RouterTest, DeliversAndAsksAsAReferenceDoes) {
  const Router<Note, Who> router(round_robin, {scribe("a"), scribe("b")});
  EXPECT_EQ(system.run(deliver_and_ask(router)).value(), "b");
  EXPECT_TRUE(log.wait_for("a hello"));
}

TEST_F(RouterTest, CopiesShareTheMembers) {
  Router<Note, Who> router;
  const Router<Note, Who> copy = router;
  EXPECT_TRUE(router.add(scribe("a")));
  EXPECT_EQ(copy.size(), 1u);
  EXPECT_EQ(copy, router);
}

TEST_F(RouterTest, AMemberIsInItOnce) {
  const Target a = scribe("a");
  Router<Note, Who> router(round_robin, {a, a});
  EXPECT_EQ(router.size(), 1u);
  EXPECT_TRUE(router.remove(a));
  EXPECT_FALSE(router.remove(a));
  EXPECT_FALSE(router.add(Target()));
}

struct Count {
  int value;
};
struct Total {
  using Reply = int;
};

class Counter final : public Actor<Count, Total> {
 public:
  void on(Count count) { total_ += count.value; }
  int on(Total) const { return total_; }

 private:
  int total_ = 0;
};

Task<int> total_of(std::vector<RefOf<Counter>> counters) {
  int sum = 0;
  for (const auto& counter : counters) sum += (co_await counter.ask<Total>()).value();
  co_return sum;
}

TEST_F(RouterTest, LosesNothingWhileMembersComeAndGo) {
  std::vector<RefOf<Counter>> counters;
  for (int i = 0; i < 4; ++i) {
    counters.push_back(system.spawn<Counter>({.mailbox_capacity = unbounded}));
  }
  Router<Count, Total> router(least_loaded, counters);
  std::atomic<bool> is_over = false;
  std::atomic<int> sent = 0;
  std::vector<std::thread> senders;
  for (int i = 0; i < 2; ++i) {
    senders.emplace_back([&] {
      for (int n = 0; n < 5000; ++n) {
        if (router.send<Count>(1)) ++sent;
      }
    });
  }
  std::thread changer([&] {
    for (std::size_t i = 0; !is_over; ++i) {
      router.remove(counters[i % 3]);
      router.add(counters[i % 3]);
    }
  });
  for (std::thread& sender : senders) sender.join();
  is_over = true;
  changer.join();
  EXPECT_EQ(sent, 10000);
  EXPECT_EQ(system.run(total_of(counters)), 10000);
}

}  // namespace
}  // namespace weir
