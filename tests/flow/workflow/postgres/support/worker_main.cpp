// A worker process: claims and does what there is, badly, until it is killed.
//
//     weir_workflow_postgres_worker <connection> <seed>
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <random>
#include <string>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/postgres/open.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/sleep.hpp>

namespace weir::flow::workflow::postgres::test {
namespace {

using namespace std::chrono_literals;

struct Go {};

class Hand final : public Actor<Go> {
 public:
  Hand(const Engine* engine, std::uint64_t seed) : engine_(engine), random_(seed) {}

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
    } else if (choice == 2) {
      static_cast<void>(co_await engine_->renew(handle, 300ms));
      static_cast<void>(co_await engine_->complete(handle, "renewed"));
    } else {
      static_cast<void>(co_await engine_->complete(handle, "done"));
    }
  }

  const Engine* engine_;
  std::mt19937_64 random_;
};

int work(const char* connection, std::uint64_t seed) {
  ActorSystem system;
  Options options;
  options.database.connection = connection;
  options.database.connections = 2;
  options.database.reconnect_backoff = 5ms;
  options.database.reconnect_backoff_max = 50ms;
  options.database.on_notice = [](const storage::postgres::Notice&) {};
  options.ownership = 600ms;
  options.poll = 200ms;
  auto engine = system.run(postgres::open(&system, options));
  while (!engine) {
    if (engine.error() != Errc::unavailable) {
      std::fprintf(stderr, "worker: %s\n", engine.error().message().c_str());
      return 1;
    }
    engine = system.run(postgres::open(&system, options));
  }
  for (std::uint64_t hand = 0; hand < 8; ++hand) {
    system.spawn<Hand>(&*engine, seed * 100 + hand).send<Go>();
  }
  std::latch never(1);
  never.wait();
  return 0;
}

}  // namespace
}  // namespace weir::flow::workflow::postgres::test

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc != 3) return 2;
  return weir::flow::workflow::postgres::test::work(argv[1], std::stoull(argv[2]));
}
