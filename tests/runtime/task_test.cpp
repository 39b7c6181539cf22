#include <weir/runtime/task.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/try.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

using testing::await_end;
using testing::Counted;
using testing::quiet;

Task<int> number(int value) { co_return value; }

Task<int> sum_of(int count) {
  int sum = 0;
  for (int i = 1; i <= count; ++i) sum += co_await number(i);
  co_return sum;
}

TEST(Task, PassesTheValueOn) {
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(sum_of(100)), 5050);
}

TEST(Task, PassesAMoveOnlyValueOn) {
  struct Make {
    static Task<std::unique_ptr<int>> owned() { co_return std::make_unique<int>(7); }
    static Task<int> use() { co_return *co_await owned(); }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Make::use()), 7);
}

TEST(Task, AwaitsDeeplyWithoutUsingUpTheStack) {
  struct Nested {
    static Task<int> depth(int left) {
      if (left == 0) co_return 0;
      co_return 1 + co_await depth(left - 1);
    }
  };
  ActorSystem system(quiet());
  const int levels = testing::scaled(200'000);
  EXPECT_EQ(system.run(Nested::depth(levels)), levels);
}

Task<int> throwing() {
  throw std::runtime_error("no number");
  co_return 0;
}

TEST(Task, PassesTheExceptionOn) {
  struct Outer {
    static Task<std::string> run() {
      try {
        co_await throwing();
      } catch (const std::runtime_error& error) {
        co_return error.what();
      }
      co_return "nothing was thrown";
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Outer::run()), "no number");
}

TEST(Task, StartsOnlyWhenAwaited) {
  struct Lazy {
    static Task<> mark(bool* started) {
      *started = true;
      co_return;
    }
    static Task<bool> run() {
      bool started = false;
      auto task = mark(&started);
      const bool before = started;
      co_await std::move(task);
      co_return !before && started;
    }
  };
  ActorSystem system(quiet());
  EXPECT_TRUE(system.run(Lazy::run()));
}

TEST(Task, AwaitingAnEmptyOneThrows) {
  struct Twice {
    static Task<std::string> run() {
      auto task = number(1);
      co_await std::move(task);
      try {
        co_await std::move(task);  // NOLINT(bugprone-use-after-move): what is tested
      } catch (const std::logic_error& error) {
        co_return error.what();
      }
      co_return "nothing was thrown";
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Twice::run()), "weir: co_await of a task that is empty or was awaited");
}

struct Local {};

TEST(Task, DestroysWhatItHoldsWhenItIsNeverAwaited) {
  struct Unused {
    static Task<> hold(Counted<Local>) { co_return; }
  };
  {
    auto task = Unused::hold({});
    EXPECT_EQ(Counted<Local>::live(), 1);
  }
  EXPECT_EQ(Counted<Local>::live(), 0);
}

struct Begin {};

struct Gates {
  testing::Event child_runs;
  testing::Event child_may_end;
};

class Lingerer final : public Actor<Begin> {
 public:
  explicit Lingerer(Gates* gates) : gates_(gates) {}
  void on(Begin) {
    gates_->child_runs.set();
    gates_->child_may_end.wait();
  }

 private:
  Gates* gates_;
};

// The awaited task is a member: its owner is the coroutine that waits, all the same. The child
// keeps the actor itself from ending.
class Keeper final : public Actor<Begin> {
 public:
  explicit Keeper(Gates* gates) : gates_(gates), task_(wait_forever()) {}
  Task<> on(Begin) {
    spawn<Lingerer>(gates_).send<Begin>();
    co_await std::move(task_);
  }

 private:
  static Task<> wait_forever() {
    const Counted<Keeper> local;
    static_cast<void>(co_await sleep_for(forever));
  }

  Gates* gates_;
  Task<> task_;
};

TEST(Task, GoesWithTheCoroutineThatAwaitsIt) {
  ActorSystem system(quiet());
  Gates gates;
  auto keeper = system.spawn<Keeper>(&gates);
  keeper.send<Begin>();
  gates.child_runs.wait();
  testing::eventually("the task to wait", [] { return Counted<Keeper>::live() == 1; });
  keeper.stop(Stop::kill);
  testing::eventually("the task to go", [] { return Counted<Keeper>::live() == 0; });
  gates.child_may_end.set();
  await_end(system, keeper);
}

Result<int> parse(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
    return Error(Errc::invalid_argument, "'" + text + "' is not a number");
  }
  return std::stoi(text);
}

Task<Result<int>> parse_later(std::string text) { co_return parse(text); }

// [try]
Task<Result<int>> add_texts(std::string a, std::string b) {
  WEIR_CO_TRY(first, co_await parse_later(a));
  WEIR_CO_TRY(second, co_await parse_later(b));
  co_return first + second;
}
// [/try]

TEST(CoTry, UnwrapsTheValue) {
  ActorSystem system(quiet());
  EXPECT_EQ(*system.run(add_texts("40", "2")), 42);
}

TEST(CoTry, EndsTheCoroutineWithTheError) {
  ActorSystem system(quiet());
  const Result<int> sum = system.run(add_texts("40", "two"));
  ASSERT_FALSE(sum);
  EXPECT_EQ(sum.error(), Errc::invalid_argument);
  EXPECT_EQ(sum.error().detail(), "'two' is not a number");
}

TEST(CoTry, OfAResultWithoutValue) {
  struct Steps {
    static Result<> step(int number, std::vector<int>* done) {
      if (number == 2) return Error(Errc::closed);
      done->push_back(number);
      return {};
    }
    static Task<Result<std::string>> run(std::vector<int>* done) {
      for (int i = 0; i < 5; ++i) WEIR_CO_TRY_VOID(step(i, done));
      co_return "all";
    }
  };
  ActorSystem system(quiet());
  std::vector<int> done;
  const Result<std::string> result = system.run(Steps::run(&done));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), Errc::closed);
  EXPECT_EQ(done, (std::vector{0, 1}));
}

}  // namespace
}  // namespace weir
