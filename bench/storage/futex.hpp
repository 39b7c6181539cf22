#pragma once

namespace weir::bench::storage {

/// A thread that wakes another one and is woken: what waking costs here.
double futex_round_trip_us();

}  // namespace weir::bench::storage
