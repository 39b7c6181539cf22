#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include <weir/runtime/actor_ref.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/storage/engine/engine.hpp>
#include <weir/storage/internal/commit_request.hpp>
#include <weir/storage/internal/dropped_spaces.hpp>
#include <weir/storage/internal/high_keys.hpp>
#include <weir/storage/internal/pins.hpp>
#include <weir/storage/internal/printable.hpp>
#include <weir/storage/internal/reads_ahead.hpp>
#include <weir/storage/internal/store_directory.hpp>
#include <weir/storage/internal/store_events.hpp>
#include <weir/storage/internal/store_metrics.hpp>
#include <weir/storage/internal/stored_store.hpp>
#include <weir/storage/options.hpp>
#include <weir/storage/version.hpp>

namespace weir::storage::internal {

/// What may go.
struct Collectable {
  Version horizon;    // row versions that ended at or before this one
  Version log_floor;  // change records before this one
};

/// Asks the commit actor for the next version. The commit is visible, and as durable as the store
/// is meant to be, when that version has been published.
struct Commit {
  using Reply = Version;
  std::unique_ptr<CommitRequest> request;
};
/// Whether what a transaction has read still holds; its writes do not matter.
struct Validate {
  using Reply = bool;
  std::unique_ptr<CommitRequest> request;
};
/// Writes what has been accepted.
struct Flush {};
/// Brings what has been written to disk.
struct Sync {};
/// From time to time: lets go what nobody needs any more.
struct Tidy {};
/// The same, now.
struct Collect {
  using Reply = Collectable;
};
/// Writes and syncs what has been accepted, and accepts nothing more.
struct Close {
  using Reply = bool;
};

using CommitRef = ActorRef<Commit, Validate, Collect, Close>;

/// What a store, its transactions and its actors share. Usable from any thread.
struct StoreCore {
  StoreCore(StoreOptions store_options, TimePoint now,
            std::optional<StoreDirectory> store_directory,
            std::unique_ptr<StoreEvents> store_events, std::unique_ptr<engine::Engine> store_engine,
            const StoredStore& stored)
      : options(std::move(store_options)),
        epoch(epoch_at(options, now)),
        directory(std::move(store_directory)),
        events(std::move(store_events)),
        engine(std::move(store_engine)),
        published(stored.newest.number),
        pins(stored.horizon),
        dropped(stored.last_dropped),
        newest_history(stored.newest.number),
        first_logged(stored.log_floor.number) {}
  /// The last one who uses the store closes its files.
  ~StoreCore();
  StoreCore(const StoreCore&) = delete;
  StoreCore& operator=(const StoreCore&) = delete;

  Version newest() const noexcept { return {published.published()}; }
  /// False if every row is still as it was at `version`, or was made since.
  bool has_history_after(Version version) const noexcept {
    return newest_history.load(std::memory_order_acquire) > version.number;
  }
  /// `overtaken` if the change log does not have all that came after `version`.
  Result<> check_log_reaches(Version version) const;
  /// Why nothing more is committed, if so.
  std::optional<Error> end() const {
    const std::lock_guard lock(mutex_);
    return end_;
  }
  /// Nothing more is committed; only the first reason counts.
  void set_end(const Error& reason) {
    const std::lock_guard lock(mutex_);
    if (!end_) end_ = reason;
  }

  const StoreOptions options;
  /// What to add to the system's clock to get the time of day.
  const Duration epoch;
  const std::optional<StoreDirectory> directory;  // its lock; none in memory
  const std::uint64_t identity = directory ? directory->identity() : draw_identity();
  const std::unique_ptr<StoreEvents> events;  // told by the engine; null without telemetry
  const std::unique_ptr<engine::Engine> engine;
  SequenceBarrier published;  // the newest version that may be read
  Pins pins;
  HighKeys high_keys;
  DroppedSpaces dropped;
  /// The newest commit that replaced or removed a row. Raised before that commit is written.
  std::atomic<std::uint64_t> newest_history;
  /// The oldest version in the change log.
  std::atomic<std::uint64_t> first_logged;
  /// Counted by the commit actor.
  std::atomic<std::uint64_t> commits{0};
  std::atomic<std::uint64_t> conflicts{0};
  CommitRef committer;
  /// One when the commit actor is gone and uses nothing of this any more. Outlives both.
  const std::shared_ptr<SequenceBarrier> committer_gone = std::make_shared<SequenceBarrier>();
  /// Reads of scans that may have gone. Outlives both.
  const std::shared_ptr<ReadsAhead> reads_ahead = std::make_shared<ReadsAhead>();
  const std::uint64_t life = next_life();  // tells stores apart

  std::unique_ptr<StoreMetrics> metrics;  // null without telemetry

  /// The time of day when the system's clock shows `now`, in microseconds since 1970.
  std::uint64_t microseconds_at(TimePoint now) const noexcept {
    const Duration since = now.time_since_epoch() + epoch;
    return static_cast<std::uint64_t>(since.count() / 1000);
  }

 private:
  static std::uint64_t next_life() noexcept;
  static Duration epoch_at(const StoreOptions& options, TimePoint now);

  mutable std::mutex mutex_;
  std::optional<Error> end_;  // guarded by `mutex_`
};

}  // namespace weir::storage::internal
