// The actor benchmark on the C++ Actor Framework as Debian packages it (0.17): event-based actors
// on the work-stealing scheduler. Its mailboxes are unbounded, so the bounded workloads are
// missing.

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
    Workload{"many_to_one", peers::many_to_one},
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
