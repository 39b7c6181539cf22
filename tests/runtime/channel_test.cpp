#include <weir/runtime/channel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using testing::quiet;
using Numbers = std::vector<int>;

Task<> push_all(Channel<int>* channel, int first, int count, Numbers* returned) {
  for (int i = first; i < first + count; ++i) {
    auto pushed = co_await channel->push(i);
    if (!pushed) returned->push_back(pushed.value());
  }
}

Task<> pop_all(Channel<int>* channel, Numbers* popped) {
  for (;;) {
    const auto value = co_await channel->pop();
    if (!value) co_return;
    popped->push_back(*value);
  }
}

Task<> pop_some(Channel<int>* channel, int count, Numbers* popped) {
  for (int i = 0; i < count; ++i) {
    const auto value = co_await channel->pop();
    if (value) popped->push_back(*value);
  }
}

Numbers from_zero_to(int end) {
  Numbers numbers(static_cast<std::size_t>(end));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(Channel, PassesValuesOnInOrder) {
  for (std::size_t capacity : {1u, 2u, 7u, 100u}) {
    struct Both {
      static Task<Numbers> run(std::size_t capacity) {
        Numbers popped;
        Numbers returned;
        Channel<int> channel(capacity);
        TaskScope producer;
        TaskScope consumer;
        consumer.spawn(pop_all(&channel, &popped));
        producer.spawn(push_all(&channel, 0, 50, &returned));
        co_await producer.join();
        channel.close();
        co_await consumer.join();
        EXPECT_TRUE(returned.empty());
        co_return popped;
      }
    };
    ActorSystem system(quiet());
    EXPECT_EQ(system.run(Both::run(capacity)), from_zero_to(50)) << capacity;
  }
}

TEST(Channel, PushWaitsForRoom) {
  struct Full {
    static Task<> run() {
      Numbers returned;
      Channel<int> channel(2);
      TaskScope scope;
      scope.spawn(push_all(&channel, 0, 3, &returned));
      EXPECT_EQ(channel.size(), 2u);
      EXPECT_EQ(scope.running(), 1u);
      auto refused = channel.try_push(9);
      EXPECT_EQ(refused.reason(), Errc::full);
      EXPECT_EQ(refused.value(), 9);
      EXPECT_EQ(channel.try_pop(), 0);
      EXPECT_EQ(channel.size(), 2u);
      co_await scope.join();
      EXPECT_EQ(channel.try_pop(), 1);
      EXPECT_EQ(channel.try_pop(), 2);
      EXPECT_EQ(channel.try_pop(), std::nullopt);
    }
  };
  ActorSystem system(quiet());
  system.run(Full::run());
}

TEST(Channel, CloseWakesBothSidesAndReturnsWhatWasNotAccepted) {
  struct Closing {
    static Task<> run() {
      Numbers returned;
      Numbers popped;
      Channel<int> full(1);
      Channel<int> empty(1);
      TaskScope scope;
      scope.spawn(push_all(&full, 0, 3, &returned));
      scope.spawn(pop_all(&empty, &popped));
      EXPECT_EQ(scope.running(), 2u);
      full.close();
      empty.close();
      co_await scope.join();
      EXPECT_EQ(returned, (Numbers{1, 2}));
      EXPECT_EQ(full.try_push(7).reason(), Errc::closed);
      const auto left = co_await full.pop();  // what was accepted is still there
      EXPECT_EQ(*left, 0);
      const auto over = co_await full.pop();
      EXPECT_EQ(over.error(), Errc::closed);
    }
  };
  ActorSystem system(quiet());
  system.run(Closing::run());
}

// A value is on its way to a task that is destroyed before it runs again: the next one gets it,
// although the channel has been closed meanwhile.
TEST(Channel, AValueOfADestroyedTaskGoesToTheNext) {
  struct Doomed {
    static Task<Numbers> run() {
      Numbers popped;
      Channel<int> channel(1);
      TaskScope survivors;
      {
        TaskScope doomed;
        doomed.spawn(pop_some(&channel, 1, &popped));
        survivors.spawn(pop_some(&channel, 1, &popped));
        EXPECT_TRUE(channel.try_push(5));
        channel.close();
      }
      co_await survivors.join();
      co_return popped;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Doomed::run()), Numbers{5});
}

TEST(Channel, ACancelledPushReturnsItsValue) {
  struct Cancelled {
    static Task<> run() {
      Numbers returned;
      Channel<int> channel(1);
      TaskScope scope;
      scope.spawn(push_all(&channel, 0, 2, &returned));
      scope.cancel_all();
      co_await scope.join();
      EXPECT_EQ(returned, Numbers{1});
      EXPECT_EQ(channel.size(), 1u);
    }
  };
  ActorSystem system(quiet());
  system.run(Cancelled::run());
}

// Every value is popped once or handed back, whatever is cancelled or destroyed on the way.
TEST(Channel, LosesNoValueWhateverHappensToThoseWhoWait) {
  struct Chaos {
    static Task<> run(std::uint64_t seed) {
      std::mt19937_64 random(seed);
      Numbers popped;
      Numbers returned;
      Channel<int> channel(1 + random() % 4);
      int pushed = 0;
      for (int round = 0; round < 20; ++round) {
        TaskScope scope;
        const int pushers = static_cast<int>(random() % 4);
        for (int i = 0; i < pushers; ++i) {
          scope.spawn(push_all(&channel, pushed, 3, &returned));
          pushed += 3;
        }
        TaskScope poppers;
        for (std::uint64_t i = random() % 4; i > 0; --i) {
          poppers.spawn(pop_some(&channel, static_cast<int>(1 + random() % 4), &popped));
        }
        for (std::uint64_t i = random() % 4; i > 0; --i) co_await yield();
        if (random() % 2 == 0) poppers.cancel_all();
        scope.cancel_all();
        co_await scope.join();
      }
      channel.close();
      co_await pop_all(&channel, &popped);
      Numbers all = popped;
      all.insert(all.end(), returned.begin(), returned.end());
      std::sort(all.begin(), all.end());
      EXPECT_EQ(all, from_zero_to(pushed));
    }
  };
  const std::uint64_t seed = testing::test_seed();
  WEIR_TRACE_SEED(seed);
  ActorSystem system(quiet());
  for (std::uint64_t i = 0; i < 50; ++i) system.run(Chaos::run(seed + i));
}

TEST(Channel, ThatGoesWhileOthersWaitTellsThemThatItIsClosed) {
  struct Gone {
    static Task<> pop(Channel<int>* channel, std::string* outcome) {
      const auto value = co_await channel->pop();
      *outcome = value ? "popped" : value.error().message();
    }
    static Task<std::string> run() {
      std::string outcome;
      TaskScope scope;
      {
        Channel<int> channel(1);
        scope.spawn(pop(&channel, &outcome));
      }
      co_await scope.join();
      co_return outcome;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Gone::run()), Error(Errc::closed).message());
}

TEST(Channel, CarriesMoveOnlyValues) {
  struct Owned {
    static Task<int> run() {
      Channel<std::unique_ptr<int>> channel(1);
      static_cast<void>(co_await channel.push(std::make_unique<int>(3)));
      auto refused = channel.try_push(std::make_unique<int>(4));
      EXPECT_EQ(*refused.value(), 4);
      auto value = co_await channel.pop();
      co_return **value;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Owned::run()), 3);
}

TEST(Channel, WithoutCapacityIsRefused) { EXPECT_THROW(Channel<int>(0), std::invalid_argument); }

TEST(Channel, OfOneActorRefusesAnother) {
  struct Shared {
    static Task<> pop(Channel<int>* channel, testing::Event* waits) {
      TaskScope scope;
      Numbers popped;
      scope.spawn(pop_some(channel, 1, &popped));
      waits->set();
      co_await scope.join();
    }
    static Task<bool> intrude(Channel<int>* channel) {
      try {
        static_cast<void>(co_await channel->pop());
      } catch (const std::logic_error&) {
        co_return true;
      }
      co_return false;
    }
  };
  Channel<int> channel(1);
  testing::Event waits;
  {
    ActorSystem system(quiet());
    std::thread other(
        [&] { EXPECT_THROW(system.run(Shared::pop(&channel, &waits)), ErrorException); });
    waits.wait();
    EXPECT_TRUE(system.run(Shared::intrude(&channel)));
    system.stop({.drain = Duration::zero(), .timeout = Duration::zero()});
    other.join();
  }
}

}  // namespace
}  // namespace weir
