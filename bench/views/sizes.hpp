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

}  // namespace weir::bench::views
