#pragma once

#include <atomic>
#include <cstdint>
#include <latch>
#include <string>

#include <weir/bench/workflows/subject.hpp>
#include <weir/bench/workflows/workloads.hpp>
#include <weir/runtime/actor.hpp>

namespace weir::bench::workflows {

inline flow::workflow::NewExecution some_work() {
  return {.kind = "work", .payload = std::string(payload_bytes, 'x')};
}

struct Go {};

/// What is left to do, and who waits for it.
struct Progress {
  std::atomic<std::int64_t> left;
  std::latch done;
};

/// Makes, claims and completes one execution after the other.
class Cycle final : public Actor<Go> {
 public:
  Cycle(const flow::workflow::Engine* engine, Progress* progress)
      : engine_(engine), progress_(progress) {}

  Task<> on(Go) {
    while (progress_->left.fetch_sub(1) > 0) {
      must(co_await engine_->create_execution(some_work()), "create");
      // Whoever has made one finds one, perhaps another's; where others look at the same time, not
      // at once.
      auto claimed = must(co_await engine_->next({.worker = "w"}), "claim");
      must(co_await engine_->complete(claimed.at(0).handle, "done"), "complete");
    }
    progress_->done.count_down();
  }

 private:
  const flow::workflow::Engine* engine_;
  Progress* progress_;
};

/// So many clients at once.
inline double cycles_per_second(ActorSystem& system, const flow::workflow::Engine& engine,
                                int clients, std::int64_t executions) {
  Progress progress{executions, std::latch(clients)};
  actors::Stopwatch watch;
  watch.start();
  for (int client = 0; client < clients; ++client) {
    system.spawn<Cycle>(&engine, &progress).send<Go>();
  }
  progress.done.wait();
  watch.stop();
  return static_cast<double>(executions) / (watch.elapsed_ns() / 1e9);
}

}  // namespace weir::bench::workflows
