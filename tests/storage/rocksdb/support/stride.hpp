#pragma once

#include <cstdint>

namespace weir::storage::rocksdb::test {

// Every operation, where that is fast. RocksDB itself is not instrumented, so that a sanitizer sees
// what it can in a sample.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr std::uint64_t stride = 9;
#else
inline constexpr std::uint64_t stride = 1;
#endif
#else
inline constexpr std::uint64_t stride = 1;
#endif

}  // namespace weir::storage::rocksdb::test
