#include <weir/runtime/semaphore.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using testing::quiet;

struct Load {
  int now = 0;
  int most = 0;
  std::vector<int> order;
};

Task<> work(Semaphore* semaphore, int name, std::size_t permits, Load* load) {
  const auto permit = co_await semaphore->acquire(permits);
  if (!permit) co_return;
  load->order.push_back(name);
  load->now += static_cast<int>(permits);
  load->most = std::max(load->most, load->now);
  co_await yield();
  load->now -= static_cast<int>(permits);
}

TEST(Semaphore, LetsInNoMoreThanItHasPermits) {
  struct Many {
    static Task<Load> run() {
      Load load;
      Semaphore semaphore(3);
      TaskScope scope;
      for (int i = 0; i < 20; ++i) scope.spawn(work(&semaphore, i, 1, &load));
      co_await scope.join();
      EXPECT_EQ(semaphore.available(), 3u);
      co_return load;
    }
  };
  ActorSystem system(quiet());
  const Load load = system.run(Many::run());
  EXPECT_EQ(load.most, 3);
  EXPECT_EQ(load.order.size(), 20u);
  EXPECT_TRUE(std::is_sorted(load.order.begin(), load.order.end()));
}

TEST(Semaphore, WhoWantsManyIsNotOvertaken) {
  struct Mixed {
    static Task<Load> run() {
      Load load;
      Semaphore semaphore(2);
      TaskScope scope;
      scope.spawn(work(&semaphore, 0, 1, &load));
      scope.spawn(work(&semaphore, 1, 2, &load));
      scope.spawn(work(&semaphore, 2, 1, &load));
      EXPECT_FALSE(semaphore.try_acquire());  // there is one, but others wait
      co_await scope.join();
      co_return load;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Mixed::run()).order, (std::vector{0, 1, 2}));
}

TEST(Semaphore, RefusesACountThatCanNeverBeHad) {
  struct Bad {
    static Task<std::string> run() {
      Semaphore semaphore(2);
      const auto none = co_await semaphore.acquire(0);
      EXPECT_EQ(none.error(), Errc::invalid_argument);
      const auto many = co_await semaphore.acquire(3);
      EXPECT_EQ(many.error(), Errc::invalid_argument);
      co_return many.error().detail();
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Bad::run()), "3 permits of 2");
}

Task<> try_to_acquire(Semaphore* semaphore, std::vector<std::string>* log) {
  const auto permit = co_await semaphore->acquire();
  log->push_back(permit ? "acquired" : permit.error().message());
}

TEST(Semaphore, ACancelledWaitTakesNothing) {
  struct Cancelled {
    static Task<std::vector<std::string>> run() {
      std::vector<std::string> log;
      Semaphore semaphore(1);
      auto permit = semaphore.try_acquire();
      TaskScope scope;
      scope.spawn(try_to_acquire(&semaphore, &log));
      scope.cancel_all();
      co_await scope.join();
      permit->release();
      EXPECT_EQ(semaphore.available(), 1u);
      co_return log;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Cancelled::run()),
            std::vector<std::string>{Error(Errc::cancelled).message()});
}

// Granted to a task that is destroyed before it runs again: the permit goes to the next.
TEST(Semaphore, APermitOfADestroyedTaskIsPassedOn) {
  struct Doomed {
    static Task<std::vector<std::string>> run() {
      std::vector<std::string> log;
      Semaphore semaphore(1);
      auto permit = semaphore.try_acquire();
      TaskScope survivors;
      {
        TaskScope doomed;
        doomed.spawn(try_to_acquire(&semaphore, &log));
        survivors.spawn(try_to_acquire(&semaphore, &log));
        permit->release();
      }
      co_await survivors.join();
      co_return log;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Doomed::run()), std::vector<std::string>{"acquired"});
}

}  // namespace
}  // namespace weir
