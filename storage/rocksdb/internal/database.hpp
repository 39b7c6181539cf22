#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/db.h>
#include <weir/storage/rocksdb/internal/batch.hpp>
#include <weir/storage/rocksdb/internal/cursor.hpp>
#include <weir/storage/rocksdb/internal/failure.hpp>
#include <weir/storage/rocksdb/internal/history_filter.hpp>
#include <weir/storage/rocksdb/internal/listener.hpp>
#include <weir/storage/rocksdb/internal/tuning.hpp>

namespace weir::storage::rocksdb::internal {

/// An engine over one RocksDB database.
class Database final : public engine::Engine {
 public:
  /// `environment` may be null: the system's file system.
  Database(EngineOptions options, std::shared_ptr<::rocksdb::Env> environment);
  /// Closes, if nobody has. A failure then goes unseen.
  ~Database() override;

  /// Must succeed before anything else is called.
  ::rocksdb::Status open();

  std::unique_ptr<engine::Batch> make_batch() override;
  Result<> write(engine::Batch& batch, engine::Wait wait) override;
  Result<> sync() override;
  Result<bool> get(Family family, std::string_view key, std::string& value,
                   engine::Wait wait) const override;
  Result<bool> get_many(Family family, std::span<engine::Lookup> lookups,
                        engine::Wait wait) const override;
  std::unique_ptr<engine::Cursor> make_cursor(Family family,
                                              engine::CursorOptions options) const override;
  std::optional<std::uint64_t> approximate_bytes(Family family,
                                                 const engine::Bounds& bounds) const override;
  void set_horizon(std::uint64_t horizon) noexcept override;
  Result<> collect() override;
  Result<std::vector<std::string>> copy_to(const std::filesystem::path& directory) override;
  Result<> check_files() override;
  engine::Statistics statistics() const override;
  Result<> close() override;

 private:
  ::rocksdb::ColumnFamilyHandle* handle(Family family) const noexcept {
    return handles_[static_cast<std::size_t>(family)];
  }
  /// Neither closed nor failed.
  Result<> check_writable() const;
  Result<> check_open() const;
  Error fail(const ::rocksdb::Status& status, std::string_view place);
  ::rocksdb::Status persist();
  ::rocksdb::Status release();
  std::uint64_t property(const std::string& name) const;

  const EngineOptions options_;
  const std::string directory_;
  const std::shared_ptr<::rocksdb::Env> environment_;
  Failure failure_;
  // RocksDB keeps pointers to these two.
  HistoryFilter history_filter_;
  const std::shared_ptr<Listener> listener_;
  Tuning tuning_;

  // Held while the log is written to, until a failure is latched: RocksDB 7.8 ends the process when
  // a log is written to after it has failed.
  std::mutex log_mutex_;
  std::unique_ptr<::rocksdb::DB> database_;
  Handles handles_ = {};
  mutable CursorContext cursors_;
  std::atomic<std::uint64_t> syncs_ = 0;
  std::atomic<bool> is_closed_ = true;
};

}  // namespace weir::storage::rocksdb::internal
