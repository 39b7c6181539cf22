// `weir_bench_workflows weir|raw <workload>`: one workload, done by Weir's engine or by RocksDB.

#include <weir/bench/workflows/workloads.hpp>

int main(int argc, char** argv) {
  using namespace weir::bench::workflows;
  std::vector<Workload> all = weir_workloads();
  all.insert(all.end(), postgres_workloads().begin(), postgres_workloads().end());
  return weir::bench::storage::run_beside_raw(argc, argv, all, raw_workloads());
}
