// What a schedule does on every store when it is time and the execution of the time before has not
// ended.
#include <atomic>
#include <chrono>
#include <memory>

#include <gtest/gtest.h>

#include <weir/flow/workflow/schedules.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/tests/flow/workflow/support/worker_fixture.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::WorkerTest;

/// Its jobs end when they are told to.
class OverlapTest : public WorkerTest {
 protected:
  void TearDown() override {
    gate_->publish(1'000);
    if (!IsSkipped()) stop_worker();
  }

  void start_schedule_of(Overlap overlap) {
    start({.lease = 1h, .memory_wait_max = Duration::zero()}, [this](Worker& worker) {
      worker.on("job", [this](std::string) { return wait(gate_, ++begun_); });
    });
    leap(std::chrono::ceil<std::chrono::minutes>(time()) - time());
    begin_ = time();
    ASSERT_TRUE(run(start_schedule(
        &engine(), {.name = "s", .cron = "* * * * *", .kind = "job", .overlap = overlap})));
    look_a_little();
  }
  /// Up to so many minutes after the beginning.
  void pass_to(std::int64_t minute) {
    while (time() < begin_ + minute * 1min) {
      leap(begin_ + ((time() - begin_) / 1min + 1) * 1min - time());
      look_a_little();
    }
  }
  /// Whatever can happen at this time has happened then.
  void look_a_little() {
    for (int i = 0; i < 20; ++i) give_way();
  }
  void wait_for(std::uint64_t count) {
    const Time before = time();
    weir::testing::eventually("the next job", [&] {
      give_way();
      return begun_ >= count;
    });
    look_a_little();
    EXPECT_EQ(begun_, count);
    EXPECT_LT(time() - before, 30s) << "it began at another time of the schedule";
  }
  void end_job(std::uint64_t number) {
    gate_->publish(number);
    look_a_little();
  }
  std::uint64_t begun() const { return begun_; }

 private:
  static Task<> wait(std::shared_ptr<SequenceBarrier> gate, std::uint64_t number) {
    static_cast<void>(co_await gate->wait_until(number));
  }

  const std::shared_ptr<SequenceBarrier> gate_ = std::make_shared<SequenceBarrier>();
  std::atomic<std::uint64_t> begun_ = 0;
  Time begin_;
};

TEST_F(OverlapTest, SkippingWaitsForTheNextTime) {
  start_schedule_of(Overlap::skip);
  pass_to(1);
  wait_for(1);
  pass_to(4);
  EXPECT_EQ(begun(), 1U);
  end_job(1);
  EXPECT_EQ(begun(), 1U) << "not before its time";
  pass_to(5);
  wait_for(2);
}

TEST_F(OverlapTest, OneIsQueuedAndBeginsAtTheEndOfTheOther) {
  start_schedule_of(Overlap::queue_one);
  pass_to(1);
  wait_for(1);
  pass_to(4);
  EXPECT_EQ(begun(), 1U);
  end_job(1);
  wait_for(2);  // at once, and the times of minutes 3 and 4 are dropped
  end_job(2);
  EXPECT_EQ(begun(), 2U) << "what was dropped is not made up for";
  pass_to(5);
  wait_for(3);
}

TEST_F(OverlapTest, AllowedOnesRunBesideEachOther) {
  start_schedule_of(Overlap::allow);
  for (std::int64_t minute = 1; minute <= 3; ++minute) {
    pass_to(minute);
    wait_for(static_cast<std::uint64_t>(minute));
  }
}

TEST_F(OverlapTest, ThePreviousOneIsCancelledIfThatIsAskedFor) {
  start_schedule_of(Overlap::cancel_previous);
  for (std::int64_t minute = 1; minute <= 3; ++minute) {
    pass_to(minute);
    wait_for(static_cast<std::uint64_t>(minute));
  }
  int cancelled = 0;
  for (const auto& one : run(engine().list_executions({})).value().items) {
    cancelled += one.state == PublicState::cancelled ? 1 : 0;
  }
  EXPECT_EQ(cancelled, 2);
}

}  // namespace
}  // namespace weir::flow::workflow
