#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <weir/runtime/actor.hpp>
#include <weir/runtime/async_mutex.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/internal/change_format.hpp>
#include <weir/storage/internal/collector.hpp>
#include <weir/storage/internal/conflict_window.hpp>
#include <weir/storage/internal/log_retention.hpp>
#include <weir/storage/internal/store_core.hpp>

namespace weir::storage::internal {

/// The one who commits: decides which transactions may, numbers them, and writes those that came
/// together as one batch.
///
///     Commit  ──accept──> batch ──Flush──> written ──Sync──> on disk ──> published
///
/// In `durable` mode what is written becomes visible when it is on disk, otherwise at once. While
/// one sync is under way the next commits are written, and share the next one. After a failure
/// nothing more is published: whether the failed write survives is not known.
class CommitActor final : public Actor<Commit, Validate, Flush, Sync, Tidy, Collect, Close> {
 public:
  /// Others are accepted while a write waits for the disk.
  static constexpr bool interleaves = true;

  CommitActor(std::shared_ptr<StoreCore> core, StoredStore stored);

  Result<Version> on(Commit commit);
  Result<bool> on(Validate validation);
  Task<> on(Flush);
  Task<> on(Sync);
  Task<> on(Tidy);
  Task<Result<Collectable>> on(Collect);
  Task<Result<bool>> on(Close);
  void on_start();
  Task<> on_stop();

 private:
  // Accepting.
  Result<> validate(const CommitRequest& request) const;
  Result<> validate_spaces(const CommitRequest& request) const;
  Result<> validate_checkpoints(const CommitRequest& request) const;
  Result<> refresh(CommitRequest& request);
  void append(Version version, const CommitRequest& request);
  void append_row(Version version, const Write& write);
  void append_single(Version version, const Write& write, engine::Family family,
                     std::string_view key);
  void append_record(Version version, const CommitRequest& request);
  void append_drop(Version version, std::uint32_t space);
  void note_checkpoint(const Write& write);

  // Writing.
  Result<> write_now();
  Task<Result<>> write_all();
  void note_written(Version last);
  void arrange_sync();
  void arrange_tidy();
  Task<Result<>> sync_written();
  void fail(const Error& cause);
  Task<Result<>> finish();

  // Collecting.
  Task<Result<Collectable>> collect();
  Task<Result<>> sweep_dropped();
  Version kept_since(Duration age);
  Task<Result<Version>> next_log_floor();

  /// Tells that the actor is gone; so it goes last.
  struct Goodbye {
    std::shared_ptr<SequenceBarrier> gone;
    ~Goodbye() { gone->publish(1); }
  };

  const Goodbye goodbye_;
  const std::shared_ptr<StoreCore> core_;

  Version accepted_;  // the newest version that was given
  Version written_;   // visible to readers of the engine
  Version synced_;    // on disk
  ConflictWindow window_;
  LogRetention retention_;
  std::map<std::uint32_t, Version> unswept_;  // dropped key spaces, since when
  VersionTimes times_;
  Version horizon_;  // on disk
  std::optional<Error> failure_;

  std::shared_ptr<engine::Batch> batch_;  // accepted, not written
  std::shared_ptr<engine::Batch> spare_;
  bool is_flush_due_ = false;
  bool is_sync_due_ = false;
  bool is_tidy_due_ = false;
  bool is_meta_unsynced_ = false;
  AsyncMutex writing_;
  AsyncMutex syncing_;
  AsyncMutex collecting_;

  // Memory that is used again and again.
  ChangeList changes_;
  std::string record_;
  std::string key_;
  std::string value_;
};

}  // namespace weir::storage::internal
