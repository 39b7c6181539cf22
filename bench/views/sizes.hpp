#pragma once

#include <cstdint>

#include <weir/bench/actors/measure.hpp>

/// How much each workload does; less with SCALE.
namespace weir::bench::views {

inline constexpr int filter_map_rounds = 20;
inline std::int64_t filter_map_changes() { return actors::scaled(200'000); }
inline std::int64_t few_loaded() { return actors::scaled(200'000); }
inline std::int64_t few_changed() { return actors::scaled(1'000'000); }
inline std::int64_t many_groups() { return actors::scaled(1'000'000); }
inline std::int64_t many_loaded() { return actors::scaled(2'000'000); }
inline std::int64_t many_changed() { return actors::scaled(1'000'000); }
inline std::int64_t join_customers() { return actors::scaled(100'000); }
inline std::int64_t join_orders() { return actors::scaled(1'000'000); }
inline std::int64_t join_changed() { return actors::scaled(400'000); }
inline std::int64_t top_groups() { return actors::scaled(100'000); }
inline std::int64_t top_loaded() { return actors::scaled(2'000'000); }
inline std::int64_t top_changed() { return actors::scaled(400'000); }
inline constexpr std::int64_t window_customers = 10'000;
inline std::int64_t window_loaded() { return actors::scaled(60'000); }
inline std::int64_t window_changed() { return actors::scaled(300'000); }

inline constexpr int transaction_rows = 1'000;
inline std::int64_t transactions() { return actors::scaled(300); }
inline std::int64_t view_customers() { return actors::scaled(10'000); }
inline constexpr int other_tables = 100;
inline constexpr int flows_per_table = 10;
inline constexpr int independent_flows = 200;
inline constexpr std::int64_t commits_per_second = 2'000;
inline std::int64_t fresh_commits() { return actors::scaled(20'000); }
inline std::int64_t backfill_rows() { return actors::scaled(5'000'000); }
inline std::int64_t spilled_orders() { return actors::scaled(300'000); }
inline std::int64_t spilled_customers() { return actors::scaled(100'000); }

}  // namespace weir::bench::views
