#include <weir/runtime/internal/timer_wheel.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include <weir/tests/runtime/support.hpp>

namespace weir::internal {
namespace {

constexpr std::int64_t tick_ns = 1 << 19;
constexpr std::int64_t turn_ticks = 4096;

// Rounds up without a sum that the end of time would overflow.
std::int64_t tick_at_or_after(std::int64_t ns) { return ns / tick_ns + (ns % tick_ns != 0); }

struct Probe : TimerEntry {
  explicit Probe(std::vector<Probe*>* log) : fired(log) {
    fire = [](TimerEntry* entry) noexcept {
      auto* self = static_cast<Probe*>(entry);
      self->fired->push_back(self);
    };
  }
  std::vector<Probe*>* fired;
};

// What the wheel should do, from a sorted map.
class Model {
 public:
  explicit Model(std::int64_t now) : tick_(now / tick_ns) {}

  void arm(Probe* probe, std::int64_t due) {
    place_[probe] = timers_.emplace(std::max(tick_at_or_after(due), tick_ + 1), probe);
  }
  void arm_lazily(Probe* probe, std::int64_t delay) { fresh_[probe] = delay; }
  bool cancel(Probe* probe) {
    if (fresh_.erase(probe) > 0) return true;
    const auto at = place_.find(probe);
    if (at == place_.end()) return false;
    timers_.erase(at->second);
    place_.erase(at);
    return true;
  }
  // The ticks of what fires, in order, and the timers of each.
  std::map<std::int64_t, std::vector<Probe*>> advance(std::int64_t now) {
    for (const auto& [probe, delay] : fresh_) arm(probe, saturating_sum(now, delay));
    fresh_.clear();
    std::map<std::int64_t, std::vector<Probe*>> fired;
    const std::int64_t target = now / tick_ns;
    while (!timers_.empty() && timers_.begin()->first <= target) {
      const auto [tick, probe] = *timers_.begin();
      fired[tick].push_back(probe);
      timers_.erase(timers_.begin());
      place_.erase(probe);
    }
    tick_ = std::max(tick_, target);
    return fired;
  }
  std::size_t size() const { return timers_.size() + fresh_.size(); }
  bool has_fresh() const { return !fresh_.empty(); }
  std::int64_t first_tick() const { return timers_.begin()->first; }
  std::int64_t tick() const { return tick_; }

 private:
  using Timers = std::multimap<std::int64_t, Probe*>;
  std::int64_t tick_;
  Timers timers_;
  std::map<Probe*, Timers::iterator> place_;
  std::map<Probe*, std::int64_t> fresh_;
};

// Mostly near, sometimes at the edges between levels, rarely as far as can be.
std::int64_t random_delay(std::mt19937_64& random) {
  const std::int64_t turn = tick_ns * turn_ticks;
  const auto up_to = [&](std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
  };
  switch (random() % 8) {
    case 0: return 0;
    case 1: return up_to(tick_ns * 3);
    case 2: return up_to(turn);
    case 3: return turn + up_to(tick_ns * 4) - tick_ns * 2;
    case 4: return turn * 256 + up_to(tick_ns * 4) - tick_ns * 2;
    case 5: return up_to(turn * 300);
    case 6: return up_to(turn * 256 * 300);
    default: return random() % 16 == 0 ? TimerWheel::never : up_to(turn * 256 * 256);
  }
}

std::int64_t random_step(std::mt19937_64& random) {
  const std::int64_t turn = tick_ns * turn_ticks;
  switch (random() % 16) {
    case 0: return 0;
    case 1: return turn;
    case 2: return turn * 256;
    case 3: return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(turn * 300));
    case 4: return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(turn * 4));
    default: return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(tick_ns * 50));
  }
}

class Comparison {
 public:
  explicit Comparison(std::mt19937_64& random)
      : random_(random),
        now_(static_cast<std::int64_t>(random() % (std::uint64_t{1} << 50))),
        wheel_(now_),
        model_(now_) {}

  void step() {
    switch (random_() % 8) {
      case 0:
      case 1:
      case 2: arm(); break;
      case 3: arm_lazily(); break;
      case 4:
      case 5: cancel(); break;
      default: advance(random_step(random_)); break;
    }
    EXPECT_EQ(wheel_.size(), model_.size());
    check_next_due();
  }
  // In two hops: the last timers of all may be as far away as time goes.
  void finish() {
    advance(tick_ns * turn_ticks * 256 * 256);
    for (auto& probe : probes_) {
      EXPECT_EQ(wheel_.cancel(*probe), model_.cancel(probe.get()));
    }
    EXPECT_TRUE(wheel_.is_empty());
  }

 private:
  Probe& idle_probe() {
    for (auto& probe : probes_) {
      if (!probe->is_armed()) return *probe;
    }
    probes_.push_back(std::make_unique<Probe>(&fired_));
    return *probes_.back();
  }
  void arm() {
    Probe& probe = idle_probe();
    const std::int64_t early = random_() % 8 == 0 ? tick_ns * 2 : 0;
    const std::int64_t due = saturating_sum(now_ - early, random_delay(random_));
    wheel_.arm(probe, due);
    model_.arm(&probe, due);
    due_[&probe] = due;
  }
  void arm_lazily() {
    Probe& probe = idle_probe();
    const std::int64_t delay = random_delay(random_);
    wheel_.arm_lazily(probe, delay);
    model_.arm_lazily(&probe, delay);
    due_[&probe] = saturating_sum(now_, delay);
  }
  void cancel() {
    if (probes_.empty()) return;
    Probe& probe = *probes_[random_() % probes_.size()];
    EXPECT_EQ(wheel_.cancel(probe), model_.cancel(&probe));
    EXPECT_FALSE(probe.is_armed());
  }
  void advance(std::int64_t step) {
    now_ += step;
    fired_.clear();
    const std::size_t count = wheel_.advance(now_);
    EXPECT_EQ(count, fired_.size());
    auto at = fired_.begin();
    for (auto& [tick, expected] : model_.advance(now_)) {
      ASSERT_LE(static_cast<std::ptrdiff_t>(expected.size()), fired_.end() - at);
      std::vector<Probe*> got(at, at + static_cast<std::ptrdiff_t>(expected.size()));
      at += static_cast<std::ptrdiff_t>(expected.size());
      std::sort(got.begin(), got.end());
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(got, expected) << "tick " << tick;
    }
    EXPECT_EQ(at, fired_.end());
    for (Probe* probe : fired_) EXPECT_LE(due_[probe], now_) << "never before it is due";
  }
  void check_next_due() const {
    const std::int64_t next = wheel_.next_due();
    if (model_.size() == 0) {
      EXPECT_EQ(next, TimerWheel::never);
      return;
    }
    EXPECT_GT(next / tick_ns, model_.tick()) << "or it would be called again and again";
    if (model_.has_fresh()) return;
    EXPECT_LE(next / tick_ns, model_.first_tick()) << "or it would be late";
    const std::int64_t turn_end = (model_.tick() / turn_ticks + 1) * turn_ticks;
    if (model_.first_tick() < turn_end) EXPECT_EQ(next / tick_ns, model_.first_tick());
  }

  std::mt19937_64& random_;
  std::int64_t now_;
  TimerWheel wheel_;
  Model model_;
  std::vector<Probe*> fired_;
  std::vector<std::unique_ptr<Probe>> probes_;
  std::map<Probe*, std::int64_t> due_;
};

TEST(TimerWheel, DoesWhatASortedMapDoes) {
  const std::uint64_t seed = weir::testing::test_seed();
  WEIR_TRACE_SEED(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < weir::testing::scaled(40); ++round) {
    Comparison comparison(random);
    for (int i = 0; i < 400 && !::testing::Test::HasFailure(); ++i) comparison.step();
    if (!::testing::Test::HasFailure()) comparison.finish();
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(TimerWheel, FiresATimerArmedInThePastAtTheNextTick) {
  std::vector<Probe*> fired;
  Probe probe(&fired);
  TimerWheel wheel(100 * tick_ns);
  wheel.arm(probe, 5);
  EXPECT_EQ(wheel.advance(100 * tick_ns), 0u);
  EXPECT_EQ(wheel.next_due(), 101 * tick_ns);
  EXPECT_EQ(wheel.advance(101 * tick_ns), 1u);
  EXPECT_FALSE(probe.is_armed());
  EXPECT_FALSE(wheel.cancel(probe));
}

TEST(TimerWheel, MayBeArmedAndCancelledByOtherThreadsWhileItTurns) {
  std::vector<Probe*> fired;
  TimerWheel wheel(0);
  std::atomic<bool> ends{false};
  std::atomic<std::int64_t> now{0};
  std::thread turner([&] {
    while (!ends) wheel.advance(now += tick_ns / 3);
  });
  std::vector<std::thread> users;
  std::atomic<int> cancelled{0};
  const int count = weir::testing::scaled(20'000);
  for (int thread = 0; thread < 2; ++thread) {
    users.emplace_back([&, thread] {
      std::vector<Probe*> unused;
      std::deque<Probe> probes;
      for (int i = 0; i < 64; ++i) probes.emplace_back(&fired);
      std::mt19937_64 random(static_cast<std::uint64_t>(thread));
      for (int i = 0; i < count; ++i) {
        Probe& probe = probes[random() % probes.size()];
        if (probe.queue && wheel.cancel(probe)) ++cancelled;
        wheel.arm(probe, now + static_cast<std::int64_t>(random() % (tick_ns * 5000)));
      }
      for (Probe& probe : probes) {
        if (probe.queue && wheel.cancel(probe)) ++cancelled;
      }
    });
  }
  for (auto& user : users) user.join();
  ends = true;
  turner.join();
  EXPECT_TRUE(wheel.is_empty());
  EXPECT_EQ(static_cast<int>(fired.size()) + cancelled.load(), 2 * count);
}

TEST(TimerWheel, KnowsItsNextTimerThoughThoseArmedAfterItAreCancelled) {
  std::vector<Probe*> fired;
  TimerWheel wheel(0);
  std::deque<Probe> probes;
  for (int i = 0; i < 100; ++i) wheel.arm(probes.emplace_back(&fired), 5 * tick_ns);
  for (std::size_t i = 99; i > 0; --i) {
    EXPECT_TRUE(wheel.cancel(probes[i]));
    EXPECT_EQ(wheel.next_due(), 5 * tick_ns) << i;
  }
  EXPECT_EQ(wheel.advance(5 * tick_ns), 1u);
  EXPECT_EQ(fired, std::vector<Probe*>{&probes[0]});
}

}  // namespace
}  // namespace weir::internal
