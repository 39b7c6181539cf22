#include <atomic>
#include <cstdint>
#include <vector>

#include <weir/bench/actors/weir/finish.hpp>
#include <weir/bench/actors/weir/workloads.hpp>

namespace weir::bench::actors {

namespace {

// --- skynet

struct Sum {
  std::int64_t value;
};

/// One node of the ten-ary tree: spawns its children, adds up their sums, reports and stops.
class SkynetNode final : public Actor<Sum> {
 public:
  SkynetNode(ActorRef<Sum> parent, std::int64_t first, std::int64_t leaves)
      : parent_(std::move(parent)), first_(first), leaves_(leaves) {}

  void on_start() {
    if (leaves_ == 1) {
      report(first_);
      return;
    }
    const std::int64_t share = leaves_ / 10;
    for (std::int64_t i = 0; i < 10; ++i) spawn<SkynetNode>(self(), first_ + i * share, share);
  }

  void on(Sum sum) {
    sum_ += sum.value;
    if (++received_ == 10) report(sum_);
  }

 private:
  void report(std::int64_t sum) {
    parent_.send<Sum>(sum);
    stop();
  }

  ActorRef<Sum> parent_;
  std::int64_t first_;
  std::int64_t leaves_;
  std::int64_t sum_ = 0;
  int received_ = 0;
};

class SkynetRoot final : public Actor<Sum> {
 public:
  SkynetRoot(std::int64_t leaves, Stopwatch* stopwatch, Finish* finish)
      : leaves_(leaves), stopwatch_(stopwatch), finish_(finish) {}

  void on_start() {
    stopwatch_->start();
    spawn<SkynetNode>(self(), std::int64_t{0}, leaves_);
  }
  void on(Sum sum) {
    stopwatch_->stop();
    verify(sum.value == leaves_ * (leaves_ - 1) / 2, "sum of the leaves");
    finish_->done();
  }

 private:
  std::int64_t leaves_;
  Stopwatch* stopwatch_;
  Finish* finish_;
};

// --- fork-join

struct Value {
  std::int64_t value;
};
struct Begin {};

struct ForkJoinRun {
  std::int64_t actors = fork_join_actors();
  std::int64_t expected = actors * (actors + 1) / 2;
  std::atomic<std::int64_t> sum{0};
  Stopwatch stopwatch;
  Finish finish;
};

class Joiner final : public Actor<Value> {
 public:
  explicit Joiner(ForkJoinRun* run) : run_(run) {}

  void on(Value value) {
    if (run_->sum.fetch_add(value.value) + value.value == run_->expected) {
      run_->stopwatch.stop();
      run_->finish.done();
    }
    stop();
  }

 private:
  ForkJoinRun* run_;
};

class Forker final : public Actor<Begin> {
 public:
  explicit Forker(ForkJoinRun* run) : run_(run) {}

  void on(Begin) {
    run_->stopwatch.start();
    for (std::int64_t i = 1; i <= run_->actors; ++i) spawn<Joiner>(run_).send<Value>(i);
  }

 private:
  ForkJoinRun* run_;
};

// --- memory

class Idler final : public Actor<Value> {
 public:
  explicit Idler(std::atomic<std::int64_t>* sum) : sum_(sum) {}
  void on(Value value) { sum_->fetch_add(value.value, std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t>* sum_;
};

}  // namespace

void skynet() {
  ActorSystem system(system_options());
  Stopwatch stopwatch;
  Finish finish;
  const std::int64_t leaves = skynet_leaves();
  system.spawn<SkynetRoot>(leaves, &stopwatch, &finish);
  finish.wait();
  print_per_million("skynet", stopwatch.elapsed_ns(), leaves);
}

void fork_join() {
  ForkJoinRun run;
  ActorSystem system(system_options());
  system.spawn<Forker>(&run).send<Begin>();
  run.finish.wait();
  print_per_million("fork_join", run.stopwatch.elapsed_ns(), run.actors);
}

void memory() {
  std::atomic<std::int64_t> sum{0};
  ActorSystem system(system_options());
  const std::int64_t actors = memory_actors();
  std::vector<RefOf<Idler>> all;
  all.reserve(static_cast<std::size_t>(actors));
  const double before = resident_bytes();
  Stopwatch spawning;
  spawning.start();
  for (std::int64_t i = 0; i < actors; ++i) all.push_back(system.spawn<Idler>(&sum));
  spawning.stop();
  const auto each = static_cast<double>(actors);
  const double bytes = resident_bytes() - before - each * sizeof(void*);
  for (auto& actor : all) actor.send<Value>(1);
  system.stop();
  verify(sum == actors, "every idle actor answers");
  print_result("memory", bytes / each, "B",
               {{"spawn_ns", spawning.elapsed_ns() / each},
                {"ready_ns", spawning.elapsed_ns() / each},
                {"actors", each}});
}

}  // namespace weir::bench::actors
