// Schedules on every store: each time has its execution, at that time and once, wherever it
// crashes.
#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/workflow/schedules.hpp>
#include <weir/tests/flow/workflow/support/worker_fixture.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::WorkerTest;

class ScheduleCrashTest : public WorkerTest {
 protected:
  /// Nothing waits by a clock that tests do not turn.
  void start_worker() {
    start({.lease = 10s, .memory_wait_max = Duration::zero()},
          [](Worker& worker) { worker.on("job", [](std::string) {}); });
  }
  Result<Created> schedule(const std::string& name) {
    return run(start_schedule(
        &engine(), {.name = name, .cron = "* * * * *", .kind = "job", .overlap = Overlap::allow}));
  }
  /// Until it waits for its next time, or nothing more can be committed.
  void let_it_work(const ExecutionId& id) {
    weir::testing::eventually("the schedule", [&] {
      give_way();
      const auto info = run(engine().describe(id));
      if (!info || has_failed()) return true;
      const Execution& execution = (*info)->execution;
      return execution.public_state() == PublicState::delayed && execution.eligible_at > time();
    });
  }
  /// The minutes, after one of them, in which executions were begun, in order.
  std::vector<std::int64_t> begun_since(Time begin) {
    std::vector<std::int64_t> minutes;
    for (std::optional<ExecutionId> after;;) {
      const auto page = run(engine().list_executions({}, after)).value();
      for (const ExecutionSummary& one : page.items) {
        const ExecutionInfo info = describe(one.id);
        if (info.spec.kind != "job" || info.spec.created_at <= begin) continue;
        minutes.push_back((info.spec.created_at - begin) / 1min);
      }
      if (!page.next) break;
      after = page.next;
    }
    std::ranges::sort(minutes);
    return minutes;
  }
  Time next_minute() {
    const auto minute = std::chrono::ceil<std::chrono::minutes>(time());
    leap(minute - time());
    return minute;
  }
};

TEST_F(ScheduleCrashTest, BeginsEachWhenItsTimeHasCome) {
  start_worker();
  const Time begin = next_minute();
  const ExecutionId id = schedule("s").value().id;
  let_it_work(id);
  for (std::int64_t minute = 1; minute <= 3; ++minute) {
    pass(begin + minute * 1min - 1s - time());
    let_it_work(id);
    ASSERT_EQ(begun_since(begin).size(), static_cast<std::size_t>(minute - 1)) << "too early";
    pass(begin + minute * 1min - time());
    let_it_work(id);
  }
  EXPECT_EQ(begun_since(begin), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_LT(time(), begin + 3min + 1s);
}

TEST_F(ScheduleCrashTest, EachTimeHasItsExecutionOnceWhereverItCrashes) {
  bool is_through = false;
  for (std::uint64_t commit = 1; !is_through; ++commit) {
    ASSERT_LT(commit, 100U);
    start_worker();
    const Time begin = next_minute();
    const std::string name = "s" + std::to_string(commit);
    fail_commit(commit);
    auto begun = schedule(name);
    if (begun) let_it_work(begun->id);
    leap(begin + 1min - time());
    if (begun) let_it_work(begun->id);
    is_through = !has_failed();
    crash_after_failure();
    begun = schedule(name);
    ASSERT_TRUE(begun) << commit << ": " << begun.error().message();
    leap(begin + 75s - time());
    let_it_work(begun->id);
    leap(begin + 2min - time());
    let_it_work(begun->id);
    // One that was not there has nothing to make up for.
    std::vector<std::int64_t> expected = {2};
    if (begun->is_duplicate) expected.insert(expected.begin(), 1);
    EXPECT_EQ(begun_since(begin), expected) << commit;
    ASSERT_EQ(run(engine().cancel(begun->id)), true);
    stop_worker();
  }
}

class ScheduleStartTest : public ScheduleCrashTest {
 protected:
  ::testing::AssertionResult refused(const Schedule& schedule, Errc code, std::string_view what) {
    const auto made = run(start_schedule(&engine(), schedule));
    if (made) return ::testing::AssertionFailure() << "it was started";
    if (made.error() == code && made.error().detail().find(what) != std::string::npos) {
      return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << made.error().message();
  }
};

TEST_F(ScheduleStartTest, RefusesWhatItCouldNotBegin) {
  const Schedule good{.name = "s", .cron = "* * * * *", .kind = "job"};
  const auto spoilt = [&](auto spoil) {
    Schedule schedule = good;
    spoil(schedule);
    return schedule;
  };
  const std::string long_name(name_bytes_max + 1, 'n');
  const Errc invalid = Errc::invalid_argument;
  EXPECT_TRUE(refused(spoilt([](auto& s) { s.name = ""; }), invalid, "schedule is empty"));
  EXPECT_TRUE(refused(spoilt([](auto& s) { s.kind = ""; }), invalid, "kind is empty"));
  EXPECT_TRUE(refused(spoilt([](auto& s) { s.kind = "weir.undo"; }), invalid, "'weir.undo'"));
  EXPECT_TRUE(refused(spoilt([&](auto& s) { s.kind = long_name; }), Errc::too_large, "kind has"));
  EXPECT_TRUE(refused(spoilt([](auto& s) { s.lane = ""; }), invalid, "lane is empty"));
  EXPECT_TRUE(refused(spoilt([](auto& s) { s.payload.assign(payload_bytes_max + 1, 'p'); }),
                      Errc::too_large, "payload has"));
  EXPECT_TRUE(run(engine().list_executions({})).value().items.empty());
}

TEST_F(ScheduleStartTest, AnotherOneOfTheSameNameIsRefusedWithWhatDiffers) {
  const Schedule first{.name = "s", .cron = "0 3 * * *", .kind = "job", .payload = "a"};
  const ExecutionId id = run(start_schedule(&engine(), first)).value().id;
  const auto same = run(start_schedule(&engine(), first)).value();
  EXPECT_EQ(same.id, id);
  EXPECT_TRUE(same.is_duplicate);
  const auto other = [&](auto change) {
    Schedule schedule = first;
    change(schedule);
    return schedule;
  };
  const Errc exists = Errc::already_exists;
  EXPECT_TRUE(refused(other([](auto& s) { s.cron = "0 4 * * *"; }), exists, "cron '0 3 * * *'"));
  EXPECT_TRUE(refused(other([](auto& s) { s.kind = "toil"; }), exists, "kind 'job'"));
  EXPECT_TRUE(refused(other([](auto& s) { s.payload = "b"; }), exists, "another payload"));
  EXPECT_TRUE(refused(other([](auto& s) { s.overlap = Overlap::allow; }), exists, "overlap skip"));
  ASSERT_EQ(run(engine().cancel(id)), true);
  EXPECT_TRUE(run(start_schedule(&engine(), other([](auto& s) { s.payload = "b"; }))));
}

}  // namespace
}  // namespace weir::flow::workflow
