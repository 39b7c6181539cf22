#include <weir/runtime/async_mutex.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using testing::quiet;

struct Account {
  AsyncMutex mutex;
  int cents = 0;
};

// Reads, waits and writes: two of these that interleave lose an update.
Task<> deposit(Account* account, int cents) {
  // [lock]
  const auto lock = co_await account->mutex.lock();
  if (!lock) co_return;
  const int before = account->cents;
  co_await yield();
  account->cents = before + cents;
  // [/lock]
}

TEST(AsyncMutex, KeepsStepsWithAWaitInBetweenTogether) {
  struct Deposits {
    static Task<int> run() {
      Account account;
      TaskScope scope;
      for (int i = 0; i < 50; ++i) scope.spawn(deposit(&account, 1));
      co_await scope.join();
      EXPECT_FALSE(account.mutex.is_locked());
      co_return account.cents;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Deposits::run()), 50);
}

TEST(AsyncMutex, TryLockFailsWhileLocked) {
  AsyncMutex mutex;
  auto lock = mutex.try_lock();
  ASSERT_TRUE(lock);
  EXPECT_TRUE(mutex.is_locked());
  EXPECT_FALSE(mutex.try_lock());
  lock->release();
  EXPECT_TRUE(mutex.try_lock());
}

TEST(AsyncMutex, UnlocksWhenTheHolderThrows) {
  struct Throwing {
    static Task<> hold(AsyncMutex* mutex) {
      const auto lock = co_await mutex->lock();
      co_await yield();
      throw std::runtime_error("while locked");
    }
    static Task<bool> run() {
      AsyncMutex mutex;
      TaskScope scope;
      scope.spawn(hold(&mutex));
      scope.spawn(hold(&mutex));
      try {
        co_await scope.join();
      } catch (const std::runtime_error&) {
      }
      co_return mutex.is_locked();
    }
  };
  ActorSystem system(quiet());
  EXPECT_FALSE(system.run(Throwing::run()));
}

TEST(AsyncMutex, NeverRunsTheNextHolderInsideUnlock) {
  struct Order {
    static Task<> wait(AsyncMutex* mutex, std::vector<std::string>* log) {
      const auto lock = co_await mutex->lock();
      log->push_back("next holder");
    }
    static Task<std::vector<std::string>> run() {
      std::vector<std::string> log;
      AsyncMutex mutex;
      auto lock = mutex.try_lock();
      TaskScope scope;
      scope.spawn(wait(&mutex, &log));
      lock->release();
      log.push_back("after unlock");
      co_await scope.join();
      co_return log;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Order::run()), (std::vector<std::string>{"after unlock", "next holder"}));
}

}  // namespace
}  // namespace weir
