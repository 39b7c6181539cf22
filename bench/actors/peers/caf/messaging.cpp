#include <atomic>
#include <vector>

#include "system.hpp"
#include "workloads.hpp"

namespace weir::bench::actors::peers {

namespace {

using PingAtom = caf::atom_constant<caf::atom("ping")>;
using PongAtom = caf::atom_constant<caf::atom("pong")>;

struct Run {
  Stopwatch stopwatch;
  Completion completion;

  void finish() {
    stopwatch.stop();
    completion.announce();
  }
};

caf::behavior pong(caf::event_based_actor* self, caf::actor* ping) {
  return {[self, ping](Value value) { self->send(*ping, value); }};
}

class Ping : public caf::event_based_actor {
 public:
  Ping(caf::actor_config& config, caf::actor pong, Value rounds, Run* run)
      : caf::event_based_actor(config), pong_(std::move(pong)), rounds_(rounds), run_(run) {}

  caf::behavior make_behavior() override {
    return {
        [this](GoAtom) {
          run_->stopwatch.start();
          send(pong_, Value{0});
        },
        [this](Value value) {
          verify(value == next_, "pong does not echo its ping");
          if (++next_ == rounds_) {
            run_->finish();
          } else {
            send(pong_, next_);
          }
        },
    };
  }

 private:
  caf::actor pong_;
  Value rounds_;
  Value next_ = 0;
  Run* run_;
};

struct Flood {
  std::int64_t senders;
  std::int64_t each;
};

class Counter : public caf::event_based_actor {
 public:
  Counter(caf::actor_config& config, Flood flood, Run* run)
      : caf::event_based_actor(config), flood_(flood), run_(run) {}

  caf::behavior make_behavior() override {
    return {[this](Value value) {
      sum_ += value;
      if (++received_ == flood_.senders * flood_.each) {
        verify(sum_ == flood_sum(flood_.senders, flood_.each), "sum of the messages received");
        run_->finish();
      }
    }};
  }

 private:
  Flood flood_;
  std::int64_t received_ = 0;
  std::int64_t sum_ = 0;
  Run* run_;
};

void send_all(caf::event_based_actor* self, const caf::actor& counter, std::int64_t each) {
  for (Value i = 0; i < each; ++i) {
    self->send(counter, i);
  }
}

void run_flood(const char* workload, Flood flood) {
  Config config;
  caf::actor_system system(config);
  Run run;
  run.stopwatch.start();
  const auto counter = system.spawn<Counter>(flood, &run);
  for (std::int64_t i = 0; i < flood.senders; ++i) {
    system.spawn(send_all, counter, flood.each);
  }
  run.completion.wait();
  const std::int64_t messages = flood.senders * flood.each;
  print_result(workload, millions_per_second(messages, run.stopwatch.elapsed_ns()), "M/s");
  end_program();
}

struct RingRun : Run {
  std::vector<caf::actor> actors;
  int last = -1;
};

caf::behavior pass_on(caf::event_based_actor* self, int position, RingRun* run) {
  return {[self, position, run](Value token) {
    if (token == 0) {
      run->last = position;
      run->finish();
    } else {
      self->send(run->actors[(position + 1) % ring_actors], token - 1);
    }
  }};
}

struct BigRun : Run {
  std::vector<caf::actor> actors;
  std::atomic<int> unfinished{big_actors};
};

class BigActor : public caf::event_based_actor {
 public:
  BigActor(caf::actor_config& config, int self, BigRun* run)
      : caf::event_based_actor(config),
        self_(self),
        random_(static_cast<std::uint64_t>(self) + 1),
        run_(run) {}

  caf::behavior make_behavior() override {
    return {
        [this](GoAtom) { send_ping(); },
        [this](PingAtom, int from) { send(run_->actors[from], PongAtom::value); },
        [this](PongAtom) {
          if (++pongs_ < pings_) {
            send_ping();
          } else if (--run_->unfinished == 0) {
            run_->finish();
          }
        },
    };
  }

 private:
  void send_ping() { send(run_->actors[random_.partner_of(self_)], PingAtom::value, self_); }

  int self_;
  XorShift random_;
  std::int64_t pings_ = big_pings();
  std::int64_t pongs_ = 0;
  BigRun* run_;
};

}  // namespace

void ping_pong() {
  Config config;
  caf::actor_system system(config);
  Run run;
  const std::int64_t rounds = ping_pong_rounds();
  caf::actor ping_actor;
  const auto pong_actor = system.spawn(pong, &ping_actor);
  ping_actor = system.spawn<Ping>(pong_actor, rounds, &run);
  caf::anon_send(ping_actor, GoAtom::value);
  run.completion.wait();
  print_result("ping_pong", run.stopwatch.elapsed_ns() / static_cast<double>(rounds), "ns");
  end_program();
}

void count() { run_flood("count", {1, count_messages()}); }

void many_to_one() { run_flood("many_to_one", {many_to_one_senders, many_to_one_each()}); }

void ring() {
  Config config;
  caf::actor_system system(config);
  RingRun run;
  for (int i = 0; i < ring_actors; ++i) {
    run.actors.push_back(system.spawn(pass_on, i, &run));
  }
  const std::int64_t hops = ring_hops();
  run.stopwatch.start();
  caf::anon_send(run.actors.front(), Value{hops});
  run.completion.wait();
  verify(run.last == hops % ring_actors, "the token ended at the wrong actor");
  print_result("ring", run.stopwatch.elapsed_ns() / static_cast<double>(hops), "ns");
  end_program();
}

void big() {
  Config config;
  caf::actor_system system(config);
  BigRun run;
  for (int i = 0; i < big_actors; ++i) {
    run.actors.push_back(system.spawn<BigActor>(i, &run));
  }
  run.stopwatch.start();
  for (const caf::actor& actor : run.actors) {
    caf::anon_send(actor, GoAtom::value);
  }
  run.completion.wait();
  const std::int64_t messages = 2 * big_actors * big_pings();
  print_result("big", millions_per_second(messages, run.stopwatch.elapsed_ns()), "M/s");
  end_program();
}

}  // namespace weir::bench::actors::peers
