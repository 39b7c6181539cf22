#include <weir/bench/storage/rocksdb/synced_writes.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <rocksdb/db.h>

#include <weir/bench/actors/measure.hpp>
#include <weir/bench/storage/directory.hpp>

namespace weir::bench::storage {
namespace {

void verify(const ::rocksdb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "RocksDB: %s\n", status.ToString().c_str());
  std::exit(1);
}

}  // namespace

double synced_writes_per_second(int threads, std::int64_t writes, std::size_t row_bytes) {
  const Directory directory;
  ::rocksdb::Options options;
  options.create_if_missing = true;
  ::rocksdb::DB* opened = nullptr;
  verify(::rocksdb::DB::Open(options, directory.path() / "db", &opened));
  const std::unique_ptr<::rocksdb::DB> db(opened);
  const std::string value(row_bytes, 'x');
  std::atomic<std::int64_t> left = writes;
  actors::Stopwatch watch;
  watch.start();
  std::vector<std::thread> writers;
  for (int writer = 0; writer < threads; ++writer) {
    writers.emplace_back([&] {
      ::rocksdb::WriteOptions durable;
      durable.sync = true;
      for (std::int64_t n; (n = left.fetch_sub(1)) > 0;) {
        verify(db->Put(durable, std::to_string(n), value));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  watch.stop();
  return static_cast<double>(writes) / (watch.elapsed_ns() / 1e9);
}

}  // namespace weir::bench::storage
