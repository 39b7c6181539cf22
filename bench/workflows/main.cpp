// `weir_bench_workflows weir|raw <workload>`: one workload, done by Weir's engine or by RocksDB.

#include <weir/bench/workflows/workloads.hpp>

int main(int argc, char** argv) {
  using namespace weir::bench::workflows;
  return weir::bench::storage::run_beside_raw(argc, argv, weir_workloads(), raw_workloads());
}
