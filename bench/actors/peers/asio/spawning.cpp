#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "scheduler.hpp"
#include "workloads.hpp"

namespace weir::bench::actors::peers {

namespace {

using Value = std::int64_t;

asio::awaitable<void> skynet_actor(Scheduler* scheduler, Mailbox<Value>* parent, std::int64_t first,
                                   std::int64_t leaves) {
  Value sum = first;
  if (leaves > 1) {
    Mailbox<Value> inbox(*scheduler, 10);
    const std::int64_t share = leaves / 10;
    for (std::int64_t i = 0; i < 10; ++i) {
      scheduler->spawn(skynet_actor(scheduler, &inbox, first + i * share, share));
    }
    sum = 0;
    for (int i = 0; i < 10; ++i) {
      Value value = 0;
      if (!inbox.try_receive(value)) {
        value = co_await inbox.receive();
      }
      sum += value;
    }
  }
  if (!parent->try_send(sum)) {
    co_await parent->send(sum);
  }
}

asio::awaitable<void> skynet_root(Scheduler* scheduler, std::int64_t leaves, Stopwatch* stopwatch) {
  Mailbox<Value> inbox(*scheduler, 1);
  stopwatch->start();
  scheduler->spawn(skynet_actor(scheduler, &inbox, 0, leaves));
  const Value sum = co_await inbox.receive();
  stopwatch->stop();
  verify(sum == leaves * (leaves - 1) / 2, "sum of the leaves");
}

struct ForkJoin {
  std::int64_t actors = fork_join_actors();
  std::int64_t expected = actors * (actors + 1) / 2;
  std::atomic<std::int64_t> sum{0};
  Stopwatch stopwatch;
};

asio::awaitable<void> join_actor(std::shared_ptr<Mailbox<Value>> inbox, ForkJoin* run) {
  Value value = 0;
  if (!inbox->try_receive(value)) {
    value = co_await inbox->receive();
  }
  if (run->sum.fetch_add(value) + value == run->expected) {
    run->stopwatch.stop();
  }
}

asio::awaitable<void> fork_all(Scheduler* scheduler, ForkJoin* run) {
  run->stopwatch.start();
  for (Value i = 1; i <= run->actors; ++i) {
    auto inbox = std::make_shared<Mailbox<Value>>(*scheduler, small_mailbox);
    scheduler->spawn(join_actor(inbox, run));
    inbox->try_send(i);
  }
  co_return;
}

asio::awaitable<void> idle_actor(Mailbox<Value>* inbox, std::atomic<std::int64_t>* sum) {
  *sum += co_await inbox->receive();
}

}  // namespace

void skynet() {
  Scheduler scheduler;
  Stopwatch stopwatch;
  const std::int64_t leaves = skynet_leaves();
  scheduler.spawn(skynet_root(&scheduler, leaves, &stopwatch));
  scheduler.run();
  print_per_million("skynet", stopwatch.elapsed_ns(), leaves);
}

void fork_join() {
  Scheduler scheduler;
  ForkJoin run;
  scheduler.spawn(fork_all(&scheduler, &run));
  scheduler.run();
  verify(run.sum == run.expected, "every actor handled its message");
  print_per_million("fork_join", run.stopwatch.elapsed_ns(), run.actors);
}

void memory() {
  Scheduler scheduler;
  const std::int64_t actors = memory_actors();
  std::atomic<std::int64_t> sum{0};
  std::vector<std::unique_ptr<Mailbox<Value>>> inboxes;
  inboxes.reserve(actors);
  const double before = resident_bytes();
  Stopwatch spawning;
  Stopwatch readying;
  spawning.start();
  readying.start();
  for (std::int64_t i = 0; i < actors; ++i) {
    inboxes.push_back(std::make_unique<Mailbox<Value>>(scheduler, small_mailbox));
    scheduler.spawn(idle_actor(inboxes.back().get(), &sum));
  }
  spawning.stop();
  scheduler.context().poll();
  readying.stop();
  const double references = static_cast<double>(actors) * sizeof(void*);
  const double bytes = resident_bytes() - before - references;
  for (auto& inbox : inboxes) {
    inbox->try_send(1);
  }
  scheduler.run();
  verify(sum == actors, "every idle actor answers");
  const auto each = static_cast<double>(actors);
  print_result("memory", bytes / each, "B",
               {{"spawn_ns", spawning.elapsed_ns() / each},
                {"ready_ns", readying.elapsed_ns() / each},
                {"actors", each}});
}

}  // namespace weir::bench::actors::peers
