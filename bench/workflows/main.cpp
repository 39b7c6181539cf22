// `weir_bench_workflows weir|raw <workload>`: one workload, done by Weir's engine or by RocksDB.

#include <cstdio>

#include <weir/bench/workflows/workloads.hpp>

int main(int argc, char** argv) {
  using namespace weir::bench::workflows;
  if (argc == 3) {
    const std::string_view subject = argv[1];
    for (const auto& workload : subject == "raw" ? raw_workloads() : weir_workloads()) {
      if (workload.name == argv[2]) {
        workload.run();
        return 0;
      }
    }
  }
  std::fprintf(stderr, "usage: %s weir|raw <workload>\n", argv[0]);
  return 2;
}
