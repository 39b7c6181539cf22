#include <atomic>
#include <chrono>

#include "system.hpp"
#include "workloads.hpp"

namespace weir::bench::actors::peers {

namespace {

caf::behavior responder() {
  return {[](Value value) { return value + 1; }};
}

struct AskRun {
  std::int64_t requests;
  /// Infinite when the requests carry no deadline.
  caf::duration deadline;
  Stopwatch stopwatch;
  Completion completion;
};

class Asker : public caf::event_based_actor {
 public:
  Asker(caf::actor_config& config, caf::actor responder, AskRun* run)
      : caf::event_based_actor(config), responder_(std::move(responder)), run_(run) {}

  caf::behavior make_behavior() override {
    return {[this](GoAtom) {
      run_->stopwatch.start();
      ask_next();
    }};
  }

 private:
  void ask_next() {
    request(responder_, run_->deadline, next_).then([this](Value reply) {
      verify(reply == next_ + 1, "reply to the request");
      if (++next_ == run_->requests) {
        run_->stopwatch.stop();
        run_->completion.announce();
      } else {
        ask_next();
      }
    });
  }

  caf::actor responder_;
  Value next_ = 0;
  AskRun* run_;
};

void run_requests(const char* workload, caf::duration deadline) {
  Config config;
  caf::actor_system system(config);
  AskRun run{requests(), deadline, {}, {}};
  const auto asker = system.spawn<Asker>(system.spawn(responder), &run);
  caf::anon_send(asker, GoAtom::value);
  run.completion.wait();
  print_result(workload, run.stopwatch.elapsed_ns() / static_cast<double>(run.requests), "ns");
  end_program();
}

struct LatencyRun {
  std::int64_t requests = latency_requests();
  LatencyHistogram latencies;
  std::atomic<bool> is_finished{false};
  std::int64_t load_turns = 0;
  Completion completion;
};

class TimedAsker : public caf::event_based_actor {
 public:
  TimedAsker(caf::actor_config& config, caf::actor responder, LatencyRun* run)
      : caf::event_based_actor(config), responder_(std::move(responder)), run_(run) {}

  caf::behavior make_behavior() override {
    return {[this](GoAtom) { ask_next(); }};
  }

 private:
  void ask_next() {
    sent_ns_ = now_ns();
    request(responder_, caf::infinite, next_).then([this](Value reply) {
      run_->latencies.record(static_cast<std::uint64_t>(now_ns() - sent_ns_));
      verify(reply == next_ + 1, "reply to the request");
      if (++next_ == run_->requests) {
        run_->is_finished = true;
      } else {
        ask_next();
      }
    });
  }

  caf::actor responder_;
  Value next_ = 0;
  double sent_ns_ = 0;
  LatencyRun* run_;
};

/// Computes for a moment and sends itself the next message.
class LoadActor : public caf::event_based_actor {
 public:
  LoadActor(caf::actor_config& config, LatencyRun* run)
      : caf::event_based_actor(config), run_(run) {}

  caf::behavior make_behavior() override {
    return {[this](Value value) {
      for (int i = 0; i < load_steps; ++i) {
        value = static_cast<Value>(random_());
      }
      ++run_->load_turns;
      if (run_->is_finished) {
        run_->completion.announce();
      } else {
        send(this, value);
      }
    }};
  }

 private:
  XorShift random_{1};
  LatencyRun* run_;
};

}  // namespace

void ask() { run_requests("ask", caf::infinite); }

void ask_deadline() { run_requests("ask_deadline", caf::duration(std::chrono::seconds(5))); }

void latency() {
  Config config;
  caf::actor_system system(config);
  LatencyRun run;
  const auto asker = system.spawn<TimedAsker>(system.spawn(responder), &run);
  caf::anon_send(system.spawn<LoadActor>(&run), Value{1});
  caf::anon_send(asker, GoAtom::value);
  run.completion.wait();
  run.latencies.print(run.load_turns);
  end_program();
}

}  // namespace weir::bench::actors::peers
