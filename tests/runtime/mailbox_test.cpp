// The mailbox: bounds, policies, order, and what becomes of messages when the actor ends.

#include <map>
#include <stdexcept>

#include <gtest/gtest.h>

#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using testing::ask_from_outside;
using testing::await_end;
using testing::Collector;
using testing::Counted;
using testing::Counter;
using testing::Event;
using testing::quiet;
using testing::Reports;

struct Number {
  int value;
};

// Does not look at its mailbox before it is told to.
class Closed final : public Actor<Number> {
 public:
  Closed(Event* opens, Collector<int>* got) : opens_(opens), got_(got) {}
  void on_start() { opens_->wait(); }
  void on(Number message) { got_->add(message.value); }

 private:
  Event* opens_;
  Collector<int>* got_;
};

std::vector<int> numbers(int from, int to) {
  std::vector<int> all;
  for (int i = from; i < to; ++i) all.push_back(i);
  return all;
}

// I2
TEST(Mailbox, RefusesWhenFullAndReturnsTheMessage) {
  for (const std::uint32_t capacity : {1u, 2u, 7u, 16u, 100u, 1000u}) {
    Event opens;
    Collector<int> got;
    ActorSystem system(quiet());
    auto actor = system.spawn<Closed>(SpawnOptions{.mailbox_capacity = capacity}, &opens, &got);
    const int room = static_cast<int>(capacity);
    for (int i = 0; i < room; ++i) EXPECT_TRUE(actor.send<Number>(i)) << capacity;
    auto refused = actor.send<Number>(room);
    ASSERT_FALSE(refused) << capacity;
    EXPECT_EQ(refused.reason(), Errc::full);
    EXPECT_EQ(refused.message().value, room);
    EXPECT_NE(refused.error().message().find("Number"), std::string::npos);
    EXPECT_EQ(system.dead_letters().of(DeadLetterReason::mailbox_full), 1u);
    opens.set();
    EXPECT_EQ(got.wait_for(capacity), numbers(0, room));
  }
}

struct Burst {
  int count;
};

class Sender final : public Actor<Burst> {
 public:
  Sender(ActorRef<Number> target, Counter* accepted, Counter* refused)
      : target_(std::move(target)), accepted_(accepted), refused_(refused) {}
  void on(Burst message) {
    for (int i = 0; i < message.count; ++i) {
      (target_.send<Number>(i) ? accepted_ : refused_)->add();
    }
  }

 private:
  ActorRef<Number> target_;
  Counter* accepted_;
  Counter* refused_;
};

// Room is taken for several messages at once in a burst; the last places are still used.
TEST(Mailbox, TakesExactlyItsCapacityFromABurst) {
  for (const std::uint32_t capacity : {1u, 2u, 7u, 16u, 100u, 1000u}) {
    Event opens;
    Collector<int> got;
    Counter accepted;
    Counter refused;
    ActorSystem system(quiet());
    auto actor = system.spawn<Closed>(SpawnOptions{.mailbox_capacity = capacity}, &opens, &got);
    const int room = static_cast<int>(capacity);
    system.spawn<Sender>(actor, &accepted, &refused).send<Burst>(room + 5);
    refused.wait_for(5);
    EXPECT_EQ(accepted.value(), room);
    opens.set();
    EXPECT_EQ(got.wait_for(capacity), numbers(0, room));
  }
}

TEST(Mailbox, OfCapacityZeroIsRefusedWithTheReason) {
  Event opens;
  Collector<int> got;
  ActorSystem system(quiet());
  try {
    system.spawn<Closed>(SpawnOptions{.mailbox_capacity = 0}, &opens, &got);
    FAIL() << "capacity 0 must be refused";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("mailbox_capacity is 0"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("Closed"), std::string::npos);
  }
  EXPECT_TRUE(system.actors().empty());
}

TEST(Mailbox, OfACapacityThatCannotBeCountedIsRefusedWithTheReason) {
  Event opens;
  Collector<int> got;
  ActorSystem system(quiet());
  for (const std::uint32_t capacity : {mailbox_capacity_max + 1, (1u << 31) + 1, unbounded - 2}) {
    try {
      system.spawn<Closed>(SpawnOptions{.mailbox_capacity = capacity}, &opens, &got);
      FAIL() << capacity << " must be refused";
    } catch (const std::invalid_argument& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("mailbox_capacity is " + std::to_string(capacity)), std::string::npos);
      EXPECT_NE(text.find("weir::unbounded"), std::string::npos);
    }
  }
  EXPECT_TRUE(system.actors().empty());
  EXPECT_TRUE(
      system.spawn<Closed>(SpawnOptions{.mailbox_capacity = mailbox_capacity_max}, &opens, &got));
  opens.set();
}

TEST(Mailbox, TakesTheSystemsCapacityUnlessToldOtherwise) {
  Event opens;
  Collector<int> got;
  ActorSystemOptions options = quiet();
  options.mailbox_capacity = 3;
  ActorSystem system(options);
  auto bounded = system.spawn<Closed>(&opens, &got);
  auto endless = system.spawn<Closed>(SpawnOptions{.mailbox_capacity = unbounded}, &opens, &got);
  int accepted = 0;
  for (int i = 0; i < 10; ++i) accepted += bounded.send<Number>(i) ? 1 : 0;
  EXPECT_EQ(accepted, 3);
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(endless.send<Number>(i));
  opens.set();
  got.wait_for(100'003);
}

TEST(Mailbox, DropsTheNewestAndCounts) {
  Event opens;
  Collector<int> got;
  Reports reports;
  ActorSystem system(reports.options());
  auto actor = system.spawn<Closed>(
      SpawnOptions{.mailbox_capacity = 4, .overflow = Overflow::drop_newest}, &opens, &got);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(actor.send<Number>(i));
  EXPECT_EQ(system.dead_letters().of(DeadLetterReason::dropped_newest), 6u);
  opens.set();
  EXPECT_EQ(got.wait_for(4), numbers(0, 4));
  EXPECT_EQ(reports.letters.values().size(), 6u);
}

TEST(Mailbox, DropsTheOldestAndCounts) {
  Event opens;
  Collector<int> got;
  Reports reports;
  ActorSystem system(reports.options());
  auto actor = system.spawn<Closed>(
      SpawnOptions{.mailbox_capacity = 4, .overflow = Overflow::drop_oldest}, &opens, &got);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(actor.send<Number>(i));
  EXPECT_EQ(system.dead_letters().of(DeadLetterReason::dropped_oldest), 6u);
  opens.set();
  EXPECT_EQ(got.wait_for(4), numbers(6, 10));
  EXPECT_EQ(reports.letters.values().size(), 6u);
}

struct Enter {};

// Says that it is inside a handler, and stays there until it may leave.
class Held final : public Actor<Enter, Number> {
 public:
  Held(Event* entered, Event* leaves, Collector<int>* got)
      : entered_(entered), leaves_(leaves), got_(got) {}
  void on(Enter) {
    entered_->set();
    leaves_->wait();
  }
  void on(Number message) { got_->add(message.value); }

 private:
  Event* entered_;
  Event* leaves_;
  Collector<int>* got_;
};

// "Control messages overtake data", and I4: what was queued is refused with an outcome.
TEST(Mailbox, LetsAStopOvertakeWhatIsQueued) {
  for (const Overflow overflow : {Overflow::fail, Overflow::drop_newest, Overflow::drop_oldest}) {
    Event entered;
    Event leaves;
    Collector<int> got;
    Reports reports;
    ActorSystem system(reports.options());
    auto actor = system.spawn<Held>(SpawnOptions{.overflow = overflow}, &entered, &leaves, &got);
    actor.send<Enter>();
    entered.wait();
    for (int i = 0; i < 100; ++i) actor.send<Number>(i);
    actor.stop();
    leaves.set();
    await_end(system, actor);
    EXPECT_TRUE(got.values().empty());
    EXPECT_EQ(system.dead_letters().of(DeadLetterReason::actor_stopped), 100u);
  }
}

TEST(Mailbox, IsDrainedBeforeAnActorStopsIfWanted) {
  for (const Overflow overflow : {Overflow::fail, Overflow::drop_newest, Overflow::drop_oldest}) {
    Event entered;
    Event leaves;
    Collector<int> got;
    ActorSystem system(quiet());
    auto actor = system.spawn<Held>(SpawnOptions{.overflow = overflow}, &entered, &leaves, &got);
    actor.send<Enter>();
    entered.wait();
    for (int i = 0; i < 100; ++i) actor.send<Number>(i);
    actor.stop(Stop::when_drained);
    leaves.set();
    EXPECT_EQ(await_end(system, actor).reason.kind, StopReason::Kind::normal);
    EXPECT_EQ(got.values(), numbers(0, 100)) << static_cast<int>(overflow);
    EXPECT_EQ(system.dead_letters().total(), 0u);
  }
}

// A marker that waits its turn in a mailbox that drops must not be dropped itself.
TEST(Mailbox, ThatDropsTheOldestStillStopsWhenDrained) {
  Event entered;
  Event leaves;
  Collector<int> got;
  ActorSystem system(quiet());
  auto actor =
      system.spawn<Held>(SpawnOptions{.mailbox_capacity = 4, .overflow = Overflow::drop_oldest},
                         &entered, &leaves, &got);
  actor.send<Enter>();
  entered.wait();
  for (int i = 0; i < 4; ++i) actor.send<Number>(i);
  actor.stop(Stop::when_drained);
  for (int i = 4; i < 20; ++i) actor.send<Number>(i);
  leaves.set();
  await_end(system, actor);
  EXPECT_EQ(got.values().size() + system.dead_letters().total(), 20u);
}

class BurstThenStop final : public Actor<Burst> {
 public:
  explicit BurstThenStop(ActorRef<Number> target) : target_(std::move(target)) {}
  void on(Burst message) {
    for (int i = 0; i < message.count; ++i) target_.send<Number>(i);
    target_.stop(Stop::when_drained);
  }

 private:
  ActorRef<Number> target_;
};

// Messages of a burst are published together; a stop in the same handler comes after them.
TEST(Mailbox, IsDrainedOfABurstThatWasSentBeforeTheStop) {
  for (int count = 1; count < 200; count += 7) {
    Event opens;
    Collector<int> got;
    ActorSystem system(quiet());
    auto actor = system.spawn<Closed>(&opens, &got);
    opens.set();
    system.spawn<BurstThenStop>(actor).send<Burst>(count);
    await_end(system, actor);
    EXPECT_EQ(got.values(), numbers(0, count));
  }
}

// The destructor of a message that nobody moved from runs after its handler.
struct Announcing {
  ActorRef<Number> target;
  int count = 0;
  Announcing(ActorRef<Number> to, int times) : target(std::move(to)), count(times) {}
  Announcing(Announcing&& other) noexcept
      : target(std::move(other.target)), count(std::exchange(other.count, 0)) {}
  ~Announcing() {
    for (int i = 0; i < count; ++i) target.send<Number>(i);
  }
};

class Reader final : public Actor<Announcing> {
 public:
  void on(const Announcing&) {}
};

TEST(Mailbox, PublishesWhatTheDestructorOfAMessageSends) {
  Event opens;
  Collector<int> got;
  ActorSystem system(quiet(1));
  auto actor = system.spawn<Closed>(&opens, &got);
  opens.set();
  system.spawn<Reader>().send<Announcing>(actor, 10);
  EXPECT_EQ(got.wait_for(10), numbers(0, 10));
}

struct Tracked {
  int value;
  Counted<Tracked> counted = {};
};

class Consumer final : public Actor<Tracked> {
 public:
  explicit Consumer(std::atomic<std::int64_t>* handled) : handled_(handled) {}
  void on(const Tracked&) { handled_->fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t>* handled_;
};

struct Flood {
  int count;
};

class Flooder final : public Actor<Flood> {
 public:
  Flooder(ActorRef<Tracked> target, Counter* accepted, Counter* done)
      : target_(std::move(target)), accepted_(accepted), done_(done) {}
  void on(Flood message) {
    int accepted = 0;
    for (int i = 0; i < message.count; ++i) accepted += target_.send<Tracked>(i) ? 1 : 0;
    accepted_->add(accepted);
    done_->add();
  }

 private:
  ActorRef<Tracked> target_;
  Counter* accepted_;
  Counter* done_;
};

struct Conservation {
  std::uint32_t capacity;
  Overflow overflow;
  Stop how;
};

// Threads and actors send while the receiver stops at a moment of chance: what was accepted was
// handled or reported, and nothing is left in memory.
void check_conservation(const Conservation& wanted, std::mt19937_64& random) {
  std::atomic<std::int64_t> handled{0};
  Counter accepted;
  Counter done;
  ActorSystem system(quiet());
  auto target = system.spawn<Consumer>(
      SpawnOptions{.mailbox_capacity = wanted.capacity, .overflow = wanted.overflow}, &handled);
  const int count = 500;
  for (int i = 0; i < 3; ++i) {
    system.spawn<Flooder>(target, &accepted, &done).send<Flood>(count);
  }
  std::thread outside([&, target] {
    int taken = 0;
    for (int i = 0; i < count; ++i) taken += target.send<Tracked>(i) ? 1 : 0;
    accepted.add(taken);
    done.add();
  });
  for (std::uint64_t i = random() % 3000; i > 0; --i) internal::relax_cpu();
  target.stop(wanted.how);
  done.wait_for(4);
  outside.join();
  await_end(system, target);
  EXPECT_TRUE(system.stop().is_clean());
  const auto letters = system.dead_letters();
  const auto refused = static_cast<std::uint64_t>(4 * count - accepted.value());
  // A refusal at once is reported, too.
  EXPECT_EQ(static_cast<std::uint64_t>(handled.load()) + letters.total(),
            static_cast<std::uint64_t>(4 * count))
      << "refused " << refused;
  EXPECT_EQ(Counted<Tracked>::live(), 0);
}

// I2 and I4
TEST(Mailbox, I4ForgetsNoMessageWhenItsActorStopsAtAnyMoment) {
  const std::uint64_t seed = testing::test_seed();
  WEIR_TRACE_SEED(seed);
  std::mt19937_64 random(seed);
  const std::uint32_t capacities[] = {1, 3, 16, 64, 1024, unbounded};
  for (int i = 0; i < testing::scaled(300); ++i) {
    const Conservation wanted{capacities[random() % 6], static_cast<Overflow>(random() % 3),
                              static_cast<Stop>(random() % 3)};
    SCOPED_TRACE("capacity " + std::to_string(wanted.capacity) + ", overflow " +
                 std::to_string(static_cast<int>(wanted.overflow)) + ", stop " +
                 std::to_string(static_cast<int>(wanted.how)));
    check_conservation(wanted, random);
    if (::testing::Test::HasFailure()) break;
  }
}

struct Item {
  int sender;
  int sequence;
};

class Checker final : public Actor<Item> {
 public:
  Checker(std::atomic<int>* wrong, Counter* got) : wrong_(wrong), got_(got) {}
  void on(Item item) {
    // I1: one handler at a time.
    if (is_inside_.exchange(true)) ++*wrong_;
    int& next = next_[item.sender];
    if (item.sequence != next) ++*wrong_;
    ++next;
    is_inside_.store(false);
    got_->add();
  }

 private:
  std::map<int, int> next_;
  std::atomic<bool> is_inside_{false};
  std::atomic<int>* wrong_;
  Counter* got_;
};

struct SendAll {};

// Sends its items to every checker, each at its own pace.
class Source final : public Actor<SendAll> {
 public:
  Source(int number, int count, std::vector<ActorRef<Item>> targets)
      : number_(number), count_(count), targets_(std::move(targets)) {}
  Task<> on(SendAll) {
    for (int i = 0; i < count_; ++i) {
      for (auto& target : targets_) {
        if (random() % 2 == 0) {
          if (!co_await target.deliver<Item>(number_, i)) co_return;
        } else {
          auto result = target.send<Item>(number_, i);
          if (!result && !co_await target.deliver<Item>(result.message())) co_return;
        }
      }
    }
  }

 private:
  int number_;
  int count_;
  std::vector<ActorRef<Item>> targets_;
};

void send_from_outside(int number, int count, const std::vector<ActorRef<Item>>& targets) {
  for (int i = 0; i < count; ++i) {
    for (const auto& target : targets) {
      while (!target.send<Item>(number, i)) std::this_thread::yield();
    }
  }
}

// I1
TEST(Mailbox, KeepsTheOrderOfEachSenderWhateverItsCapacity) {
  const std::uint64_t seed = testing::test_seed();
  WEIR_TRACE_SEED(seed);
  std::mt19937_64 random(seed);
  const std::uint32_t capacities[] = {1, 2, 5, 16, 40, 300, 1024, unbounded};
  for (int round = 0; round < testing::scaled(12); ++round) {
    const int count = 300;
    std::atomic<int> wrong{0};
    Counter got;
    ActorSystemOptions options = quiet(1 + static_cast<unsigned>(random() % 4));
    options.seed = random();
    ActorSystem system(options);
    std::vector<ActorRef<Item>> targets;
    for (int i = 0; i < 4; ++i) {
      const SpawnOptions bounded{.mailbox_capacity = capacities[random() % 8]};
      targets.push_back(system.spawn<Checker>(bounded, &wrong, &got));
    }
    for (int i = 0; i < 4; ++i) system.spawn<Source>(i, count, targets).send<SendAll>();
    std::thread one(send_from_outside, 4, count, targets);
    std::thread two(send_from_outside, 5, count, targets);
    one.join();
    two.join();
    got.wait_for(6 * 4 * count);
    EXPECT_EQ(wrong.load(), 0);
  }
}

}  // namespace
}  // namespace weir
