#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include <rocksdb/compaction_filter.h>

namespace weir::storage::rocksdb::internal {

/// Drops versions that nobody may ask for any more, whenever files are merged.
///
/// A cursor keeps the files it began with, so what it sees is not affected.
class HistoryFilter final : public ::rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "weir.history"; }

  void raise_horizon(std::uint64_t horizon) noexcept {
    std::uint64_t seen = horizon_.load(std::memory_order_relaxed);
    while (seen < horizon &&
           !horizon_.compare_exchange_weak(seen, horizon, std::memory_order_relaxed)) {
    }
  }

  bool Filter(int /*level*/, const ::rocksdb::Slice& key, const ::rocksdb::Slice& /*value*/,
              std::string* /*new_value*/, bool* /*is_changed*/) const override {
    if (key.size() < sizeof(std::uint64_t)) return false;
    std::uint64_t version = 0;
    for (std::size_t i = key.size() - sizeof version; i < key.size(); ++i) {
      version = version << 8 | static_cast<unsigned char>(key[i]);
    }
    // Zero is the horizon of an engine that has not been told one.
    const std::uint64_t horizon = horizon_.load(std::memory_order_relaxed);
    return horizon != 0 && version <= horizon;
  }

 private:
  std::atomic<std::uint64_t> horizon_ = 0;
};

}  // namespace weir::storage::rocksdb::internal
