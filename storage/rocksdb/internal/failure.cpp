#include <weir/storage/rocksdb/internal/failure.hpp>

#include <weir/storage/engine/errc.hpp>

namespace weir::storage::rocksdb::internal {

void Failure::latch(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (has_failed_.load(std::memory_order_relaxed)) return;
  first_ = error;
  has_failed_.store(true, std::memory_order_release);
}

Result<> Failure::check() const {
  if (!has_failed_.load(std::memory_order_acquire)) [[likely]]
    return {};
  const std::lock_guard lock(mutex_);
  return Error(engine::Errc::failed, "reopen the store; the first failure: " + first_.message());
}

}  // namespace weir::storage::rocksdb::internal
