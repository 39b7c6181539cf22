// The engine on a PostgreSQL server of its own, beside pgbench on the same server.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <weir/bench/actors/measure.hpp>
#include <weir/bench/workflows/cycle.hpp>
#include <weir/bench/workflows/subject.hpp>
#include <weir/bench/workflows/workloads.hpp>
#include <weir/flow/workflow/postgres/open.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/tests/storage/postgres/support/test_server.hpp>

namespace weir::bench::workflows {
namespace {

using actors::print_result;
using actors::scaled;
using actors::Stopwatch;
using flow::workflow::Engine;
using ::weir::storage::postgres::test::TestServer;

constexpr int postgres_in_flight = 64;

std::unique_ptr<TestServer> start_server() {
  auto server = TestServer::start(
      {.syncs = true, .is_on_disk = true, .settings = {"shared_buffers=256MB"}});
  if (!server) std::exit(1);
  return server;
}

/// What a program says in the line that begins so.
double run_and_read(const std::string& command, const std::string& prefix) {
  std::FILE* output = ::popen((command + " 2>/dev/null").c_str(), "r");
  double value = 0;
  std::array<char, 512> line{};
  while (output != nullptr && std::fgets(line.data(), line.size(), output) != nullptr) {
    if (std::string(line.data()).starts_with(prefix))
      value = std::atof(line.data() + prefix.size());
  }
  if (output == nullptr || ::pclose(output) != 0) {
    std::fprintf(stderr, "bench workflows: '%s' failed\n", command.c_str());
    std::exit(1);
  }
  return value;
}

double pgbench_tps(const TestServer& server) {
  const std::string target = " \"" + server.connection() + "\"";
  run_and_read("pgbench -i -q -s 10" + target, "");
  const auto seconds = std::to_string(std::max<std::int64_t>(2, scaled(10)));
  return run_and_read("pgbench -N -c 16 -j 2 -T " + seconds + target, "tps = ");
}

/// An engine on the server.
struct Shared {
  explicit Shared(const TestServer& server)
      : engine(must(system.run(flow::workflow::postgres::open(&system, options_for(server))),
                    "open the engine")) {}

  static flow::workflow::postgres::Options options_for(const TestServer& server) {
    flow::workflow::postgres::Options options;
    options.database.connection = server.connection();
    options.database.on_notice = [](const auto&) {};
    return options;
  }

  ActorSystem system{{.threads = static_cast<unsigned>(actors::threads())}};
  Engine engine;
};

double cycles_per_second(Shared& subject, std::int64_t executions) {
  return workflows::cycles_per_second(subject.system, subject.engine, postgres_in_flight,
                                      executions);
}

void postgres_cycle() {
  const auto server = start_server();
  const double tps = pgbench_tps(*server);
  Shared subject(*server);
  cycles_per_second(subject, scaled(2'000));
  const double rate = cycles_per_second(subject, scaled(60'000));
  print_result("postgres_cycle", rate / tps, "x", {{"cycles", rate}, {"pgbench", tps}});
}

/// Waits for something to do, and notes when it came.
class Waiter final : public Actor<Go> {
 public:
  Waiter(const Engine* engine, SequenceBarrier* done, Stopwatch* watch)
      : engine_(engine), done_(done), watch_(watch) {}

  Task<> on(Go) {
    for (std::uint64_t round = 1;; ++round) {
      auto claimed = co_await engine_->next({.worker = "w"});
      if (!claimed) co_return;
      watch_->stop();
      must(co_await engine_->complete(claimed->at(0).handle), "complete");
      done_->publish(round);
    }
  }

 private:
  const Engine* engine_;
  SequenceBarrier* done_;
  Stopwatch* watch_;
};

Task<std::vector<double>> dispatch(const Engine* engine, SequenceBarrier* done, Stopwatch* watch,
                                   std::uint64_t rounds) {
  std::vector<double> times;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    // Until the other one waits again: the system is idle.
    must(co_await sleep_for(std::chrono::milliseconds(20)), "sleep");
    watch->start();
    must(co_await engine->create_execution({.kind = "work"}), "create");
    must(co_await done->wait_until(round), "wait");
    times.push_back(watch->elapsed_ns() / 1e6);
  }
  co_return times;
}

/// From making an execution in one engine until a worker of another one, which waited, has it.
void postgres_dispatch() {
  const auto server = start_server();
  Shared maker(*server);
  Shared worker(*server);
  SequenceBarrier done;
  Stopwatch watch;
  worker.system.spawn<Waiter>(&worker.engine, &done, &watch).send<Go>();
  const auto rounds = static_cast<std::uint64_t>(scaled(200));
  auto times = maker.system.run(dispatch(&maker.engine, &done, &watch, rounds));
  std::ranges::sort(times);
  print_result("postgres_dispatch", times[times.size() / 2], "ms",
               {{"p99", times[times.size() * 99 / 100]}});
  must(worker.system.run(worker.engine.close()), "close");
}

}  // namespace

const std::vector<Workload>& postgres_workloads() {
  static const std::vector<Workload> workloads = {{"postgres_cycle", &postgres_cycle},
                                                  {"postgres_dispatch", &postgres_dispatch}};
  return workloads;
}

}  // namespace weir::bench::workflows
