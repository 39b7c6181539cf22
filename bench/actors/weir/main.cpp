// The actor benchmark in Weir itself: ordinary actors with default supervision and introspection.

#include <array>
#include <cstdio>
#include <string_view>

#include <weir/bench/actors/weir/workloads.hpp>

namespace {

using namespace weir::bench;

struct Workload {
  std::string_view name;
  void (*run)();
};

constexpr std::array workloads{
    Workload{"ping_pong", actors::ping_pong},
    Workload{"count", actors::count},
    Workload{"count_bounded", actors::count_bounded},
    Workload{"many_to_one", actors::many_to_one},
    Workload{"many_to_one_bounded", actors::many_to_one_bounded},
    Workload{"ring", actors::ring},
    Workload{"skynet", actors::skynet},
    Workload{"fork_join", actors::fork_join},
    Workload{"big", actors::big},
    Workload{"ask", actors::ask},
    Workload{"ask_deadline", actors::ask_deadline},
    Workload{"memory", actors::memory},
    Workload{"timers", actors::timers},
    Workload{"latency", actors::latency},
    Workload{"idle", actors::idle},
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
