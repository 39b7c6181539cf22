// The actor benchmark in raw Boost.Asio coroutines: a coroutine is an actor, a concurrent channel
// its mailbox. What one would write by hand.

#include <array>
#include <cstdio>
#include <string_view>

#include "workloads.hpp"

namespace {

using namespace weir::bench::actors;

struct Workload {
  std::string_view name;
  void (*run)();
};

constexpr std::array workloads{
    Workload{"ping_pong", peers::ping_pong},
    Workload{"count", peers::count},
    Workload{"count_bounded", peers::count_bounded},
    Workload{"many_to_one", peers::many_to_one},
    Workload{"many_to_one_bounded", peers::many_to_one_bounded},
    Workload{"ring", peers::ring},
    Workload{"skynet", peers::skynet},
    Workload{"fork_join", peers::fork_join},
    Workload{"big", peers::big},
    Workload{"ask", peers::ask},
    Workload{"ask_deadline", peers::ask_deadline},
    Workload{"memory", peers::memory},
    Workload{"timers", peers::timers},
    Workload{"latency", peers::latency},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc == 2 ? argv[1] : "";
  for (const Workload& workload : workloads) {
    if (workload.name == wanted) {
      workload.run();
      return 0;
    }
  }
  std::fprintf(stderr, "usage: %s <workload>, one of:", argv[0]);
  for (const Workload& workload : workloads) {
    std::fprintf(stderr, " %s", workload.name.data());
  }
  std::fprintf(stderr, "\n");
  return 2;
}
