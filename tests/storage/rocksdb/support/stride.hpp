#pragma once

#include <cstdint>

#include <weir/tests/runtime/support/scaled.hpp>

namespace weir::storage::rocksdb::test {

// Every operation, where that is fast. RocksDB itself is not instrumented, so that a sanitizer sees
// what it can in a sample.
inline constexpr std::uint64_t stride = WEIR_TEST_IS_SLOW ? 17 : 1;

}  // namespace weir::storage::rocksdb::test
