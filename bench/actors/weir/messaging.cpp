#include <atomic>
#include <cstdint>
#include <vector>

#include <weir/bench/actors/weir/finish.hpp>
#include <weir/bench/actors/weir/workloads.hpp>

namespace weir::bench::actors {

namespace {

struct Begin {};
struct Value {
  std::int64_t value;
};

struct Run {
  Stopwatch stopwatch;
  Finish finish;

  void end() {
    stopwatch.stop();
    finish.done();
  }
};

// --- ping-pong

struct Pong {
  std::int64_t round;
};
struct Meet {
  ActorRef<Pong> other;
};
struct Ping {
  std::int64_t round;
};

class Ponger final : public Actor<Meet, Ping> {
 public:
  void on(Meet meet) { other_ = std::move(meet.other); }
  void on(Ping ping) { other_.send<Pong>(ping.round); }

 private:
  ActorRef<Pong> other_;
};

class Pinger final : public Actor<Begin, Pong> {
 public:
  Pinger(RefOf<Ponger> ponger, std::int64_t rounds, Run* run)
      : ponger_(std::move(ponger)), rounds_(rounds), run_(run) {}

  void on(Begin) {
    ponger_.send<Meet>(self());
    run_->stopwatch.start();
    ponger_.send<Ping>(0);
  }
  void on(Pong pong) {
    verify(pong.round == round_, "echo of the round");
    if (++round_ == rounds_) {
      run_->end();
    } else {
      ponger_.send<Ping>(round_);
    }
  }

 private:
  RefOf<Ponger> ponger_;
  std::int64_t round_ = 0;
  std::int64_t rounds_;
  Run* run_;
};

// --- count and many-to-one

class Counter final : public Actor<Value> {
 public:
  Counter(std::int64_t messages, std::int64_t expected_sum, Run* run)
      : messages_(messages), expected_sum_(expected_sum), run_(run) {}

  void on(Value value) {
    sum_ += value.value;
    if (++received_ == messages_) {
      verify(sum_ == expected_sum_, "sum of the messages");
      run_->end();
    }
  }

 private:
  std::int64_t messages_;
  std::int64_t expected_sum_;
  std::int64_t received_ = 0;
  std::int64_t sum_ = 0;
  Run* run_;
};

class Sender final : public Actor<Begin> {
 public:
  Sender(RefOf<Counter> counter, std::int64_t messages)
      : counter_(std::move(counter)), messages_(messages) {}

  void on(Begin) {
    for (std::int64_t i = 0; i < messages_; ++i) verify(bool(counter_.send<Value>(i)), "send");
  }

 private:
  RefOf<Counter> counter_;
  std::int64_t messages_;
};

class WaitingSender final : public Actor<Begin> {
 public:
  WaitingSender(RefOf<Counter> counter, std::int64_t messages)
      : counter_(std::move(counter)), messages_(messages) {}

  Task<> on(Begin) {
    for (std::int64_t i = 0; i < messages_; ++i) {
      verify(bool(co_await counter_.deliver<Value>(i)), "deliver");
    }
  }

 private:
  RefOf<Counter> counter_;
  std::int64_t messages_;
};

template <class S>
void flood(const char* workload, int senders, std::int64_t each, std::uint32_t capacity) {
  ActorSystem system(system_options());
  Run run;
  const std::int64_t messages = senders * each;
  run.stopwatch.start();
  auto counter = system.spawn<Counter>(SpawnOptions{.mailbox_capacity = capacity}, messages,
                                       flood_sum(senders, each), &run);
  std::vector<RefOf<S>> all;
  for (int i = 0; i < senders; ++i) all.push_back(system.spawn<S>(counter, each));
  for (auto& sender : all) sender.template send<Begin>();
  run.finish.wait();
  print_result(workload, millions_per_second(messages, run.stopwatch.elapsed_ns()), "M/s");
}

// --- ring

struct Hop {
  std::int64_t left;
};
struct Join {
  ActorRef<Hop> next;
};

class RingNode final : public Actor<Join, Hop> {
 public:
  RingNode(int number, Run* run) : number_(number), run_(run) {}

  void on(Join join) { next_ = std::move(join.next); }
  void on(Hop hop) {
    if (hop.left == 0) {
      verify(number_ == ring_hops() % ring_actors, "where the token ends");
      run_->end();
    } else {
      next_.send<Hop>(hop.left - 1);
    }
  }

 private:
  ActorRef<Hop> next_;
  int number_;
  Run* run_;
};

// --- big

struct BigPing {
  int from;
};
struct BigPong {};

struct BigRun : Run {
  std::vector<ActorRef<Begin, BigPing, BigPong>> all;
  std::atomic<int> busy{big_actors};
};

class Chatter final : public Actor<Begin, BigPing, BigPong> {
 public:
  Chatter(int number, std::int64_t pings, BigRun* run)
      : number_(number), left_(pings), random_(static_cast<std::uint64_t>(number) + 1), run_(run) {}

  void on(Begin) { ping(); }
  void on(BigPing ping) { run_->all[static_cast<std::size_t>(ping.from)].send<BigPong>(); }
  void on(BigPong) {
    if (--left_ > 0) {
      ping();
    } else if (--run_->busy == 0) {
      run_->end();
    }
  }

 private:
  void ping() {
    const int partner = random_.partner_of(number_);
    verify(bool(run_->all[static_cast<std::size_t>(partner)].send<BigPing>(number_)), "ping");
  }

  int number_;
  std::int64_t left_;
  XorShift random_;
  BigRun* run_;
};

}  // namespace

void ping_pong() {
  ActorSystem system(system_options());
  Run run;
  const std::int64_t rounds = ping_pong_rounds();
  auto pinger = system.spawn<Pinger>(system.spawn<Ponger>(), rounds, &run);
  pinger.send<Begin>();
  run.finish.wait();
  print_result("ping_pong", run.stopwatch.elapsed_ns() / static_cast<double>(rounds), "ns");
}

void count() { flood<Sender>("count", 1, count_messages(), unbounded); }

void count_bounded() {
  flood<WaitingSender>("count_bounded", 1, count_messages(), bounded_capacity);
}

void many_to_one() {
  flood<Sender>("many_to_one", many_to_one_senders, many_to_one_each(), unbounded);
}

void many_to_one_bounded() {
  flood<WaitingSender>("many_to_one_bounded", many_to_one_senders, many_to_one_each(),
                       bounded_capacity);
}

void ring() {
  ActorSystem system(system_options());
  Run run;
  const std::int64_t hops = ring_hops();
  std::vector<RefOf<RingNode>> nodes;
  for (int i = 0; i < ring_actors; ++i) nodes.push_back(system.spawn<RingNode>(i, &run));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].send<Join>(nodes[(i + 1) % nodes.size()]);
  }
  run.stopwatch.start();
  nodes[0].send<Hop>(hops);
  run.finish.wait();
  print_result("ring", run.stopwatch.elapsed_ns() / static_cast<double>(hops), "ns");
}

void big() {
  BigRun run;
  ActorSystem system(system_options());
  const std::int64_t pings = big_pings();
  for (int i = 0; i < big_actors; ++i) run.all.push_back(system.spawn<Chatter>(i, pings, &run));
  run.stopwatch.start();
  for (auto& actor : run.all) actor.send<Begin>();
  run.finish.wait();
  print_result("big", millions_per_second(2 * big_actors * pings, run.stopwatch.elapsed_ns()),
               "M/s");
}

}  // namespace weir::bench::actors
