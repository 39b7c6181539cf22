// A worker looks after the timers of a neighbour, which may be stuck in a long handler.

#include <weir/runtime/internal/timer_watch.hpp>

#include <chrono>

#include <gtest/gtest.h>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/stealing.hpp>

#include <weir/tests/runtime/support.hpp>

namespace weir::internal {
namespace {

using namespace std::chrono_literals;
using testing::Event;
using testing::quiet;

constexpr std::int64_t minute_ns = 60'000'000'000;
// How much later than its neighbour a sleeper looks at the neighbour's timers.
constexpr std::int64_t watch_delay_ns = 2'000'000;

struct Bell : TimerEntry {
  Bell() {
    fire = [](TimerEntry* entry) noexcept {
      auto* self = static_cast<Bell*>(entry);
      self->ringer = this_worker;
      self->rang.set();
    };
  }
  ~Bell() {
    if (queue) queue->cancel(*this);
  }
  Worker* ringer = nullptr;
  Event rang;
};

/// Workers without threads: the test does what these would, one step at a time.
class TimerWatch : public ::testing::Test {
 protected:
  explicit TimerWatch(unsigned workers = 3) : core(quiet(workers)), now(core.now_ns()) {}

  Worker& worker(unsigned index) { return *core.workers[index]; }
  std::int64_t fall_asleep(Worker& sleeper) {
    sleeper.parked.store(1);
    core.sleepers.fetch_add(1);
    return next_timer_due(sleeper, now);
  }
  template <class Step>
  void as(Worker& acting, Step step) {
    this_worker = &acting;
    step();
    this_worker = nullptr;
  }
  bool sleeps(unsigned index) { return worker(index).parked.load() == 1; }

  Core core;
  const std::int64_t now;
};

class TimerWatchOfOne : public TimerWatch {
 protected:
  TimerWatchOfOne() : TimerWatch(1) {}
};

TEST_F(TimerWatch, LooksAtTheTimersOfANeighbourALittleLater) {
  Bell bell;
  EXPECT_EQ(next_timer_due(worker(0), now), TimerWheel::never);
  worker(1).timers.arm(bell, now + minute_ns);
  const std::int64_t theirs = worker(1).timers.next_due();
  EXPECT_EQ(next_timer_due(worker(0), now), theirs + watch_delay_ns);
  EXPECT_EQ(worker(1).watched_until.load(), theirs + watch_delay_ns);
  EXPECT_EQ(next_timer_due(worker(1), now), theirs) << "its own, when they are due";
  EXPECT_EQ(next_timer_due(worker(2), now), TimerWheel::never) << "it watches another one";
}

TEST_F(TimerWatch, LooksAtItsOwnTimersIfTheyAreSooner) {
  Bell own;
  Bell other;
  worker(1).timers.arm(other, now + 2 * minute_ns);
  worker(0).timers.arm(own, now + minute_ns / 2);
  EXPECT_EQ(next_timer_due(worker(0), now), worker(0).timers.next_due());
}

TEST_F(TimerWatch, ATimerThatIsArmedWakesTheNeighbourThatWouldSleepTooLong) {
  Bell bell;
  fall_asleep(worker(0));
  fall_asleep(worker(2));
  as(worker(1), [&] { core.arm(bell, now + minute_ns); });
  EXPECT_FALSE(sleeps(0));
  EXPECT_TRUE(sleeps(2));
  EXPECT_EQ(core.sleepers.load(), 1);
}

TEST_F(TimerWatch, ATimerThatIsArmedLazilyDoesSoToo) {
  Bell bell;
  fall_asleep(worker(0));
  as(worker(1), [&] { core.arm_lazily(bell, minute_ns); });
  EXPECT_FALSE(sleeps(0));
}

TEST_F(TimerWatch, ATimerThatIsDueLaterWakesNobody) {
  Bell soon;
  Bell late;
  Bell lazy;
  worker(1).timers.arm(soon, now + minute_ns);
  const std::int64_t until = fall_asleep(worker(0));
  as(worker(1), [&] {
    core.arm(late, until - watch_delay_ns);
    core.arm_lazily(lazy, 2 * minute_ns);
  });
  EXPECT_TRUE(sleeps(0));
}

TEST_F(TimerWatch, EndsWhenTheSleeperWakes) {
  Bell bell;
  fall_asleep(worker(0));
  end_timer_watch(worker(0));
  as(worker(1), [&] { core.arm(bell, now + minute_ns); });
  EXPECT_TRUE(sleeps(0)) << "it will see the timer before it sleeps again";
}

TEST_F(TimerWatch, FiresWhatIsDueOfOthers) {
  Bell own;
  Bell due_bells[2];
  Bell later;
  worker(0).timers.arm(own, now - minute_ns);
  worker(1).timers.arm(due_bells[0], now - minute_ns);
  worker(2).timers.arm(due_bells[1], now - minute_ns);
  worker(2).timers.arm(later, now + 60 * minute_ns);
  // What is late fires with the next tick of the wheel.
  testing::eventually("the next tick", [&] {
    as(worker(0), [&] { advance_timers_of_stuck(worker(0)); });
    return due_bells[0].rang.is_set() && due_bells[1].rang.is_set();
  });
  EXPECT_EQ(due_bells[0].ringer, &worker(0));
  EXPECT_FALSE(own.rang.is_set());
  EXPECT_FALSE(later.rang.is_set());
}

TEST_F(TimerWatch, FiresWhatIsDueOfAStuckWorkerWhateverTheOthersDo) {
  Bell of_busy;
  Bell of_stuck;
  worker(1).timers.arm(of_busy, now - minute_ns);
  worker(2).timers.arm(of_stuck, now - minute_ns);
  testing::eventually("the next tick", [&] {
    look_at_others(worker(0));
    worker(1).activations.fetch_add(1);
    as(worker(0), [&] { advance_timers_of_stuck(worker(0)); });
    return of_stuck.rang.is_set();
  });
  EXPECT_FALSE(of_busy.rang.is_set()) << "it comes to them itself";
}

TEST_F(TimerWatch, TakesWhatWaitsBehindAStuckWorkerWhateverTheOthersDo) {
  Cell behind_busy;
  Cell behind_stuck;
  worker(1).slot = &behind_busy;
  worker(2).slot = &behind_stuck;
  look_at_others(worker(0));
  worker(1).activations.fetch_add(1);
  EXPECT_EQ(steal_stuck_slot(worker(0)), &behind_stuck);
  EXPECT_EQ(steal_stuck_slot(worker(0)), nullptr);
  worker(1).slot = nullptr;
}

TEST_F(TimerWatch, ABusyWorkerLooksMoreOftenWhenItsActivationsTakeLong) {
  Worker& busy = worker(0);
  busy.timer_check_every = 64;
  busy.timers_checked = now - minute_ns;
  check_timers(busy);
  EXPECT_EQ(busy.timer_check_every, 16u);
  EXPECT_GE(busy.timers_checked, now);
  busy.timer_check_every = 2;
  busy.timers_checked = now - minute_ns;
  check_timers(busy);
  EXPECT_EQ(busy.timer_check_every, 1u);
  for (const std::uint32_t every : {2u, 4u, 8u, 16u, 32u, 64u, 64u}) {
    busy.timers_checked = now + 60 * minute_ns;  // a moment ago, however slow the machine
    check_timers(busy);
    EXPECT_EQ(busy.timer_check_every, every);
  }
}

TEST_F(TimerWatchOfOne, HasNobodyToLookAfter) {
  Bell bell;
  EXPECT_EQ(next_timer_due(worker(0), now), TimerWheel::never);
  end_timer_watch(worker(0));
  as(worker(0), [&] { core.arm(bell, now + minute_ns); });
  EXPECT_EQ(next_timer_due(worker(0), now), worker(0).timers.next_due());
}

struct Arm {
  Duration delay;
};
struct Hold {};
struct ArmAndHold {
  Duration delay;
};

/// Holds its thread until the bell has rung.
class Stuck final : public Actor<Arm, Hold, ArmAndHold> {
 public:
  Stuck(Bell* bell, Event* done) : bell_(bell), done_(done) {}
  void on(Arm message) {
    Core& core = this_worker->core;
    core.arm(*bell_, saturating_sum(core.now_ns(), message.delay.count()));
  }
  void on(Hold) {
    bell_->rang.wait();
    EXPECT_NE(bell_->ringer, nullptr);
    done_->set();
  }
  void on(ArmAndHold message) {
    on(Arm{message.delay});
    bell_->rang.wait();
    EXPECT_NE(bell_->ringer, this_worker);
    done_->set();
  }

 private:
  Bell* bell_;
  Event* done_;
};

void await_idle(ActorSystem& system) {
  testing::eventually("the system to be idle", [&] {
    return system.core().sleepers.load() == 2 && system.core().sentinel.load() < 0;
  });
}

// Both threads sleep, and nothing tells the one that another one is stuck.
TEST(TimerWatchOfThreads, ATimerArmedByAStuckWorkerIsFiredByTheOneThatSlept) {
  Event done;
  ActorSystem system(quiet(2));
  Bell bell;
  auto stuck = system.spawn<Stuck>(&bell, &done);
  await_idle(system);
  stuck.send<ArmAndHold>(1ms);
  done.wait();
}

TEST(TimerWatchOfThreads, ATimerArmedBeforeItsWorkerGotStuckIsFiredByTheOneThatSleeps) {
  for (int i = 0; i < 3; ++i) {
    Event done;
    ActorSystem system(quiet(2));
    Bell bell;
    auto stuck = system.spawn<Stuck>(&bell, &done);
    await_idle(system);
    stuck.send<Arm>(30ms);
    await_idle(system);
    stuck.send<Hold>();
    done.wait();
  }
}

}  // namespace
}  // namespace weir::internal
