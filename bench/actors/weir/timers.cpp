#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include <weir/bench/actors/weir/finish.hpp>
#include <weir/bench/actors/weir/workloads.hpp>

namespace weir::bench::actors {

namespace {

struct Begin {};
struct Due {
  std::int64_t number;
};

struct TimerRun {
  std::int64_t armed = timer_count();
  double cpu = 0;
  Stopwatch arming;
  Stopwatch cancelling;
  Finish finish;
};

/// The sum of the odd numbers below `armed`: every second timer is cancelled.
std::int64_t pending_sum(std::int64_t armed) { return (armed / 2) * (armed / 2); }

/// Arms all timers, cancels every second one, and counts what comes.
class TimerActor final : public Actor<Begin, Due> {
 public:
  explicit TimerActor(TimerRun* run) : run_(run) {}

  void on(Begin) {
    run_->cpu = cpu_ns();
    XorShift random(7);
    timers_.reserve(static_cast<std::size_t>(run_->armed));
    run_->arming.start();
    for (std::int64_t i = 0; i < run_->armed; ++i) {
      timers_.push_back(schedule_once<Due>(random.timer_delay(), i));
    }
    run_->arming.stop();
    run_->cancelling.start();
    for (std::size_t i = 0; i < timers_.size(); i += 2) {
      verify(timers_[i].cancel(), "cancelled in time");
    }
    run_->cancelling.stop();
    pending_ = run_->armed / 2;
  }

  void on(Due due) {
    sum_ += due.number;
    if (--pending_ > 0) return;
    verify(sum_ == pending_sum(run_->armed), "only the timers that were left fired");
    run_->cpu = cpu_ns() - run_->cpu;
    run_->finish.done();
  }

 private:
  std::vector<Timer> timers_;
  std::int64_t pending_ = 0;
  std::int64_t sum_ = 0;
  TimerRun* run_;
};

class Sleeper final : public Actor<Due> {
 public:
  void on_start() { schedule_once<Due>(std::chrono::hours(1), 1); }
  void on(Due) {}
};

}  // namespace

void timers() {
  TimerRun run;
  ActorSystem system(system_options());
  system.spawn<TimerActor>(&run).send<Begin>();
  run.finish.wait();
  const auto armed = static_cast<double>(run.armed);
  print_result("timers", run.cpu / armed, "cpu_ns",
               {{"arm_ns", run.arming.elapsed_ns() / armed},
                {"cancel_ns", run.cancelling.elapsed_ns() / (armed / 2)}});
}

/// A system with actors and a distant timer but nothing to do.
void idle() {
  ActorSystem system(system_options());
  for (int i = 0; i < 1000; ++i) system.spawn<Sleeper>();
  usleep(200'000);
  const double before = cpu_ns();
  usleep(1'000'000);
  print_result("idle", (cpu_ns() - before) / 1e9, "cpu-s");
}

}  // namespace weir::bench::actors
