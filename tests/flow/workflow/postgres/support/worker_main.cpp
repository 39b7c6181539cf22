// A worker process: claims and does what there is, badly, until it is killed.
//
//     weir_workflow_postgres_worker <connection> <seed> <ledger>
//
// What it was told that it has completed, and what its durable coroutines did, it adds to the
// ledger, a file of lines that all workers share.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <random>
#include <string>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/postgres/open.hpp>
#include <weir/flow/workflow/worker.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/sleep.hpp>

namespace weir::flow::workflow::postgres::test {
namespace {

using namespace std::chrono_literals;

/// Each line is one write, so that those of others are not in the middle of it.
class Ledger {
 public:
  explicit Ledger(const char* path)
      : file_(::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)) {}
  void add(const std::string& line) const {
    const std::string whole = line + "\n";
    if (::write(file_, whole.data(), whole.size()) < 0) std::abort();
  }

 private:
  int file_;
};

struct Go {};

class Hand final : public Actor<Go> {
 public:
  Hand(const Engine* engine, const Ledger* ledger, std::uint64_t seed)
      : engine_(engine), ledger_(ledger), random_(seed) {}

  Task<> on(Go) {
    for (;;) {
      auto claimed = co_await engine_->next({.worker = "hand", .lease = 300ms});
      if (!claimed) {
        static_cast<void>(co_await sleep_for(20ms));
        continue;
      }
      for (const Claimed& one : *claimed) co_await treat(one.handle);
    }
  }

 private:
  Task<> treat(Handle handle) {
    const auto choice = random_() % 20;
    if (choice == 0) co_return;  // forgotten
    if (choice == 1) {
      static_cast<void>(co_await engine_->fail(handle, {"bad luck"}));
      co_return;
    }
    if (choice == 2) static_cast<void>(co_await engine_->renew(handle, 300ms));
    const std::string mark = std::to_string(random_());
    auto completed = co_await engine_->complete(handle, mark);
    if (completed) ledger_->add("done " + to_string(handle.execution) + " " + mark);
  }

  const Engine* engine_;
  const Ledger* ledger_;
  std::mt19937_64 random_;
};

/// Twice the number and its square, by a way that draws a number and uses it later.
struct Trip {
  const Ledger* ledger;

  Task<std::uint64_t> operator()(WorkflowContext ctx, std::uint64_t number) const {
    const auto draw = [] { return std::uint64_t{std::random_device()()}; };
    const std::uint64_t drawn = co_await ctx.step("draw", draw);
    co_await ctx.sleep(10ms);
    const auto square = ctx.child<std::uint64_t>("square", number, {.retry = {.retries_max = 3}});
    const std::string line = "drew " + to_string(ctx.id()) + " " + std::to_string(drawn);
    const Ledger* const book = ledger;
    co_await ctx.step("spend", [book, line] { book->add(line); });
    const std::uint64_t squared = co_await ctx.result(square);
    co_return 2 * number + squared;
  }
};

/// Processes are killed all the time: nobody waits for long.
Options impatient() {
  Options options;
  options.database.connections = 2;
  options.database.reconnect_backoff = 5ms;
  options.database.reconnect_backoff_max = 50ms;
  options.database.on_notice = [](const storage::postgres::Notice&) {};
  options.ownership = 600ms;
  options.poll = 200ms;
  return options;
}

int work(const char* connection, std::uint64_t seed, const char* path) {
  const Ledger ledger(path);
  ActorSystem system;
  Options options = impatient();
  // [open]
  options.database.connection = connection;  // such as "dbname=jobs"
  auto engine = system.run(postgres::open(&system, options));
  // [/open]
  while (!engine) {
    if (engine.error() != Errc::unavailable) {
      std::fprintf(stderr, "worker: %s\n", engine.error().message().c_str());
      return 1;
    }
    engine = system.run(postgres::open(&system, options));
  }
  for (std::uint64_t hand = 0; hand < 8; ++hand) {
    system.spawn<Hand>(&*engine, &ledger, seed * 100 + hand).send<Go>();
  }
  Worker worker(&*engine, {.name = "guide", .lane = "trips", .lease = 500ms});
  worker.on("trip", Trip{&ledger});
  worker.on("square", [](std::uint64_t number) { return number * number; });
  worker.start();
  std::latch never(1);
  never.wait();
  return 0;
}

}  // namespace
}  // namespace weir::flow::workflow::postgres::test

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc != 4) return 2;
  return weir::flow::workflow::postgres::test::work(argv[1], std::stoull(argv[2]), argv[3]);
}
