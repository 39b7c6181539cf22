#pragma once

#include <vector>

#include <weir/bench/views/changes.hpp>

namespace weir::bench::views {

/// Queries end to end, and the same bytes written by RocksDB alone.
void add_query_workloads(std::vector<Workload>& views, std::vector<Workload>& raw);
void add_freshness_workloads(std::vector<Workload>& views);
void add_backfill_workloads(std::vector<Workload>& views);
void add_state_workloads(std::vector<Workload>& views);

}  // namespace weir::bench::views
