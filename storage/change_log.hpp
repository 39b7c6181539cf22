#pragma once

#include <coroutine>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <weir/runtime/sequence_barrier.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/change.hpp>
#include <weir/storage/version.hpp>

namespace weir::storage {

namespace internal {
struct StoreAccess;
struct StoreCore;
}  // namespace internal

/// How much to read at once. A first record that is longer comes alone.
struct ReadLimits {
  std::size_t records_max = 1024;
  std::size_t bytes_max = std::size_t{4} << 20;
};

/// Every change of every commit, in order, without gaps.
///
///     Version seen = ...;
///     for (;;) {
///       WEIR_CO_TRY(records, co_await log.next(seen));
///       for (const ChangeRecord& record : records) ...
///       seen = records.back().version();
///     }
///
/// A consumer that must not miss anything across restarts sets a checkpoint in the transaction that
/// records what it did, and begins again there. Cheap to copy; usable from any thread.
class ChangeLog {
 public:
  class WaitPast;
  using Records = std::vector<ChangeRecord>;

  /// The newest version that may be read.
  Version newest() const noexcept;
  /// The oldest one that is still there.
  Version oldest() const noexcept;

  /// `co_await log.wait_past(version)`: waits until there is a newer one, and gives the newest as a
  /// `Result<Version>`. Nothing polls.
  [[nodiscard]] WaitPast wait_past(Version version) const;

  /// The records after `after`, none if that is the newest. `overtaken` if the log does not reach
  /// back that far any more: then begin again from a snapshot. `future_version` if there is no such
  /// version yet.
  Task<Result<Records>> read(Version after, ReadLimits limits = {}) const;
  /// The same, waiting for at least one.
  Task<Result<Records>> next(Version after, ReadLimits limits = {}) const;
  /// `read` on a thread that may wait.
  Result<Records> read_blocking(Version after, ReadLimits limits = {}) const;

 private:
  friend class Store;
  explicit ChangeLog(std::shared_ptr<internal::StoreCore> core) noexcept;

  std::shared_ptr<internal::StoreCore> core_;
};

class ChangeLog::WaitPast {
 public:
  bool await_ready() const noexcept { return wait_.await_ready(); }
  bool await_suspend(std::coroutine_handle<> handle) { return wait_.await_suspend(handle); }
  Result<Version> await_resume() {
    auto newest = wait_.await_resume();
    if (!newest) return std::move(newest).error();
    return Version{*newest};
  }

 private:
  friend class ChangeLog;
  WaitPast(std::shared_ptr<internal::StoreCore> core, SequenceBarrier& published, Version version)
      : core_(std::move(core)), wait_(published.wait_until(version.number + 1)) {}

  std::shared_ptr<internal::StoreCore> core_;
  SequenceBarrier::Wait wait_;
};

}  // namespace weir::storage
