#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <vector>

#include "scheduler.hpp"
#include "workloads.hpp"

namespace weir::bench::actors::peers {

namespace {

struct TimerRun {
  Scheduler scheduler;
  Mailbox<std::int64_t> inbox{scheduler, unbounded_mailbox};
  std::int64_t armed = timer_count();
  std::int64_t pending = 0;
  double cpu = 0;
  Stopwatch arming;
  Stopwatch cancelling;
};

void arm_all(TimerRun* run, std::vector<asio::steady_timer>* handles) {
  XorShift random(7);
  for (std::int64_t i = 0; i < run->armed; ++i) {
    handles->emplace_back(run->scheduler.context(), random.timer_delay());
    handles->back().async_wait([run, i](error_code error) {
      if (!error) {
        run->inbox.try_send(i);
      }
    });
  }
}

/// Returns the sum of the indices that stay armed.
std::int64_t cancel_every_second(TimerRun* run, std::vector<asio::steady_timer>* handles) {
  std::int64_t expected = 0;
  run->pending = run->armed;
  for (std::int64_t i = 0; i < run->armed; ++i) {
    if (i % 2 == 0 && (*handles)[i].cancel() == 1) {
      --run->pending;
    } else {
      expected += i;
    }
  }
  return expected;
}

asio::awaitable<void> run_timers(TimerRun* run) {
  std::vector<asio::steady_timer> handles;
  handles.reserve(run->armed);
  const double cpu_before = cpu_ns();
  run->arming.start();
  arm_all(run, &handles);
  run->arming.stop();
  run->cancelling.start();
  const std::int64_t expected = cancel_every_second(run, &handles);
  run->cancelling.stop();
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < run->pending; ++i) {
    std::int64_t index = 0;
    if (!run->inbox.try_receive(index)) {
      index = co_await run->inbox.receive();
    }
    sum += index;
  }
  run->cpu = cpu_ns() - cpu_before;
  verify(sum == expected, "the timers that expired are those not cancelled");
}

}  // namespace

void timers() {
  TimerRun run;
  run.scheduler.spawn(run_timers(&run));
  run.scheduler.run();
  const auto armed = static_cast<double>(run.armed);
  print_result("timers", run.cpu / armed, "cpu_ns",
               {{"arm_ns", run.arming.elapsed_ns() / armed},
                {"cancel_ns", run.cancelling.elapsed_ns() / (armed / 2)},
                {"expired", static_cast<double>(run.pending)}});
}

}  // namespace weir::bench::actors::peers
