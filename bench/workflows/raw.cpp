// As many synced writes as the engine answers calls, three for each execution.

#include <weir/bench/actors/measure.hpp>
#include <weir/bench/storage/rocksdb/synced_writes.hpp>
#include <weir/bench/workflows/workloads.hpp>

namespace weir::bench::workflows {
namespace {

constexpr int writers = 64;
constexpr int writes_per_execution = 3;

void cycle_durable() {
  const std::int64_t writes = actors::scaled(60'000) * writes_per_execution;
  const double rate = storage::synced_writes_per_second(writers, writes, payload_bytes);
  actors::print_result("cycle_durable", rate / writes_per_execution, "/s");
}

}  // namespace

const std::vector<Workload>& raw_workloads() {
  static const std::vector<Workload> workloads = {{"cycle_durable", &cycle_durable}};
  return workloads;
}

}  // namespace weir::bench::workflows
