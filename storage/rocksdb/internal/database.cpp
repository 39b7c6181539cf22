#include <weir/storage/rocksdb/internal/database.hpp>

#include <algorithm>
#include <utility>

#include <rocksdb/statistics.h>
#include <rocksdb/utilities/checkpoint.h>
#include <weir/runtime/check.hpp>
#include <weir/storage/rocksdb/internal/status.hpp>

namespace weir::storage::rocksdb::internal {

using engine::Errc;
using engine::Wait;
using ::rocksdb::Status;

namespace {

::rocksdb::ReadOptions make_read_options(Wait wait) {
  ::rocksdb::ReadOptions read;
  read.verify_checksums = true;
  if (wait == Wait::never) read.read_tier = ::rocksdb::kBlockCacheTier;
  return read;
}

const ::rocksdb::ReadOptions& read_options(Wait wait) {
  static const ::rocksdb::ReadOptions never = make_read_options(Wait::never);
  static const ::rocksdb::ReadOptions allowed = make_read_options(Wait::allowed);
  return wait == Wait::never ? never : allowed;
}

}  // namespace

Database::Database(EngineOptions options, std::shared_ptr<::rocksdb::Env> environment)
    : options_(std::move(options)),
      directory_(options_.directory.string()),
      environment_(std::move(environment)),
      listener_(std::make_shared<Listener>(directory_, options_.events, failure_)),
      tuning_(make_tuning(options_)) {
  cursors_.directory = directory_;
  tuning_.database.listeners.push_back(listener_);
  if (environment_) tuning_.database.env = environment_.get();
  tuning_.families[static_cast<std::size_t>(Family::history)].compaction_filter = &history_filter_;
}

Database::~Database() { (void)close(); }

Status Database::open() {
  std::vector<::rocksdb::ColumnFamilyDescriptor> families;
  families.reserve(engine::family_count);
  for (std::size_t family = 0; family < engine::family_count; ++family) {
    families.emplace_back(std::string(engine::family_names[family]), tuning_.families[family]);
  }
  std::vector<::rocksdb::ColumnFamilyHandle*> handles;
  ::rocksdb::DB* database = nullptr;
  const Status status =
      options_.is_read_only
          ? ::rocksdb::DB::OpenForReadOnly(tuning_.database, directory_, families, &handles,
                                           &database)
          : ::rocksdb::DB::Open(tuning_.database, directory_, families, &handles, &database);
  if (!status.ok()) return status;
  database_.reset(database);
  std::ranges::copy(handles, handles_.begin());
  is_closed_ = false;
  return status;
}

Result<> Database::check_open() const {
  if (is_closed_.load(std::memory_order_relaxed)) return Error(Errc::closed, directory_);
  return {};
}

Result<> Database::check_writable() const {
  if (auto open = check_open(); !open) return open;
  if (options_.is_read_only) return Error(Errc::read_only, directory_ + " is open to be read only");
  return failure_.check();
}

Error Database::fail(const Status& status, std::string_view place) {
  Error error = to_error(status, directory_, place);
  failure_.latch(error);
  return error;
}

std::unique_ptr<engine::Batch> Database::make_batch() { return std::make_unique<Batch>(handles_); }

Result<> Database::write(engine::Batch& batch, Wait wait) {
  const std::lock_guard lock(log_mutex_);
  if (auto writable = check_writable(); !writable) return writable;
  auto& ours = static_cast<Batch&>(batch);
  if (!ours.status().ok()) return to_error(ours.status(), directory_, "batch");
  ::rocksdb::WriteOptions write;
  write.disableWAL = !options_.write_ahead;
  write.no_slowdown = wait == Wait::never;
  const Status status = database_->Write(write, &ours.content());
  if (status.ok()) [[likely]]
    return {};
  if (status.IsIncomplete() && wait == Wait::never) {
    return Error(Errc::would_block, directory_ + ": writes are stalled");
  }
  return fail(status, "write");
}

Result<> Database::sync() {
  {
    const std::lock_guard lock(log_mutex_);
    if (auto writable = check_writable(); !writable) return writable;
    if (!options_.write_ahead) return {};
    if (const Status status = database_->FlushWAL(false); !status.ok()) return fail(status, "sync");
  }
  syncs_.fetch_add(1, std::memory_order_relaxed);
  if (const Status status = database_->SyncWAL(); !status.ok()) return fail(status, "sync");
  return {};
}

Result<bool> Database::get(Family family, std::string_view key, std::string& value,
                           Wait wait) const {
  if (auto open = check_open(); !open) return std::move(open).error();
  // If it would have to open a file, RocksDB 7.8 says that it has found a value, and leaves what is
  // there.
  value.clear();
  const Status status = database_->Get(read_options(wait), handle(family), to_slice(key), &value);
  const bool is_in_doubt = wait == Wait::never && value.empty();
  if (status.ok() && is_in_doubt) return Error(Errc::would_block);
  if (status.ok()) return true;
  if (status.IsNotFound()) return false;
  if (status.IsIncomplete()) return Error(Errc::would_block);
  return to_error(status, directory_, describe_key(family, key));
}

Result<bool> Database::get_many(Family family, std::span<engine::Lookup> lookups, Wait wait) const {
  if (auto open = check_open(); !open) return std::move(open).error();
  // RocksDB 7.8 reads the disk here even if it is told not to.
  if (wait == Wait::never) return Engine::get_many(family, lookups, wait);
  std::vector<::rocksdb::Slice> keys;
  std::vector<engine::Lookup*> wanted;
  keys.reserve(lookups.size());
  wanted.reserve(lookups.size());
  for (engine::Lookup& lookup : lookups) {
    if (lookup.is_known) continue;
    keys.push_back(to_slice(lookup.key));
    wanted.push_back(&lookup);
  }
  std::vector<::rocksdb::PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size());
  database_->MultiGet(read_options(Wait::allowed), handle(family), keys.size(), keys.data(),
                      values.data(), statuses.data());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].ok()) {
      wanted[i]->value.emplace(values[i].data(), values[i].size());
    } else if (!statuses[i].IsNotFound()) {
      return to_error(statuses[i], directory_, describe_key(family, wanted[i]->key));
    }
    wanted[i]->is_known = true;
  }
  return true;
}

std::unique_ptr<engine::Cursor> Database::make_cursor(Family family,
                                                      engine::CursorOptions options) const {
  if (auto open = check_open(); !open) {
    return std::make_unique<FailedCursor>(std::move(open).error());
  }
  return std::make_unique<Cursor>(*database_, *handle(family), family, std::move(options),
                                  cursors_);
}

void Database::set_horizon(std::uint64_t horizon) noexcept {
  history_filter_.raise_horizon(horizon);
}

Result<> Database::collect() {
  if (auto writable = check_writable(); !writable) return writable;
  ::rocksdb::CompactRangeOptions range;
  range.exclusive_manual_compaction = false;
  // The filter must see the files at the bottom as well.
  range.bottommost_level_compaction = ::rocksdb::BottommostLevelCompaction::kForceOptimized;
  const Status status = database_->CompactRange(range, handle(Family::history), nullptr, nullptr);
  if (!status.ok()) return to_error(status, directory_, "family 'history'");
  return {};
}

Result<std::vector<std::string>> Database::copy_to(const std::filesystem::path& directory) {
  if (auto writable = check_writable(); !writable) return std::move(writable).error();
  std::error_code ignored;
  if (std::filesystem::exists(directory, ignored)) {
    return Error(Errc::already_exists, directory.string());
  }
  ::rocksdb::Checkpoint* made = nullptr;
  Status status = ::rocksdb::Checkpoint::Create(database_.get(), &made);
  const std::unique_ptr<::rocksdb::Checkpoint> checkpoint(made);
  // Zero: puts all that is in memory into sorted files first, so that every byte of the copy is
  // covered by a checksum in its manifest.
  if (status.ok()) status = checkpoint->CreateCheckpoint(directory.string(), 0);
  if (!status.ok()) return to_error(status, directory_, "copy to " + directory.string());
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

Result<> Database::check_files() {
  if (auto open = check_open(); !open) return open;
  // Reads the manifest to its end, and CURRENT, which names it.
  std::vector<std::string> families;
  Status status = ::rocksdb::DB::ListColumnFamilies(tuning_.database, directory_, &families);
  if (!status.ok()) return to_error(status, directory_, "manifest");
  status = database_->VerifyFileChecksums(::rocksdb::ReadOptions());
  if (!status.ok()) return to_error(status, directory_, "sorted files");
  return {};
}

std::uint64_t Database::property(const std::string& name) const {
  std::uint64_t value = 0;
  return database_->GetAggregatedIntProperty(name, &value) ? value : 0;
}

std::optional<std::uint64_t> Database::approximate_bytes(Family family,
                                                         const engine::Bounds& bounds) const {
  if (!check_open()) return std::nullopt;
  const ::rocksdb::Range range(to_slice(bounds.begin), to_slice(bounds.end));
  ::rocksdb::SizeApproximationOptions options;
  options.include_memtables = true;
  options.include_files = true;
  std::uint64_t bytes = 0;
  if (!database_->GetApproximateSizes(options, handle(family), &range, 1, &bytes).ok())
    return std::nullopt;
  return bytes;
}

engine::Statistics Database::statistics() const {
  if (!check_open()) return {};
  using Property = ::rocksdb::DB::Properties;
  const auto& tickers = *tuning_.database.statistics;
  std::uint64_t files = 0;
  for (auto* family : handles_) {
    ::rocksdb::ColumnFamilyMetaData description;
    database_->GetColumnFamilyMetaData(family, &description);
    files += description.file_count;
  }
  return {.log_bytes = tickers.getTickerCount(::rocksdb::WAL_FILE_BYTES),
          .syncs = syncs_.load(std::memory_order_relaxed),
          .memtable_bytes = property(Property::kCurSizeAllMemTables),
          .cache_bytes = tuning_.cache->GetUsage(),
          .cache_hits = tickers.getTickerCount(::rocksdb::BLOCK_CACHE_HIT),
          .cache_misses = tickers.getTickerCount(::rocksdb::BLOCK_CACHE_MISS),
          .file_bytes = property(Property::kLiveSstFilesSize),
          .files = files,
          .pending_compaction_bytes = property(Property::kEstimatePendingCompactionBytes),
          .compactions = listener_->compactions(),
          .stall_nanoseconds = tickers.getTickerCount(::rocksdb::STALL_MICROS) * 1000,
          .is_stalled = property(Property::kIsWriteStopped) != 0 ||
                        property(Property::kActualDelayedWriteRate) != 0};
}

/// Everything into sorted files, so that the next opening has no log to read.
Status Database::persist() {
  if (options_.write_ahead) {
    // The log first: if there is no room for files, there may be for this.
    if (Status status = database_->FlushWAL(true); !status.ok()) return status;
  }
  return database_->Flush({}, {handles_.begin(), handles_.end()});
}

Status Database::release() {
  for (auto* family : handles_) {
    if (Status status = database_->DestroyColumnFamilyHandle(family); !status.ok()) return status;
  }
  Status status = database_->Close();
  database_.reset();
  return status;
}

Result<> Database::close() {
  if (is_closed_.exchange(true)) return {};
  check(cursors_.open.load(std::memory_order_acquire) == 0,
        "a cursor is still open when its engine closes");
  Result<> writable = failure_.check();
  Status status = writable && !options_.is_read_only ? persist() : Status::OK();
  if (Status released = release(); status.ok()) status = std::move(released);
  if (!writable) return writable;
  if (!status.ok()) return to_error(status, directory_, "close");
  return {};
}

}  // namespace weir::storage::rocksdb::internal
