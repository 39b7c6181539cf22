#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/workflow/engine.hpp>
#include <weir/tests/flow/workflow/support/engine_fixture.hpp>

// Lanes as they are seen from outside, and as they open.
namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::EngineTest;

TEST_F(EngineTest, ALaneThatIsOpenedLittleByLittleLetsMoreAndMoreIn) {
  ASSERT_TRUE(run(engine().set_lane_state("default", LaneState::paused)));
  for (int i = 0; i < 20; ++i) create();
  EXPECT_EQ(run(engine().queue("default")).value().admission.refusal, Refusal::lane_paused);
  ASSERT_TRUE(run(engine().resume_lane("default", {.from = 2, .to = 12, .over = 100s})));
  const auto claim_all = [&] {
    return claim({.worker = "w", .lease = 1h, .executions_max = 100}).size();
  };
  EXPECT_EQ(claim_all(), 2U);
  pass(51s);
  EXPECT_EQ(claim_all(), 5U);
  crash();
  pass(20s);
  EXPECT_EQ(claim_all(), 2U);
  pass(40s);
  EXPECT_EQ(claim_all(), 11U);
}

TEST_F(EngineTest, QueuesAreSeenInTheOrderInWhichTheyAreClaimed) {
  std::vector<ExecutionId> expected(6);
  for (const int i : {3, 1, 5, 0, 2, 4}) {
    expected[static_cast<std::size_t>(i)] =
        create({.kind = "work",
                .priority = 10 - i,
                .capabilities =
                    i % 2 == 0 ? std::vector<std::string>{"gpu"} : std::vector<std::string>{}});
  }
  create({.kind = "work", .not_before = time() + 60s});
  create({.kind = "work", .lane = "other"});
  const QueueInfo queue = run(engine().queue("default", 4)).value();
  ASSERT_EQ(queue.waiting.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(queue.waiting[i].id, expected[i]);
  EXPECT_EQ(queue.counts[PublicState::waiting], 6U);
  EXPECT_EQ(queue.counts[PublicState::delayed], 1U);
  EXPECT_EQ(run(engine().queue("nobody")).value().counts.total(), 0U);
}

}  // namespace
}  // namespace weir::flow::workflow
