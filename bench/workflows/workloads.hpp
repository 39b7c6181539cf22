#pragma once

#include <vector>

#include <weir/bench/storage/beside_raw.hpp>

/// The workflow benchmark: what the engine is asked to do, and RocksDB alone beside it.
namespace weir::bench::workflows {

/// Executions that are under way at once.
inline constexpr int in_flight = 256;
inline constexpr int chain_nodes = 10;
inline constexpr int fan_out = 1000;
inline constexpr int payload_bytes = 100;

using storage::Workload;

/// Steps of durable coroutines.
void coroutines();
/// How soon a suspended execution goes on.
void signals();

const std::vector<Workload>& weir_workloads();
/// On PostgreSQL.
const std::vector<Workload>& postgres_workloads();
const std::vector<Workload>& raw_workloads();

}  // namespace weir::bench::workflows
