#include <weir/flow/workflow/engine.hpp>

#include <chrono>

#include <gtest/gtest.h>

#include <weir/tests/flow/workflow/support/engine_fixture.hpp>

// Limits through the engine: who waits is woken in time, and nobody is held up by others.
namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::EngineTest;

struct Go {};

/// Takes one after the other, and notes when.
class Taker final : public Actor<Go> {
 public:
  Taker(const Engine* engine, const storage::Store* store, std::vector<Time>* times)
      : engine_(engine), store_(store), times_(times) {}
  Task<> on(Go) {
    for (;;) {
      auto claimed = co_await engine_->next({.worker = "taker", .lease = 1h});
      if (!claimed) co_return;
      for (const Claimed& one : *claimed) {
        times_->push_back(store_->time());
        if (!co_await engine_->complete(one.handle)) co_return;
      }
    }
  }

 private:
  const Engine* engine_;
  const storage::Store* store_;
  std::vector<Time>* times_;
};

TEST_F(EngineTest, WhoWaitsInARatedLaneIsWokenWhenThereIsRoom) {
  ASSERT_TRUE(run(engine().set_lane_rate("default", Rate{.count = 1, .per = 10s})));
  for (int i = 0; i < 5; ++i) create();
  std::vector<Time> times;
  for (int i = 0; i < 3; ++i) {
    simulation().system().spawn<Taker>(&engine(), &store(), &times).send<Go>();
  }
  pass(41s);
  ASSERT_EQ(times.size(), 5U);
  for (std::size_t i = 1; i < times.size(); ++i) {
    EXPECT_GE(times[i] - times[i - 1], 9990ms);
    EXPECT_LE(times[i] - times[i - 1], 10100ms);
  }
}

TEST_F(EngineTest, WhoWaitsForARatedKeyIsWokenAndOthersAreNotHeldUp) {
  ASSERT_TRUE(run(engine().set_limit("slow:*", std::nullopt, Rate{.count = 1, .per = 10s})));
  for (int i = 0; i < 3; ++i) create({.kind = "work", .priority = 5, .limit_keys = {"slow:a"}});
  for (int i = 0; i < 3; ++i) create({.kind = "work", .priority = 5, .limit_keys = {"slow:b"}});
  for (int i = 0; i < 4; ++i) create();
  std::vector<Time> times;
  simulation().system().spawn<Taker>(&engine(), &store(), &times).send<Go>();
  pass(1s);
  EXPECT_EQ(times.size(), 6U);
  pass(10s);
  EXPECT_EQ(times.size(), 8U);
  pass(10s);
  EXPECT_EQ(times.size(), 10U);
}

TEST_F(EngineTest, AFullKeyIsPassedOverUntilAPlaceIsFree) {
  ASSERT_TRUE(run(engine().set_limit("db", 1)));
  const ExecutionId first = create({.kind = "work", .priority = 9, .limit_keys = {"db"}});
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
  std::vector<Time> times;
  simulation().system().spawn<Taker>(&engine(), &store(), &times).send<Go>();
  pass(10s);
  EXPECT_TRUE(times.empty());
  ASSERT_TRUE(run(engine().complete(claimed[0].handle)));
  pass(1s);
  EXPECT_EQ(times.size(), 1U);
  EXPECT_EQ(state_of(second), PublicState::completed);
}

TEST_F(EngineTest, ALimitForManyThatIsRaisedWakesAllOfThem) {
  ASSERT_TRUE(run(engine().set_limit("c:*", 0)));
  for (int i = 0; i < 4; ++i) {
    create({.kind = "work", .limit_keys = {"c:" + std::to_string(i)}});
  }
  std::vector<Time> times;
  for (int i = 0; i < 2; ++i) {
    simulation().system().spawn<Taker>(&engine(), &store(), &times).send<Go>();
  }
  pass(10s);
  EXPECT_TRUE(times.empty());
  ASSERT_TRUE(run(engine().set_limit("c:*", 1)));
  pass(1s);
  EXPECT_EQ(times.size(), 4U);
}

}  // namespace
}  // namespace weir::flow::workflow
