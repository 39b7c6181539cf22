#pragma once

#include <weir/bench/storage/recording.hpp>
#include <weir/storage/options.hpp>

namespace weir::bench::storage {

/// Writes everything that was recorded to RocksDB alone, with the options that Weir's engine gives
/// it, and gives how long the measured part took, in nanoseconds.
///
/// In `buffered` mode a second thread has the log synced as often as Weir's store has; in `memory`
/// there is no log.
double replay(const Recording& recording, weir::storage::Durability durability);

}  // namespace weir::bench::storage
