#include <weir/runtime/gate.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using testing::quiet;
using Log = std::vector<std::string>;

Task<> visit(Gate* gate, Log* log) {
  const auto pass = gate->enter();
  if (!pass) {
    log->push_back(pass.error().message());
    co_return;
  }
  co_await yield();
  log->push_back("left");
}

Task<> close(Gate* gate, Log* log) {
  const auto closed = co_await gate->close();
  log->push_back(closed ? "closed" : closed.error().message());
}

TEST(Gate, ClosingWaitsForThoseInside) {
  struct Closing {
    static Task<Log> run() {
      Log log;
      Gate gate;
      TaskScope scope;
      scope.spawn(visit(&gate, &log));
      scope.spawn(visit(&gate, &log));
      EXPECT_EQ(gate.inside(), 2u);
      co_await close(&gate, &log);
      EXPECT_EQ(gate.inside(), 0u);
      co_await scope.join();
      co_return log;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Closing::run()), (Log{"left", "left", "closed"}));
}

TEST(Gate, LetsNobodyInOnceClosed) {
  struct Late {
    static Task<Log> run() {
      Log log;
      Gate gate;
      co_await close(&gate, &log);
      co_await visit(&gate, &log);
      EXPECT_TRUE(gate.is_closed());
      co_return log;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Late::run()), (Log{"closed", Error(Errc::closed).message()}));
}

TEST(Gate, MayBeClosedBySeveral) {
  struct Two {
    static Task<Log> run() {
      Log log;
      Gate gate;
      TaskScope scope;
      scope.spawn(visit(&gate, &log));
      scope.spawn(close(&gate, &log));
      scope.spawn(close(&gate, &log));
      co_await scope.join();
      co_return log;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Two::run()), (Log{"left", "closed", "closed"}));
}

TEST(Gate, StaysClosedWhenTheWaitIsCancelled) {
  struct Cancelled {
    static Task<Log> run() {
      Log log;
      Gate gate;
      auto pass = gate.enter();
      TaskScope scope;
      scope.spawn(close(&gate, &log));
      scope.cancel_all();
      co_await scope.join();
      EXPECT_TRUE(gate.is_closed());
      co_return log;
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Cancelled::run()), Log{Error(Errc::cancelled).message()});
}

TEST(Gate, APassThatMovesStaysInside) {
  Gate gate;
  auto first = gate.enter();
  ASSERT_TRUE(first);
  auto second = gate.enter();
  EXPECT_EQ(gate.inside(), 2u);
  Gate::Pass moved = *std::move(first);
  EXPECT_EQ(gate.inside(), 2u);
  moved = *std::move(second);
  EXPECT_EQ(gate.inside(), 1u);
}

}  // namespace
}  // namespace weir
