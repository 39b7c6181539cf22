#include <weir/flow/workflow/schedules.hpp>

#include <chrono>

#include <gtest/gtest.h>

#include <weir/flow/workflow/cron.hpp>
#include <weir/runtime/sleep.hpp>
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

class ScheduleTest : public WorkerTest {
 protected:
  void start_work(Duration takes, const std::string& kind = "job") {
    start({.lease = 30s}, [this, takes, kind](Worker& worker) {
      struct Work {
        static Task<> slowly(std::vector<std::string>* log, Duration takes) {
          log->push_back("begin");
          static_cast<void>(co_await sleep_for(takes));
          log->push_back("end");
        }
      };
      worker.on(kind, [this, takes](std::string) { return Work::slowly(&log, takes); });
    });
  }
  ExecutionId schedule(Overlap overlap, std::string cron = "* * * * *") {
    auto made = run(start_schedule(
        &engine(), {.name = "s", .cron = std::move(cron), .kind = "job", .overlap = overlap}));
    EXPECT_TRUE(made) << made.error().message();
    return made->id;
  }
  std::size_t begun() const {
    return static_cast<std::size_t>(std::count(log.begin(), log.end(), "begin"));
  }
  std::size_t ended() const { return log.size() - begun(); }

  std::vector<std::string> log;
};

TEST_F(ScheduleTest, BeginsOneEachTime) {
  start_work(1s);
  const ExecutionId id = schedule(Overlap::skip);
  pass(5min + 30s);
  EXPECT_EQ(begun(), 5U);
  EXPECT_EQ(schedule(Overlap::skip), id) << "there is one of each name";
  pass(1min);
  EXPECT_EQ(begun(), 6U);
  EXPECT_LE(run(engine().journal(id)).value().entries.size(), 6U) << "its journal does not grow";
  ASSERT_EQ(run(engine().cancel(id)), true);
  pass(5min);
  EXPECT_EQ(begun(), 6U);
  EXPECT_NE(schedule(Overlap::skip), id) << "a name can be used again";
  pass(1min);
  EXPECT_EQ(begun(), 7U);
}

// [schedule]
Task<Result<Created>> report_each_night(const Engine* engine) {
  return start_schedule(
      engine, {.name = "nightly", .cron = "0 3 * * *", .kind = "report", .overlap = Overlap::skip});
}
// [/schedule]

TEST_F(ScheduleTest, BeginsAtTheTimeOfDayThatItNames) {
  start_work(1s, "report");
  ASSERT_TRUE(run(report_each_night(&engine())));
  pass(std::chrono::ceil<std::chrono::days>(time()) - time());
  const std::size_t before = begun();
  pass(2h + 59min);
  EXPECT_EQ(begun(), before);
  pass(2min);
  EXPECT_EQ(begun(), before + 1);
}

TEST_F(ScheduleTest, OverlapIsDealtWithAsItsPolicySays) {
  struct Expected {
    Overlap overlap;
    std::size_t begun;
    std::size_t ended;
  };
  // Each takes two and a half of the ten minutes.
  for (const Expected& one :
       {Expected{Overlap::skip, 4, 3}, Expected{Overlap::queue_one, 4, 3},
        Expected{Overlap::allow, 10, 7}, Expected{Overlap::cancel_previous, 10, 0}}) {
    log.clear();
    start_work(150s);
    const ExecutionId id = schedule(one.overlap);
    // From the beginning of a minute on.
    pass(10min + 20s);
    EXPECT_EQ(begun(), one.begun) << to_string(one.overlap);
    EXPECT_EQ(ended(), one.ended) << to_string(one.overlap);
    ASSERT_EQ(run(engine().cancel(id)), true);
    pass(10min);
    stop_worker();
    pass(std::chrono::ceil<std::chrono::minutes>(time()) - time());
  }
}

TEST_F(ScheduleTest, GoesOnAfterARestartAndMakesUpForOne) {
  start_work(1s);
  const ExecutionId id = schedule(Overlap::skip);
  pass(2min + 30s);
  EXPECT_EQ(begun(), 2U);
  stop_worker();
  pass(10min);
  EXPECT_EQ(begun(), 2U);
  start_work(1s);
  pass(20s);
  EXPECT_EQ(begun(), 3U);
  crash_all();
  pass(2min);
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
