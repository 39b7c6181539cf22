#include <weir/storage/rocksdb/internal/tuning.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cstdarg>
#include <cstddef>

#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/file_checksum.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/write_buffer_manager.h>
#include <weir/storage/rocksdb/internal/memtable.hpp>

namespace weir::storage::rocksdb::internal {
namespace {

using engine::Family;

constexpr std::size_t kibibyte = 1024;
constexpr std::size_t mebibyte = 1024 * kibibyte;

/// What sets one family apart.
struct Role {
  std::size_t write_buffer_part;  // of the memory budget
  std::size_t block_bytes;
  bool has_filter;           // for families in which single keys are looked up, and may be missing
  bool is_appended = false;  // keys come in order
};

constexpr Role role_of(Family family) noexcept {
  switch (family) {
    case Family::meta: return {256, 4 * kibibyte, false};
    case Family::rows: return {8, 8 * kibibyte, true};
    case Family::history: return {16, 16 * kibibyte, false};
    // Appended to and read in order: large blocks cost nothing and pack better.
    case Family::log: return {8, 32 * kibibyte, false, true};
    case Family::state: return {4, 8 * kibibyte, true};
    case Family::checkpoints: return {256, 4 * kibibyte, true};
  }
  return {256, 4 * kibibyte, false};
}

::rocksdb::CompressionType best_compression() {
  const auto supported = ::rocksdb::GetSupportedCompressions();
  const bool has_lz4 = std::ranges::find(supported, ::rocksdb::kLZ4Compression) != supported.end();
  return has_lz4 ? ::rocksdb::kLZ4Compression : ::rocksdb::kNoCompression;
}

int max_open_files(const EngineOptions& options) {
  static constexpr rlim_t needed = 256;
  static constexpr rlim_t enough = 65536;
  if (options.open_files_max != 0) {
    return static_cast<int>(std::min<std::size_t>(options.open_files_max, enough));
  }
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return static_cast<int>(needed);
  return static_cast<int>(std::clamp(limit.rlim_cur / 2, needed, enough));
}

std::shared_ptr<::rocksdb::TableFactory> make_table_factory(
    const Role& role, const std::shared_ptr<::rocksdb::Cache>& cache) {
  ::rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = role.block_bytes;
  table.format_version = 5;
  // In the cache, so that they count; first in the queue for it, since every read needs them.
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  if (role.has_filter) {
    table.filter_policy.reset(::rocksdb::NewBloomFilterPolicy(10));
    table.optimize_filters_for_memory = true;
  }
  return std::shared_ptr<::rocksdb::TableFactory>(::rocksdb::NewBlockBasedTableFactory(table));
}

::rocksdb::ColumnFamilyOptions family_options(Family family, std::size_t budget,
                                              const std::shared_ptr<::rocksdb::Cache>& cache) {
  const Role role = role_of(family);
  ::rocksdb::ColumnFamilyOptions options;
  options.table_factory = make_table_factory(role, cache);
  options.memtable_factory = std::make_shared<MemtableFactory>();
  options.write_buffer_size = std::max(budget / role.write_buffer_part, 64 * kibibyte);
  // A writer that must not wait needs somewhere to write while a flush is under way.
  options.max_write_buffer_number = 4;
  // Most rows that are looked up before they are written are new.
  if (role.has_filter) {
    options.memtable_whole_key_filtering = true;
    options.memtable_prefix_bloom_size_ratio = 0.05;
  }
  options.compression = best_compression();
  // Files that come from memory are soon merged with others: packing them would be done twice. What
  // is appended is never merged: its files move to another level as they are.
  if (!role.is_appended) {
    options.compression_per_level = {::rocksdb::kNoCompression, options.compression};
  }
  options.level_compaction_dynamic_level_bytes = true;
  options.target_file_size_base = std::clamp(budget / 4, 4 * mebibyte, 64 * mebibyte);
  options.max_bytes_for_level_base = 4 * options.target_file_size_base;
  options.force_consistency_checks = true;
  return options;
}

/// For those who may not write, not even what RocksDB has to say.
class SilentLogger final : public ::rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

void protect(::rocksdb::DBOptions& options, const EngineOptions& ours) {
  options.paranoid_checks = true;
  options.wal_recovery_mode = ::rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  // Checks every byte of a sorted file against the manifest, not only its blocks.
  options.file_checksum_gen_factory = ::rocksdb::GetFileChecksumGenCrc32cFactory();
  // A write goes to the log's buffer in this process; only `sync` goes to the disk.
  options.manual_wal_flush = true;
  options.track_and_verify_wals_in_manifest = true;
  // Without a log the families would otherwise reach the disk one by one.
  options.atomic_flush = !ours.write_ahead;
  options.avoid_flush_during_shutdown = true;
}

}  // namespace

Tuning make_tuning(const EngineOptions& options) {
  const std::size_t budget = options.memory_budget;
  Tuning tuning;
  tuning.cache = ::rocksdb::NewLRUCache(budget / 4 * 3);
  auto& database = tuning.database;
  database.create_if_missing = true;
  database.create_missing_column_families = true;
  // Our memtables have one writer at a time, as the engine has.
  database.allow_concurrent_memtable_write = false;
  protect(database, options);
  database.write_buffer_manager =
      std::make_shared<::rocksdb::WriteBufferManager>(budget / 4, tuning.cache);
  // Small families must not keep the log, which is read again after a crash, for long.
  database.max_total_wal_size = std::max(budget / 2, mebibyte);
  // Fewer than eight, so that one flush runs at a time: in parallel they are not always installed
  // in order after one of them failed (RocksDB 7.8).
  database.max_background_jobs = 4;
  database.max_open_files = max_open_files(options);
  // Starting sixteen threads, as is usual, takes longer than opening the files of a small store.
  database.max_file_opening_threads = 4;
  // Files are removed on RocksDB's threads, not on the one that ends a cursor. When it only reads
  // it removes none, and RocksDB 7.8 aborts if it were to hand that on.
  database.avoid_unnecessary_blocking_io = !options.is_read_only;
  database.skip_stats_update_on_db_open = true;
  database.keep_log_file_num = 2;
  database.max_log_file_size = mebibyte;
  database.info_log_level = ::rocksdb::InfoLogLevel::WARN_LEVEL;
  if (options.is_read_only) database.info_log = std::make_shared<SilentLogger>();
  database.stats_dump_period_sec = 0;
  database.stats_persist_period_sec = 0;
  database.statistics = ::rocksdb::CreateDBStatistics();
  database.statistics->set_stats_level(::rocksdb::StatsLevel::kExceptHistogramOrTimers);
  for (std::size_t family = 0; family < engine::family_count; ++family) {
    tuning.families[family] = family_options(static_cast<Family>(family), budget, tuning.cache);
  }
  return tuning;
}

}  // namespace weir::storage::rocksdb::internal
