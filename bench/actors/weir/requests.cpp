#include <atomic>
#include <chrono>
#include <cstdint>

#include <weir/bench/actors/weir/finish.hpp>
#include <weir/bench/actors/weir/workloads.hpp>

namespace weir::bench::actors {

namespace {

struct Increment {
  using Reply = std::int64_t;
  std::int64_t value;
};

class Responder final : public Actor<Increment> {
 public:
  std::int64_t on(Increment request) const { return request.value + 1; }
};

struct Begin {};

class Asker final : public Actor<Begin> {
 public:
  Asker(RefOf<Responder> responder, Duration timeout, Stopwatch* stopwatch, Finish* finish)
      : responder_(std::move(responder)),
        timeout_(timeout),
        stopwatch_(stopwatch),
        finish_(finish) {}

  Task<> on(Begin) {
    const std::int64_t count = requests();
    stopwatch_->start();
    for (std::int64_t i = 0; i < count; ++i) {
      const auto reply = co_await responder_.ask<Increment>(i).within(timeout_);
      verify(reply && *reply == i + 1, "reply to the request");
    }
    stopwatch_->stop();
    finish_->done();
  }

 private:
  RefOf<Responder> responder_;
  Duration timeout_;
  Stopwatch* stopwatch_;
  Finish* finish_;
};

void ask_all(const char* workload, Duration timeout) {
  ActorSystem system(system_options());
  Stopwatch stopwatch;
  Finish finish;
  auto asker = system.spawn<Asker>(system.spawn<Responder>(), timeout, &stopwatch, &finish);
  asker.send<Begin>();
  finish.wait();
  print_result(workload, stopwatch.elapsed_ns() / static_cast<double>(requests()), "ns");
}

// --- latency

struct LatencyRun {
  LatencyHistogram latencies;
  std::atomic<bool> is_finished{false};
  std::atomic<std::int64_t> load_turns{0};
  Finish finish;
};

class TimedAsker final : public Actor<Begin> {
 public:
  TimedAsker(RefOf<Responder> responder, LatencyRun* run)
      : responder_(std::move(responder)), run_(run) {}

  Task<> on(Begin) {
    const std::int64_t count = latency_requests();
    for (std::int64_t i = 0; i < count; ++i) {
      const double start = now_ns();
      const auto reply = co_await responder_.ask<Increment>(i).within(forever);
      run_->latencies.record(static_cast<std::uint64_t>(now_ns() - start));
      verify(reply && *reply == i + 1, "reply to the request");
    }
    run_->is_finished = true;
    run_->finish.done();
  }

 private:
  RefOf<Responder> responder_;
  LatencyRun* run_;
};

struct Turn {
  std::uint64_t value;
};

/// Computes for a moment and sends itself a message, for as long as the asker runs.
class Load final : public Actor<Turn> {
 public:
  explicit Load(LatencyRun* run) : run_(run) {}

  void on(Turn turn) {
    for (int i = 0; i < load_steps; ++i) turn.value = random_();
    run_->load_turns.fetch_add(1, std::memory_order_relaxed);
    if (!run_->is_finished.load(std::memory_order_relaxed)) self().send<Turn>(turn.value);
  }

 private:
  XorShift random_{1};
  LatencyRun* run_;
};

}  // namespace

void ask() { ask_all("ask", forever); }

void ask_deadline() { ask_all("ask_deadline", std::chrono::seconds(5)); }

void latency() {
  LatencyRun run;
  ActorSystem system(system_options());
  auto asker = system.spawn<TimedAsker>(system.spawn<Responder>(), &run);
  system.spawn<Load>(&run).send<Turn>(1u);
  asker.send<Begin>();
  run.finish.wait();
  run.latencies.print(run.load_turns);
}

}  // namespace weir::bench::actors
