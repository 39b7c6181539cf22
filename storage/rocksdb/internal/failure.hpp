#pragma once

#include <atomic>
#include <mutex>

#include <weir/runtime/result.hpp>

namespace weir::storage::rocksdb::internal {

/// Remembers the first failure to write. What the files hold is unknown from then on, so nothing
/// may be acknowledged on top of it until the engine is opened again.
class Failure {
 public:
  /// Keeps `error` if it is the first.
  void latch(const Error& error);
  /// `Errc::failed` with the first error in its detail, if there was one.
  Result<> check() const;

 private:
  std::atomic<bool> has_failed_ = false;
  mutable std::mutex mutex_;
  Error first_;  // guarded by `mutex_`
};

}  // namespace weir::storage::rocksdb::internal
