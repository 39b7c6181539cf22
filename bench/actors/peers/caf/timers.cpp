#include <vector>

#include "system.hpp"
#include "workloads.hpp"

namespace weir::bench::actors::peers {

namespace {

struct TimerRun {
  std::int64_t armed = timer_count();
  std::int64_t pending = 0;
  double cpu = 0;
  Stopwatch arming;
  Stopwatch cancelling;
  Completion completion;
};

/// CAF 0.17 cannot cancel a delayed message: a cancelled one is marked and ignored when it comes.
class TimerActor : public caf::event_based_actor {
 public:
  TimerActor(caf::actor_config& config, TimerRun* run)
      : caf::event_based_actor(config), run_(run), is_cancelled_(run->armed) {}

  caf::behavior make_behavior() override {
    return {
        [this](GoAtom) {
          cpu_before_ = cpu_ns();
          arm_all();
          cancel_every_second();
        },
        [this](Value index) { expire(index); },
    };
  }

 private:
  void arm_all() {
    XorShift random(7);
    run_->arming.start();
    for (Value i = 0; i < run_->armed; ++i) {
      delayed_send(this, random.timer_delay(), i);
    }
    run_->arming.stop();
  }

  void cancel_every_second() {
    run_->cancelling.start();
    run_->pending = run_->armed;
    for (Value i = 0; i < run_->armed; ++i) {
      if (i % 2 == 0) {
        is_cancelled_[i] = true;
        --run_->pending;
      } else {
        expected_ += i;
      }
    }
    run_->cancelling.stop();
  }

  void expire(Value index) {
    if (!is_cancelled_[index]) {
      sum_ += index;
    }
    if (++arrived_ == run_->armed) {
      run_->cpu = cpu_ns() - cpu_before_;
      verify(sum_ == expected_, "the timers that expired are those not cancelled");
      run_->completion.announce();
    }
  }

  TimerRun* run_;
  std::vector<bool> is_cancelled_;
  std::int64_t arrived_ = 0;
  std::int64_t sum_ = 0;
  std::int64_t expected_ = 0;
  double cpu_before_ = 0;
};

}  // namespace

void timers() {
  Config config;
  caf::actor_system system(config);
  TimerRun run;
  caf::anon_send(system.spawn<TimerActor>(&run), GoAtom::value);
  run.completion.wait();
  const auto armed = static_cast<double>(run.armed);
  print_result("timers", run.cpu / armed, "cpu_ns",
               {{"arm_ns", run.arming.elapsed_ns() / armed},
                {"cancel_ns", run.cancelling.elapsed_ns() / (armed / 2)},
                {"expired", static_cast<double>(run.pending)}});
  end_program();
}

}  // namespace weir::bench::actors::peers
