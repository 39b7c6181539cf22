#include <atomic>
#include <vector>

#include "system.hpp"
#include "workloads.hpp"

namespace weir::bench::actors::peers {

namespace {

class SkynetActor : public caf::event_based_actor {
 public:
  SkynetActor(caf::actor_config& config, caf::actor parent, std::int64_t first, std::int64_t leaves)
      : caf::event_based_actor(config),
        parent_(std::move(parent)),
        first_(first),
        leaves_(leaves) {}

  caf::behavior make_behavior() override {
    if (leaves_ == 1) {
      send(parent_, first_);
      return {};
    }
    const std::int64_t share = leaves_ / 10;
    for (std::int64_t i = 0; i < 10; ++i) {
      spawn<SkynetActor>(caf::actor_cast<caf::actor>(this), first_ + i * share, share);
    }
    return {[this](Value value) {
      sum_ += value;
      if (++answers_ == 10) {
        send(parent_, sum_);
        quit();
      }
    }};
  }

 private:
  caf::actor parent_;
  std::int64_t first_;
  std::int64_t leaves_;
  Value sum_ = 0;
  int answers_ = 0;
};

struct SkynetRun {
  std::int64_t leaves = skynet_leaves();
  Stopwatch stopwatch;
  Completion completion;
};

caf::behavior skynet_root(caf::event_based_actor* self, SkynetRun* run) {
  run->stopwatch.start();
  self->spawn<SkynetActor>(caf::actor_cast<caf::actor>(self), std::int64_t{0}, run->leaves);
  return {[run](Value sum) {
    run->stopwatch.stop();
    verify(sum == run->leaves * (run->leaves - 1) / 2, "sum of the leaves");
    run->completion.announce();
  }};
}

struct ForkJoin {
  std::int64_t actors = fork_join_actors();
  std::int64_t expected = actors * (actors + 1) / 2;
  std::atomic<std::int64_t> sum{0};
  Stopwatch stopwatch;
  Completion completion;
};

class JoinActor : public caf::event_based_actor {
 public:
  JoinActor(caf::actor_config& config, ForkJoin* run) : caf::event_based_actor(config), run_(run) {}

  caf::behavior make_behavior() override {
    return {[this](Value value) {
      if (run_->sum.fetch_add(value) + value == run_->expected) {
        run_->stopwatch.stop();
        run_->completion.announce();
      }
      quit();
    }};
  }

 private:
  ForkJoin* run_;
};

void fork_all(caf::event_based_actor* self, ForkJoin* run) {
  run->stopwatch.start();
  for (Value i = 1; i <= run->actors; ++i) {
    self->send(self->spawn<JoinActor>(run), i);
  }
}

struct MemoryRun {
  std::int64_t actors = memory_actors();
  std::atomic<std::int64_t> ready{0};
  std::atomic<std::int64_t> sum{0};
  Completion is_ready;
  Completion have_answered;
};

class IdleActor : public caf::event_based_actor {
 public:
  IdleActor(caf::actor_config& config, MemoryRun* run)
      : caf::event_based_actor(config), run_(run) {}

  caf::behavior make_behavior() override {
    if (run_->ready.fetch_add(1) + 1 == run_->actors) {
      run_->is_ready.announce();
    }
    return {[this](Value value) {
      if (run_->sum.fetch_add(value) + value == run_->actors) {
        run_->have_answered.announce();
      }
    }};
  }

 private:
  MemoryRun* run_;
};

}  // namespace

void skynet() {
  Config config;
  caf::actor_system system(config);
  SkynetRun run;
  system.spawn(skynet_root, &run);
  run.completion.wait();
  print_per_million("skynet", run.stopwatch.elapsed_ns(), run.leaves);
  end_program();
}

void fork_join() {
  Config config;
  caf::actor_system system(config);
  ForkJoin run;
  system.spawn(fork_all, &run);
  run.completion.wait();
  print_per_million("fork_join", run.stopwatch.elapsed_ns(), run.actors);
  end_program();
}

void memory() {
  Config config;
  caf::actor_system system(config);
  MemoryRun run;
  std::vector<caf::actor> actors;
  actors.reserve(run.actors);
  const double before = resident_bytes();
  Stopwatch spawning;
  Stopwatch readying;
  spawning.start();
  readying.start();
  for (std::int64_t i = 0; i < run.actors; ++i) {
    actors.push_back(system.spawn<IdleActor>(&run));
  }
  spawning.stop();
  run.is_ready.wait();
  readying.stop();
  const double references = static_cast<double>(run.actors) * sizeof(caf::actor);
  const double bytes = resident_bytes() - before - references;
  for (const caf::actor& actor : actors) {
    caf::anon_send(actor, Value{1});
  }
  run.have_answered.wait();
  const auto each = static_cast<double>(run.actors);
  print_result("memory", bytes / each, "B",
               {{"spawn_ns", spawning.elapsed_ns() / each},
                {"ready_ns", readying.elapsed_ns() / each},
                {"actors", each}});
  end_program();
}

}  // namespace weir::bench::actors::peers
