#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include <rocksdb/listener.h>
#include <weir/storage/engine/engine.hpp>
#include <weir/storage/rocksdb/internal/failure.hpp>

namespace weir::storage::rocksdb::internal {

/// Turns what RocksDB tells on its threads into events, and latches failures to write files. Lets
/// others go before the threads that merge them.
class Listener final : public ::rocksdb::EventListener {
 public:
  Listener(std::string directory, engine::EventSink* sink, Failure& failure);

  const char* Name() const override { return "weir.listener"; }
  std::uint64_t compactions() const noexcept {
    return compactions_.load(std::memory_order_relaxed);
  }

  void OnFlushBegin(::rocksdb::DB* database, const ::rocksdb::FlushJobInfo& job) override;
  void OnFlushCompleted(::rocksdb::DB* database, const ::rocksdb::FlushJobInfo& job) override;
  void OnCompactionBegin(::rocksdb::DB* database, const ::rocksdb::CompactionJobInfo& job) override;
  void OnCompactionCompleted(::rocksdb::DB* database,
                             const ::rocksdb::CompactionJobInfo& job) override;
  void OnStallConditionsChanged(const ::rocksdb::WriteStallInfo& stall) override;
  void OnBackgroundError(::rocksdb::BackgroundErrorReason reason,
                         ::rocksdb::Status* status) override;
  void OnErrorRecoveryBegin(::rocksdb::BackgroundErrorReason reason, ::rocksdb::Status status,
                            bool* is_automatic) override;

 private:
  using Instant = std::chrono::steady_clock::time_point;

  void tell(const engine::Event& event) const;

  const std::string directory_;
  engine::EventSink* const sink_;
  Failure& failure_;
  std::atomic<std::uint64_t> compactions_ = 0;

  std::mutex mutex_;
  std::map<int, Instant> flushes_;  // since when each job runs; guarded by `mutex_`
};

}  // namespace weir::storage::rocksdb::internal
