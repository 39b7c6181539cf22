#include <atomic>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>

#include "scheduler.hpp"
#include "workloads.hpp"

namespace weir::bench::actors::peers {

namespace {

using Value = std::int64_t;
using Reply = Mailbox<Value>;

struct Request {
  Value value = 0;
  std::shared_ptr<Reply> reply;
};

asio::awaitable<void> respond(Mailbox<Request>* inbox, std::int64_t requests) {
  for (std::int64_t i = 0; i < requests; ++i) {
    Request request;
    if (!inbox->try_receive(request)) {
      request = co_await inbox->receive();
    }
    if (!request.reply->try_send(request.value + 1)) {
      co_await request.reply->send(request.value + 1);
    }
  }
}

asio::awaitable<void> ask_all(Scheduler* scheduler, Mailbox<Request>* responder,
                              std::int64_t requests, Stopwatch* stopwatch) {
  stopwatch->start();
  for (std::int64_t i = 0; i < requests; ++i) {
    Request request{i, std::make_shared<Reply>(*scheduler, 1)};
    if (!responder->try_send(request)) {
      co_await responder->send(request);
    }
    Value value = 0;
    if (!request.reply->try_receive(value)) {
      value = co_await request.reply->receive();
    }
    verify(value == i + 1, "reply to the request");
  }
  stopwatch->stop();
}

/// Waits for the reply or the timer, whichever comes first, with Asio's own operator.
asio::awaitable<void> ask_all_with_deadline(Scheduler* scheduler, Mailbox<Request>* responder,
                                            std::int64_t requests, Stopwatch* stopwatch) {
  using namespace asio::experimental::awaitable_operators;
  asio::steady_timer deadline(co_await asio::this_coro::executor);
  stopwatch->start();
  for (std::int64_t i = 0; i < requests; ++i) {
    Request request{i, std::make_shared<Reply>(*scheduler, 1)};
    if (!responder->try_send(request)) {
      co_await responder->send(request);
    }
    deadline.expires_after(std::chrono::seconds(5));
    const auto outcome = co_await (request.reply->receive(asio::use_awaitable) ||
                                   deadline.async_wait(asio::use_awaitable));
    verify(outcome.index() == 0, "the deadline passed");
    verify(std::get<0>(outcome) == i + 1, "reply to the request");
  }
  stopwatch->stop();
}

struct LatencyRun {
  Scheduler scheduler;
  Mailbox<Request> responder{scheduler, small_mailbox};
  LatencyHistogram latencies;
  std::atomic<bool> is_finished{false};
  std::int64_t load_turns = 0;
};

asio::awaitable<void> ask_timed(LatencyRun* run, std::int64_t requests) {
  for (std::int64_t i = 0; i < requests; ++i) {
    const double start = now_ns();
    Request request{i, std::make_shared<Reply>(run->scheduler, 1)};
    if (!run->responder.try_send(request)) {
      co_await run->responder.send(request);
    }
    Value value = 0;
    if (!request.reply->try_receive(value)) {
      value = co_await request.reply->receive();
    }
    run->latencies.record(static_cast<std::uint64_t>(now_ns() - start));
    verify(value == i + 1, "reply to the request");
  }
  run->is_finished = true;
}

/// Computes for a moment, sends itself a message and yields, as an actor would between two
/// messages.
asio::awaitable<void> keep_busy(LatencyRun* run) {
  Mailbox<std::uint64_t> inbox(run->scheduler, small_mailbox);
  XorShift random(1);
  std::uint64_t value = 1;
  inbox.try_send(value);
  while (!run->is_finished) {
    inbox.try_receive(value);
    for (int i = 0; i < load_steps; ++i) {
      value = random();
    }
    inbox.try_send(value);
    ++run->load_turns;
    co_await asio::post(asio::deferred);
  }
}

}  // namespace

void ask() {
  Scheduler scheduler;
  Mailbox<Request> responder(scheduler, small_mailbox);
  Stopwatch stopwatch;
  scheduler.spawn(respond(&responder, requests()));
  scheduler.spawn(ask_all(&scheduler, &responder, requests(), &stopwatch));
  scheduler.run();
  print_result("ask", stopwatch.elapsed_ns() / static_cast<double>(requests()), "ns");
}

void ask_deadline() {
  Scheduler scheduler;
  Mailbox<Request> responder(scheduler, small_mailbox);
  Stopwatch stopwatch;
  scheduler.spawn(respond(&responder, requests()));
  // The operator runs two branches, which a strand keeps from running at once.
  asio::co_spawn(asio::make_strand(scheduler.context()),
                 ask_all_with_deadline(&scheduler, &responder, requests(), &stopwatch), Rethrow{});
  scheduler.run();
  print_result("ask_deadline", stopwatch.elapsed_ns() / static_cast<double>(requests()), "ns");
}

void latency() {
  LatencyRun run;
  run.scheduler.spawn(respond(&run.responder, latency_requests()));
  run.scheduler.spawn(ask_timed(&run, latency_requests()));
  run.scheduler.spawn(keep_busy(&run));
  run.scheduler.run();
  run.latencies.print(run.load_turns);
}

}  // namespace weir::bench::actors::peers
