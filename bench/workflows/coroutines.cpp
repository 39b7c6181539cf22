#include <atomic>
#include <cstdint>
#include <latch>

#include <weir/bench/workflows/subject.hpp>
#include <weir/bench/workflows/workloads.hpp>
#include <weir/flow/workflow/worker.hpp>
#include <weir/runtime/actor.hpp>

namespace weir::bench::workflows {
namespace {

using actors::print_result;
using actors::scaled;
using actors::Stopwatch;
using flow::workflow::Engine;
using flow::workflow::to_payload;
using flow::workflow::Worker;
using flow::workflow::WorkflowContext;
using ::weir::storage::Durability;

constexpr int coroutine_steps = 5;

struct Go {};

Task<std::int64_t> add_up(WorkflowContext ctx, std::int64_t from) {
  for (int step = 0; step < coroutine_steps; ++step) {
    from = co_await ctx.step("add", [](std::int64_t sum) { return sum + 1; }, from);
  }
  co_return from;
}

/// Begins one coroutine after the other, when the one before has ended.
class Client final : public Actor<Go> {
 public:
  Client(const Engine* engine, std::atomic<std::int64_t>* left, std::latch* done)
      : engine_(engine), left_(left), done_(done) {}

  Task<> on(Go) {
    while (left_->fetch_sub(1) > 0) {
      auto made = must(co_await engine_->create_execution(
                           {.kind = "add_up", .payload = to_payload(std::int64_t{0})}),
                       "create");
      must(co_await engine_->wait_for_end({made.id}), "wait");
    }
    done_->count_down();
  }

 private:
  const Engine* engine_;
  std::atomic<std::int64_t>* left_;
  std::latch* done_;
};

double steps_per_second(Subject& subject, std::int64_t count) {
  std::atomic<std::int64_t> left = count;
  std::latch done(in_flight);
  Stopwatch watch;
  watch.start();
  for (int client = 0; client < in_flight; ++client) {
    subject.system.spawn<Client>(&subject.engine, &left, &done).send<Go>();
  }
  done.wait();
  watch.stop();
  return static_cast<double>(count * coroutine_steps) / (watch.elapsed_ns() / 1e9);
}

}  // namespace

void coroutines() {
  Subject subject(Durability::durable());
  Worker worker(&subject.engine, {.name = "adder", .executions_max = in_flight});
  worker.on("add_up", add_up);
  worker.start();
  steps_per_second(subject, scaled(1'000));
  print_result("coroutines", steps_per_second(subject, scaled(20'000)), "/s");
  must(subject.system.run(worker.stop()), "stop");
}

}  // namespace weir::bench::workflows
