// RocksDB alone, with the options that Weir's engine gives to the family of rows.

#include <csignal>
#include <cstdio>
#include <memory>
#include <random>
#include <thread>

#include <rocksdb/db.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/write_batch.h>
#include <weir/bench/actors/measure.hpp>
#include <weir/bench/storage/workloads.hpp>
#include <weir/storage/rocksdb/internal/tuning.hpp>

namespace weir::bench::storage {
namespace {

using namespace weir::bench::actors;

std::unique_ptr<::rocksdb::DB> open(const std::filesystem::path& path) {
  const auto tuning = weir::storage::rocksdb::internal::make_tuning({.directory = path});
  auto database = tuning.database;
  database.manual_wal_flush = false;
  ::rocksdb::Options options(
      database, tuning.families[static_cast<std::size_t>(weir::storage::engine::Family::rows)]);
  options.memtable_factory = std::make_shared<::rocksdb::SkipListFactory>();  // Weir has its own
  ::rocksdb::DB* opened = nullptr;
  const auto status = ::rocksdb::DB::Open(options, path, &opened);
  verify(status.ok(), status.ToString().c_str());
  return std::unique_ptr<::rocksdb::DB>(opened);
}

std::string key_of(std::uint64_t row) {
  std::string key(12, '\0');
  for (int i = 0; i < 8; ++i) key[4 + i] = static_cast<char>(row >> (56 - 8 * i));
  return key;
}

void write_rows(::rocksdb::DB& db, std::uint64_t first, int count, bool is_synced) {
  ::rocksdb::WriteBatch batch;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t row = first + static_cast<std::uint64_t>(i);
    batch.Put(key_of(row), value_of(row));
  }
  ::rocksdb::WriteOptions options;
  options.sync = is_synced;
  verify(db.Write(options, &batch).ok(), "write");
}

void load(::rocksdb::DB& db, std::int64_t rows) {
  for (std::int64_t row = 0; row < rows; row += 1000) {
    write_rows(db, static_cast<std::uint64_t>(row), 1000, false);
  }
}

void commit_buffered() {
  const Directory directory;
  const auto db = open(directory.path() / "db");
  const std::int64_t commits = scaled(100'000);
  Stopwatch watch;
  watch.start();
  for (std::int64_t i = 0; i < commits; ++i) {
    write_rows(*db, static_cast<std::uint64_t>(i * rows_per_commit), rows_per_commit, false);
  }
  watch.stop();
  print_result("commit_buffered", static_cast<double>(commits) / watch.elapsed_ns() * 1e9, "/s");
}

void commit_random() {
  const Directory directory;
  const auto db = open(directory.path() / "db");
  const std::int64_t commits = scaled(100'000);
  std::uint64_t row = 0;
  Stopwatch watch;
  watch.start();
  for (std::int64_t i = 0; i < commits; ++i) {
    ::rocksdb::WriteBatch batch;
    for (int each = 0; each < rows_per_commit; ++each, ++row) {
      batch.Put(key_of(scattered(row)), value_of(row));
    }
    verify(db->Write({}, &batch).ok(), "write");
  }
  watch.stop();
  print_result("commit_random", static_cast<double>(commits) / watch.elapsed_ns() * 1e9, "/s");
}

double durable_rate(int threads, std::int64_t commits_each) {
  const Directory directory;
  const auto db = open(directory.path() / "db");
  std::vector<std::thread> workers;
  Stopwatch watch;
  watch.start();
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      for (std::int64_t i = 0; i < commits_each; ++i) {
        const std::int64_t commit = t * commits_each + i;
        write_rows(*db, static_cast<std::uint64_t>(commit * rows_per_commit), rows_per_commit,
                   true);
      }
    });
  }
  for (auto& worker : workers) worker.join();
  watch.stop();
  return static_cast<double>(commits_each * threads) / watch.elapsed_ns() * 1e9;
}

void commit_durable() {
  const double one = durable_rate(1, scaled(1000));
  const double many = durable_rate(committers, scaled(400));
  print_result("commit_durable", many, "/s", {{"one", one}});
}

void read_rows(const char* name, std::int64_t among) {
  const Directory directory;
  const auto db = open(directory.path() / "db");
  const std::int64_t rows = scaled(1'000'000);
  load(*db, rows);
  const std::int64_t reads = scaled(1'000'000);
  const auto wanted = static_cast<std::uint64_t>(among > 0 ? among : rows);
  std::mt19937_64 random(1);
  std::uint64_t bytes = 0;
  ::rocksdb::PinnableSlice value;
  const auto read_all = [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      value.Reset();
      verify(db->Get({}, db->DefaultColumnFamily(), key_of(random() % wanted), &value).ok(), "get");
      bytes += value.size();
    }
  };
  read_all(reads / 4);  // fills the cache
  Stopwatch watch;
  watch.start();
  read_all(reads);
  watch.stop();
  verify(bytes == static_cast<std::uint64_t>(reads + reads / 4) * value_bytes, "bytes");
  print_result(name, watch.elapsed_ns() / static_cast<double>(reads), "ns");
}

void point_read() { read_rows("point_read", 0); }
void hot_read() { read_rows("hot_read", hot_rows); }

void scan() {
  const Directory directory;
  const auto db = open(directory.path() / "db");
  const std::int64_t rows = scaled(1'000'000);
  load(*db, rows);
  settle();
  Stopwatch watch;
  for (int round = 0; round < 2; ++round) {  // the first one fills the cache
    watch = {};
    watch.start();
    std::int64_t seen = 0;
    std::uint64_t bytes = 0;
    const std::unique_ptr<::rocksdb::Iterator> iterator(db->NewIterator({}));
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      ++seen;
      bytes += iterator->key().size() + iterator->value().size();
    }
    watch.stop();
    verify(seen == (rows + 999) / 1000 * 1000 && bytes > 0, "rows");
  }
  print_result("scan", watch.elapsed_ns() / static_cast<double>(rows), "ns");
}

/// The same bytes as the change log has: one value for ten rows with their keys.
void replay() {
  const Directory directory;
  const auto db = open(directory.path() / "db");
  const std::int64_t records = scaled(100'000);
  for (std::int64_t i = 0; i < records; ++i) {
    std::string record(40, 'h');
    for (int row = 0; row < rows_per_commit; ++row) {
      record.append(11, 'k');
      record.append(value_of(static_cast<std::uint64_t>(i * rows_per_commit + row)));
    }
    verify(db->Put({}, key_of(static_cast<std::uint64_t>(i)), record).ok(), "put");
  }
  Stopwatch watch;
  std::uint64_t bytes = 0;
  watch.start();
  const std::unique_ptr<::rocksdb::Iterator> iterator(db->NewIterator({}));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    bytes += iterator->value().size();
  }
  watch.stop();
  verify(bytes > static_cast<std::uint64_t>(records), "bytes");
  print_result("replay", static_cast<double>(records * rows_per_commit) / watch.elapsed_ns() * 1e9,
               "/s");
}

void load_and_die(const std::filesystem::path& path) {
  const auto db = open(path);
  load(*db, scaled(10'000'000));
  verify(db->SyncWAL().ok(), "sync");
  std::printf("%f\n", resident_mebibytes());
  std::fflush(stdout);
  ::kill(::getpid(), SIGKILL);
}

double open_ms(const std::filesystem::path& path) {
  Stopwatch watch;
  watch.start();
  auto db = open(path);
  watch.stop();
  verify(db->Close().ok(), "close");
  return watch.elapsed_ns() / 1e6;
}

void open_loaded() { measure_opening(&load_and_die, &open_ms); }

}  // namespace

const std::vector<Workload>& raw_workloads() {
  static const std::vector<Workload> workloads = {{"commit_buffered", &commit_buffered},
                                                  {"commit_random", &commit_random},
                                                  {"commit_durable", &commit_durable},
                                                  {"point_read", &point_read},
                                                  {"hot_read", &hot_read},
                                                  {"scan", &scan},
                                                  {"replay", &replay},
                                                  {"open", &open_loaded}};
  return workloads;
}

}  // namespace weir::bench::storage
