// How many steps a second a simulation makes: actors that pass tokens to partners drawn at random,
// ask one of them now and then with a deadline, and sometimes pause on a timer.

#include <cstdio>
#include <string_view>
#include <vector>

#include <weir/bench/actors/measure.hpp>
#include <weir/runtime/simulation.hpp>

namespace {

using namespace weir::bench::actors;
using namespace std::chrono_literals;

constexpr int actor_count = 100;
constexpr int token_count = 200;

struct Token {
  std::int64_t hops_left;
};
struct Hops {
  using Reply = std::int64_t;
};

class Hopper final : public weir::Actor<Token, Hops> {
 public:
  explicit Hopper(const std::vector<weir::ActorRef<Token, Hops>>* all) : all_(all) {}

  weir::Task<> on(Token token) {
    ++hops_;
    if (token.hops_left == 0) co_return;
    const auto& partner = (*all_)[random() % actor_count];
    if (token.hops_left % 16 == 0 && partner != self()) {
      static_cast<void>(co_await partner.ask<Hops>().within(10ms));
    }
    if (token.hops_left % 64 == 0) {
      schedule_once<Token>(1ms, token.hops_left - 1);
    } else {
      partner.send<Token>(token.hops_left - 1);
    }
  }
  std::int64_t on(Hops) const { return hops_; }

 private:
  const std::vector<weir::ActorRef<Token, Hops>>* all_;
  std::int64_t hops_ = 0;
};

weir::Task<std::int64_t> count_hops(const std::vector<weir::ActorRef<Token, Hops>>* all) {
  std::int64_t hops = 0;
  for (const auto& hopper : *all) hops += (co_await hopper.ask<Hops>()).value();
  co_return hops;
}

void steps() {
  const std::int64_t hops_per_token = scaled(25'000);
  std::vector<weir::ActorRef<Token, Hops>> all;
  weir::Simulation simulation({.seed = 1, .steps_max = UINT64_MAX});
  for (int i = 0; i < actor_count; ++i) all.push_back(simulation.system().spawn<Hopper>(&all));
  for (int i = 0; i < token_count; ++i) all[i % actor_count].send<Token>(hops_per_token);
  Stopwatch watch;
  watch.start();
  verify(simulation.run_until_idle(weir::forever) == weir::RunEnd::idle, "idle at the end");
  watch.stop();
  const auto made = static_cast<double>(simulation.steps());
  verify(simulation.run(count_hops(&all)) == token_count * (hops_per_token + 1), "hops");
  print_result("steps", made / watch.elapsed_ns() * 1e9, "/s",
               {{"steps", made}, {"ns_per_step", watch.elapsed_ns() / made}});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "steps") {
    steps();
    return 0;
  }
  std::fprintf(stderr, "usage: %s steps\n", argv[0]);
  return 2;
}
