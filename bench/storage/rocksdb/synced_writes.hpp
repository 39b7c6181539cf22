#pragma once

#include <cstdint>

namespace weir::bench::storage {

/// How many synced writes of one row RocksDB makes in a second by so many threads; it writes those
/// together that come together.
double synced_writes_per_second(int threads, std::int64_t writes, std::size_t row_bytes);

}  // namespace weir::bench::storage
