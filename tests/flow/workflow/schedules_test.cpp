#include <weir/flow/workflow/schedules.hpp>

#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/workflow/cron.hpp>
#include <weir/tests/flow/workflow/support/worker_fixture.hpp>

namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::WorkerTest;

Time at(int year, unsigned month, unsigned day, int hour, int minute) {
  using namespace std::chrono;
  return sys_days(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day)) +
         hours(hour) + minutes(minute);
}

struct CronCase {
  const char* text;
  Time after;
  Time next;
};

TEST(Cron, ComesNextWhereItSays) {
  const Time from = at(2026, 11, 17, 14, 32);  // a Tuesday
  for (const CronCase& one : {
           CronCase{"* * * * *", from, at(2026, 11, 17, 14, 33)},
           CronCase{"* * * * *", from + 59s, at(2026, 11, 17, 14, 33)},
           CronCase{"*/15 * * * *", from, at(2026, 11, 17, 14, 45)},
           CronCase{"5/20 * * * *", from, at(2026, 11, 17, 14, 45)},
           CronCase{"0 3 * * *", from, at(2026, 11, 18, 3, 0)},
           CronCase{"32 14 * * *", from, at(2026, 11, 18, 14, 32)},
           CronCase{"0 9-17/4 * * mon-fri", from, at(2026, 11, 17, 17, 0)},
           CronCase{"0 0 * * sat,7", from, at(2026, 11, 21, 0, 0)},
           CronCase{"0 0 31 * *", from, at(2026, 12, 31, 0, 0)},
           CronCase{"0 0 29 feb *", from, at(2028, 2, 29, 0, 0)},
           CronCase{"0 0 1 jan *", from, at(2027, 1, 1, 0, 0)},
           CronCase{"0 0 13 * fri", from, at(2026, 11, 20, 0, 0)},
           CronCase{"  59   23  31  12  * ", at(2026, 12, 31, 23, 59), at(2027, 12, 31, 23, 59)},
       }) {
    EXPECT_EQ(Cron::parse(one.text).value().next_after(one.after), one.next) << one.text;
  }
  EXPECT_EQ(Cron::parse("0 0 30 feb *").value().next_after(from), std::nullopt);
}

TEST(Cron, AgreesWithLookingAtEachMinute) {
  const auto cron = Cron::parse("7,31 */5 * * *").value();
  Time expected = at(2026, 2, 27, 0, 0);
  for (int i = 0; i < 200; ++i) {
    const Time next = cron.next_after(expected).value();
    for (expected += 1min;; expected += 1min) {
      const auto minutes = std::chrono::floor<std::chrono::minutes>(expected.time_since_epoch());
      const auto minute = minutes.count() % 60;
      const auto hour = minutes.count() / 60 % 24;
      if ((minute == 7 || minute == 31) && hour % 5 == 0) break;
    }
    ASSERT_EQ(next, expected);
  }
}

TEST(Cron, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {"", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *",
                           "* * * 13 *", "* * * * 8", "5-1 * * * *", "*/0 * * * *", "1-2-3 * * * *",
                           "a * * * *", "1, * * * *", "-1 * * * *", "*/2/2 * * * *"}) {
    const auto parsed = Cron::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error(), Errc::invalid_argument);
  }
  EXPECT_NE(Cron::parse("61 * * * *").error().detail().find("'61'"), std::string::npos);
}

/// What is begun again and again, and takes a time of the store.
class ScheduleTest : public WorkerTest {
 protected:
  void start_work(Duration takes, const std::string& kind = "job") {
    WorkerOptions options = testing::patient_options();
    options.lease = 1h;
    start(options, [this, takes, kind](Worker& worker) {
      worker.on(kind, [this, takes](WorkflowContext ctx, std::string) {
        return work(ctx, takes, &begins, &ends);
      });
    });
  }
  ExecutionId schedule(Overlap overlap, std::string cron = "* * * * *") {
    overlap_ = overlap;
    auto made = run(start_schedule(
        &engine(), {.name = "s", .cron = std::move(cron), .kind = "job", .overlap = overlap}));
    EXPECT_TRUE(made) << made.error().message();
    return made->id;
  }
  /// Half a minute at a time, and each time until nothing can be done without more of it.
  void pass_working(const ExecutionId& id, Duration duration) {
    const Time until = time() + std::chrono::floor<Time::duration>(duration);
    let_all_work(id);
    while (time() < until) {
      using Halves = std::chrono::duration<std::int64_t, std::ratio<30>>;
      const Time next = std::chrono::floor<Halves>(time()) + Halves(1);
      leap(std::min(next, until) - time());
      let_all_work(id);
    }
  }
  void let_all_work(const ExecutionId& id) {
    wait_until("all of them", [&] {
      const EngineReport present = run(engine().report()).value();
      const ExecutionInfo info = describe(id);
      // Who waits for the one before stays active, as long as that one sleeps.
      const bool waits = overlap_ == Overlap::queue_one && present.delayed == 1 &&
                         info.state == PublicState::active && !names(id).empty() &&
                         names(id).back() == "step has_ended";
      return present.waiting == 0 && present.active == (waits ? 1U : 0U);
    });
  }
  std::size_t begun() const { return begins.size(); }
  std::size_t ended() const { return ends.size(); }
  Time next_minute() {
    const auto minute = std::chrono::ceil<std::chrono::minutes>(time());
    leap(minute - time());
    return minute;
  }

  std::vector<Time> begins;
  std::vector<Time> ends;

 private:
  static Task<> work(WorkflowContext ctx, Duration takes, std::vector<Time>* begins,
                     std::vector<Time>* ends) {
    co_await ctx.step("begin", [begins, at = ctx.now()] { begins->push_back(at); });
    co_await ctx.sleep(takes);
    co_await ctx.step("end", [ends, at = ctx.now()] { ends->push_back(at); });
  }

  Overlap overlap_ = Overlap::skip;
};

TEST_F(ScheduleTest, BeginsOneEachTime) {
  start_work(1s);
  const ExecutionId id = schedule(Overlap::skip);
  pass_working(id, 2min + 30s);
  EXPECT_EQ(begun(), 2U);
  EXPECT_EQ(schedule(Overlap::skip), id) << "there is one of each name";
  pass_working(id, 1min);
  EXPECT_EQ(begun(), 3U);
  EXPECT_LE(run(engine().journal(id)).value().entries.size(), 6U) << "its journal does not grow";
  ASSERT_EQ(run(engine().cancel(id)), true);
  pass_working(id, 2min);
  EXPECT_EQ(begun(), 3U);
  const ExecutionId again = schedule(Overlap::skip);
  EXPECT_NE(again, id) << "a name can be used again";
  pass_working(again, 1min);
  EXPECT_EQ(begun(), 4U);
}

// [schedule]
Task<Result<Created>> report_each_night(const Engine* engine) {
  return start_schedule(
      engine, {.name = "nightly", .cron = "0 3 * * *", .kind = "report", .overlap = Overlap::skip});
}
// [/schedule]

TEST_F(ScheduleTest, BeginsAtTheTimeOfDayThatItNames) {
  start_work(1s, "report");
  const ExecutionId id = run(report_each_night(&engine())).value().id;
  let_all_work(id);
  leap(std::chrono::ceil<std::chrono::days>(time()) - time());
  let_all_work(id);
  const std::size_t before = begun();
  leap(2h + 59min);
  let_all_work(id);
  EXPECT_EQ(begun(), before);
  leap(2min);
  let_all_work(id);
  EXPECT_EQ(begun(), before + 1);
}

TEST_F(ScheduleTest, OverlapIsDealtWithAsItsPolicySays) {
  using Seconds = std::vector<std::int64_t>;
  struct Expected {
    Overlap overlap;
    Seconds begun;
    std::size_t ended;
  };
  // Each takes two and a half of the ten minutes.
  const Seconds each = {60, 120, 180, 240, 300, 360, 420, 480, 540, 600};
  for (const Expected& one :
       {Expected{Overlap::skip, {60, 240, 420, 600}, 3},
        Expected{Overlap::queue_one, {60, 210, 360, 510}, 3}, Expected{Overlap::allow, each, 7},
        Expected{Overlap::cancel_previous, each, 0}}) {
    SCOPED_TRACE(to_string(one.overlap));
    begins.clear();
    ends.clear();
    start_work(150s);
    const Time begin = next_minute();
    const ExecutionId id = schedule(one.overlap);
    pass_working(id, begin + 10min + 20s - time());
    Seconds begun_at;
    for (const Time at : begins) begun_at.push_back((at - begin) / 30s * 30);
    EXPECT_EQ(begun_at, one.begun);
    EXPECT_EQ(ended(), one.ended);
    ASSERT_EQ(run(engine().cancel(id)), true);
    leap(3min);
    let_all_work(id);
    stop_worker();
  }
}

TEST_F(ScheduleTest, GoesOnAfterARestartAndMakesUpForOne) {
  start_work(1s);
  const ExecutionId id = schedule(Overlap::skip);
  pass_working(id, 2min + 30s);
  EXPECT_EQ(begun(), 2U);
  stop_worker();
  leap(10min);
  EXPECT_EQ(begun(), 2U);
  start_work(1s);
  pass_working(id, 20s);
  EXPECT_EQ(begun(), 3U);
  crash_all();
  pass_working(id, 2min);
  EXPECT_EQ(begun(), 5U);
  EXPECT_FALSE(describe(id).execution.has_ended());
}

TEST_F(ScheduleTest, RefusesWhatNeverComes) {
  EXPECT_EQ(
      run(start_schedule(&engine(), {.name = "n", .cron = "0 0 30 2 *", .kind = "x"})).error(),
      Errc::invalid_argument);
  EXPECT_EQ(run(start_schedule(&engine(), {.name = "n", .cron = "nonsense", .kind = "x"})).error(),
            Errc::invalid_argument);
  EXPECT_EQ(
      run(start_schedule(
              &engine(),
              {.name = "n", .cron = "* * * * *", .kind = "x", .overlap = static_cast<Overlap>(9)}))
          .error(),
      Errc::unsupported_policy);
}

}  // namespace
}  // namespace weir::flow::workflow
