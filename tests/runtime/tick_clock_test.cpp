#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include <weir/runtime/internal/tick_clock.hpp>

namespace weir::internal {
namespace {

/// A machine: what the clock says, and how fast ticks go meanwhile.
struct Machine {
  bool is_steady = true;
  double ticks_per_ns = 2.5;
  double ticks = 1e12;
  std::int64_t ns = 5'000'000'000;
  int reads = 0;  // of the clock

  void pass(std::int64_t passed_ns) {
    ns += passed_ns;
    ticks += static_cast<double>(passed_ns) * ticks_per_ns;
  }
};

struct FakeTicks {
  Machine* machine;

  bool are_steady() const noexcept { return machine->is_steady; }
  std::uint64_t ticks() const noexcept { return static_cast<std::uint64_t>(machine->ticks); }
  std::int64_t now_ns() const noexcept {
    ++machine->reads;
    return machine->ns;
  }
};

using FakeClock = TickClock<FakeTicks>;

TEST(TickClock, IsTheClockBeforeItKnowsTheSpeedOfTicks) {
  Machine machine;
  FakeClock clock(FakeTicks{&machine});
  for (int i = 0; i < 9; ++i) {
    machine.pass(FakeClock::measured_ns_min / 10);
    EXPECT_EQ(clock.now_ns(), machine.ns);
  }
}

TEST(TickClock, CountsTicksInsteadOfLookingAtTheClock) {
  Machine machine;
  FakeClock clock(FakeTicks{&machine});
  machine.pass(2 * FakeClock::measured_ns_min);
  EXPECT_EQ(clock.now_ns(), machine.ns);
  const int reads = machine.reads;
  for (int i = 0; i < 90; ++i) {
    machine.pass(FakeClock::trusted_ns / 100);
    EXPECT_NEAR(static_cast<double>(clock.now_ns()), static_cast<double>(machine.ns), 2);
  }
  EXPECT_EQ(machine.reads, reads);
  machine.pass(FakeClock::trusted_ns / 5);
  EXPECT_EQ(clock.now_ns(), machine.ns);
  EXPECT_GT(machine.reads, reads);
}

TEST(TickClock, IsTheClockWhereTicksAreNotSteady) {
  Machine machine{.is_steady = false};
  FakeClock clock(FakeTicks{&machine});
  for (int i = 0; i < 100; ++i) {
    machine.ns += 1'000'000;
    machine.ticks += i % 3 == 0 ? 10 : 1e9;
    EXPECT_EQ(clock.now_ns(), machine.ns);
  }
}

/// Reads it again and again, after `pass` has let some time go by, and compares.
template <class Pass>
void follow(Machine& machine, FakeClock& clock, int steps, Pass pass) {
  // A thousandth of the time for which ticks are believed, twice: of speed and of lead.
  constexpr std::int64_t error_max = FakeClock::trusted_ns / 1000 * 2;
  std::int64_t last = clock.now_ns();
  for (int i = 0; i < steps; ++i) {
    pass(i);
    const std::int64_t now = clock.now_ns();
    ASSERT_GE(now, last) << "step " << i;
    ASSERT_LE(std::abs(now - machine.ns), error_max) << "step " << i;
    last = now;
  }
}

// The steady clock is made faster or slower by at most 500 parts in a million.
TEST(TickClock, StaysCloseWhateverTheSpeedDoes) {
  std::mt19937_64 random(20'260'101);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int run = 0; run < 200; ++run) {
    const double usual = between(0.5, 5);
    Machine machine{.ticks_per_ns = usual};
    FakeClock clock(FakeTicks{&machine});
    machine.pass(2 * FakeClock::measured_ns_min);
    follow(machine, clock, 2000, [&](int step) {
      if (step % 100 == 0) machine.ticks_per_ns = usual * between(0.9995, 1.0005);
      machine.pass(static_cast<std::int64_t>(between(0, random() % 50 == 0 ? 1e9 : 1e6)));
    });
    ASSERT_FALSE(HasFatalFailure()) << "run " << run;
  }
}

TEST(TickClock, NeverGoesBackAlsoIfTicksHaveBecomeFaster) {
  std::mt19937_64 random(20'260'102);
  for (const double change : {1.0005, 1.0001, 0.9999, 0.9995}) {
    Machine machine;
    FakeClock clock(FakeTicks{&machine});
    machine.pass(1'000'000'000'000);
    machine.ticks_per_ns *= change;
    follow(machine, clock, 100'000,
           [&](int) { machine.pass(static_cast<std::int64_t>(random() % 4000)); });
    ASSERT_FALSE(HasFatalFailure()) << "change " << change;
  }
}

}  // namespace
}  // namespace weir::internal
