// Limits through the engine, on whichever store: who waits is woken in time, and nobody is held up
// by others.
#include <weir/flow/workflow/engine.hpp>

#include <chrono>
#include <memory>
#include <mutex>

#include <gtest/gtest.h>

#include <weir/tests/flow/workflow/support/engine_fixture.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::EngineTest;

struct Go {};

/// When something was taken. Usable from any thread.
class Times {
 public:
  void add(Time time) {
    const std::scoped_lock hold(lock_);
    times_.push_back(time);
  }
  std::vector<Time> all() const {
    const std::scoped_lock hold(lock_);
    return times_;
  }
  std::size_t size() const { return all().size(); }

 private:
  mutable std::mutex lock_;
  std::vector<Time> times_;
};

/// Takes one after the other, and notes when. Goes on until the engine has been closed.
class Taker final : public Actor<Go> {
 public:
  Taker(std::shared_ptr<const Engine> engine, std::shared_ptr<Times> times)
      : engine_(std::move(engine)), times_(std::move(times)) {}
  Task<> on(Go) {
    for (;;) {
      auto claimed = co_await engine_->next({.worker = "taker", .lease = 1h});
      if (!claimed) co_return;
      for (const Claimed& one : *claimed) {
        times_->add(engine_->time());
        if (!co_await engine_->complete(one.handle)) co_return;
      }
    }
  }

 private:
  std::shared_ptr<const Engine> engine_;
  std::shared_ptr<Times> times_;
};

class LimitEngineTest : public EngineTest {
 protected:
  void start_takers(int count) {
    for (int i = 0; i < count; ++i) system().spawn<Taker>(engine().share(), times).send<Go>();
  }
  void wait_for_taken(std::size_t count) {
    wait_until("takers", [&] { return times->size() >= count; });
    EXPECT_EQ(times->size(), count);
  }
  /// The others may not have been taken.
  void expect_nothing_to_take() {
    EXPECT_TRUE(claim({.worker = "w", .lease = 1h, .executions_max = 10}).empty());
  }

  const std::shared_ptr<Times> times = std::make_shared<Times>();
};

TEST_F(LimitEngineTest, WhoWaitsInARatedLaneIsWokenWhenThereIsRoom) {
  ASSERT_TRUE(run(engine().set_lane_rate("default", Rate{.count = 1, .per = 10s})));
  for (int i = 0; i < 3; ++i) create();
  start_takers(3);
  for (std::size_t taken = 1; taken <= 3; ++taken) {
    wait_for_taken(taken);
    expect_nothing_to_take();
    leap(10s);
  }
  const auto all = times->all();
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_GE(all[i] - all[i - 1], 9990ms);
    EXPECT_LE(all[i] - all[i - 1], 10100ms);
  }
}

TEST_F(LimitEngineTest, WhoWaitsForARatedKeyIsWokenAndOthersAreNotHeldUp) {
  ASSERT_TRUE(run(engine().set_limit("slow:*", std::nullopt, Rate{.count = 1, .per = 10s})));
  for (int i = 0; i < 3; ++i) create({.kind = "work", .priority = 5, .limit_keys = {"slow:a"}});
  for (int i = 0; i < 3; ++i) create({.kind = "work", .priority = 5, .limit_keys = {"slow:b"}});
  for (int i = 0; i < 4; ++i) create();
  start_takers(1);
  wait_for_taken(6);
  expect_nothing_to_take();
  leap(10s);
  wait_for_taken(8);
  expect_nothing_to_take();
  leap(10s);
  wait_for_taken(10);
}

TEST_F(LimitEngineTest, AFullKeyIsPassedOverUntilAPlaceIsFree) {
  ASSERT_TRUE(run(engine().set_limit("db", 1)));
  const ExecutionId first = create({.kind = "work", .priority = 9, .limit_keys = {"db"}});
  leap(1ms);  // the next one is later
  const ExecutionId second = create({.kind = "work", .priority = 9, .limit_keys = {"db"}});
  const ExecutionId other = create();
  const auto claimed = claim({.worker = "w", .lease = 1h, .executions_max = 10});
  ASSERT_EQ(claimed.size(), 2U);
  EXPECT_EQ(claimed[0].handle.execution, first);
  EXPECT_EQ(claimed[1].handle.execution, other);
  const QueueInfo queue = run(engine().queue("default")).value();
  ASSERT_EQ(queue.waiting.size(), 1U);
  EXPECT_EQ(queue.waiting[0].id, second);
  EXPECT_EQ(queue.waiting[0].admission.refusal, Refusal::key_full);
  EXPECT_EQ(queue.waiting[0].admission.key, "db");
  EXPECT_EQ(queue.counts[PublicState::active], 2U);
  EXPECT_EQ(queue.counts[PublicState::waiting], 1U);
  EXPECT_TRUE(queue.admission.is_given());
  start_takers(1);
  leap(10s);
  expect_nothing_to_take();
  ASSERT_TRUE(run(engine().complete(claimed[0].handle)));
  wait_for_taken(1);
  wait_until("its end", [&] { return state_of(second) == PublicState::completed; });
}

TEST_F(LimitEngineTest, ALimitForManyThatIsRaisedWakesAllOfThem) {
  ASSERT_TRUE(run(engine().set_limit("c:*", 0)));
  for (int i = 0; i < 4; ++i) {
    create({.kind = "work", .limit_keys = {"c:" + std::to_string(i)}});
  }
  start_takers(2);
  leap(10s);
  expect_nothing_to_take();
  EXPECT_EQ(times->size(), 0U);
  ASSERT_TRUE(run(engine().set_limit("c:*", 1)));
  wait_for_taken(4);
}

TEST_F(LimitEngineTest, NobodyIsHeldUpByAnyNumberUnderAFullKey) {
  ASSERT_TRUE(run(engine().set_limit("db", 0)));
  ASSERT_TRUE(run(engine().set_limit("slow", std::nullopt, Rate{.count = 1, .per = 10h})));
  NewExecution full{.kind = "work", .priority = 9, .limit_keys = {"db"}};
  NewExecution rated{.kind = "work", .priority = 8, .limit_keys = {"slow"}};
  NewGraph many{.executions = std::vector<NewExecution>(4'500, full)};
  many.executions.insert(many.executions.end(), 100, rated);
  ASSERT_TRUE(run(engine().create_graph(many)));
  const ExecutionId free = create();
  const auto claimed = claim({.worker = "w", .lease = 1h, .executions_max = 10});
  ASSERT_EQ(claimed.size(), 2U);
  EXPECT_EQ(claimed[0].priority, 8) << "the only one that the rate lets pass";
  EXPECT_EQ(claimed[1].handle.execution, free);
}

}  // namespace
}  // namespace weir::flow::workflow
