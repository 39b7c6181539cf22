#include <atomic>
#include <cstdint>
#include <deque>

#include "scheduler.hpp"
#include "workloads.hpp"

namespace weir::bench::actors::peers {

namespace {

using Value = std::int64_t;

asio::awaitable<void> pong(Mailbox<Value>* pings, Mailbox<Value>* pongs, std::int64_t rounds) {
  for (std::int64_t i = 0; i < rounds; ++i) {
    Value value = 0;
    if (!pings->try_receive(value)) {
      value = co_await pings->receive();
    }
    if (!pongs->try_send(value)) {
      co_await pongs->send(value);
    }
  }
}

asio::awaitable<void> ping(Mailbox<Value>* pings, Mailbox<Value>* pongs, std::int64_t rounds,
                           Stopwatch* stopwatch) {
  stopwatch->start();
  for (std::int64_t i = 0; i < rounds; ++i) {
    if (!pings->try_send(i)) {
      co_await pings->send(i);
    }
    Value value = 0;
    if (!pongs->try_receive(value)) {
      value = co_await pongs->receive();
    }
    verify(value == i, "pong does not echo its ping");
  }
  stopwatch->stop();
}

asio::awaitable<void> receive_all(Mailbox<Value>* inbox, std::int64_t messages,
                                  std::int64_t expected, Stopwatch* stopwatch) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < messages; ++i) {
    Value value = 0;
    if (!inbox->try_receive(value)) {
      value = co_await inbox->receive();
    }
    sum += value;
  }
  stopwatch->stop();
  verify(sum == expected, "sum of the messages received");
}

asio::awaitable<void> send_all(Mailbox<Value>* outbox, std::int64_t messages) {
  for (std::int64_t i = 0; i < messages; ++i) {
    if (!outbox->try_send(i)) {
      co_await outbox->send(i);
    }
  }
}

void flood(const char* workload, int senders, std::int64_t each, std::size_t capacity) {
  Scheduler scheduler;
  Mailbox<Value> inbox(scheduler, capacity);
  Stopwatch stopwatch;
  stopwatch.start();
  scheduler.spawn(receive_all(&inbox, senders * each, flood_sum(senders, each), &stopwatch));
  for (int i = 0; i < senders; ++i) {
    scheduler.spawn(send_all(&inbox, each));
  }
  scheduler.run();
  print_result(workload, millions_per_second(senders * each, stopwatch.elapsed_ns()), "M/s");
}

struct RingEnd {
  int position = -1;
  Stopwatch stopwatch;
};

asio::awaitable<void> pass_on(int position, Mailbox<Value>* inbox, Mailbox<Value>* next,
                              Scheduler* scheduler, RingEnd* end) {
  for (;;) {
    Value token = 0;
    if (!inbox->try_receive(token)) {
      token = co_await inbox->receive();
    }
    if (token == 0) {
      end->stopwatch.stop();
      end->position = position;
      scheduler->stop();
      co_return;
    }
    if (!next->try_send(token - 1)) {
      co_await next->send(token - 1);
    }
  }
}

struct BigMessage {
  int from = 0;
  bool is_ping = false;
};

struct BigRun {
  Scheduler scheduler;
  std::deque<Mailbox<BigMessage>> inboxes;
  std::atomic<int> unfinished{big_actors};
  Stopwatch stopwatch;
};

/// Keeps one ping under way and answers the pings of others until all have finished.
asio::awaitable<void> big_actor(int self, BigRun* run) {
  XorShift random(static_cast<std::uint64_t>(self) + 1);
  const std::int64_t pings = big_pings();
  std::int64_t pongs = 0;
  run->inboxes[random.partner_of(self)].try_send({self, true});
  for (;;) {
    BigMessage message;
    if (!run->inboxes[self].try_receive(message)) {
      message = co_await run->inboxes[self].receive();
    }
    if (!message.is_ping && ++pongs == pings) {
      if (--run->unfinished == 0) {
        run->stopwatch.stop();
        run->scheduler.stop();
      }
      continue;
    }
    const int to = message.is_ping ? message.from : random.partner_of(self);
    if (!run->inboxes[to].try_send({self, !message.is_ping})) {
      co_await run->inboxes[to].send({self, !message.is_ping});
    }
  }
}

}  // namespace

void ping_pong() {
  Scheduler scheduler;
  Mailbox<Value> pings(scheduler, small_mailbox);
  Mailbox<Value> pongs(scheduler, small_mailbox);
  Stopwatch stopwatch;
  const std::int64_t rounds = ping_pong_rounds();
  scheduler.spawn(pong(&pings, &pongs, rounds));
  scheduler.spawn(ping(&pings, &pongs, rounds, &stopwatch));
  scheduler.run();
  print_result("ping_pong", stopwatch.elapsed_ns() / static_cast<double>(rounds), "ns");
}

void count() { flood("count", 1, count_messages(), unbounded_mailbox); }

void count_bounded() { flood("count_bounded", 1, count_messages(), bounded_mailbox); }

void many_to_one() {
  flood("many_to_one", many_to_one_senders, many_to_one_each(), unbounded_mailbox);
}

void many_to_one_bounded() {
  flood("many_to_one_bounded", many_to_one_senders, many_to_one_each(), bounded_mailbox);
}

void ring() {
  Scheduler scheduler;
  RingEnd end;
  std::deque<Mailbox<Value>> inboxes;
  for (int i = 0; i < ring_actors; ++i) {
    inboxes.emplace_back(scheduler, small_mailbox);
  }
  for (int i = 0; i < ring_actors; ++i) {
    scheduler.spawn(pass_on(i, &inboxes[i], &inboxes[(i + 1) % ring_actors], &scheduler, &end));
  }
  const std::int64_t hops = ring_hops();
  end.stopwatch.start();
  inboxes[0].try_send(hops);
  scheduler.run();
  verify(end.position == hops % ring_actors, "the token ended at the wrong actor");
  print_result("ring", end.stopwatch.elapsed_ns() / static_cast<double>(hops), "ns");
}

void big() {
  BigRun run;
  for (int i = 0; i < big_actors; ++i) {
    run.inboxes.emplace_back(run.scheduler, 256);
  }
  run.stopwatch.start();
  for (int i = 0; i < big_actors; ++i) {
    run.scheduler.spawn(big_actor(i, &run));
  }
  run.scheduler.run();
  const std::int64_t messages = 2 * big_actors * big_pings();
  print_result("big", millions_per_second(messages, run.stopwatch.elapsed_ns()), "M/s");
}

}  // namespace weir::bench::actors::peers
