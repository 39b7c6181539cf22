// As many synced writes as the engine answers calls, three for each execution, by threads of which
// RocksDB writes those together that come together.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include <rocksdb/db.h>

#include <weir/bench/actors/measure.hpp>
#include <weir/bench/storage/directory.hpp>
#include <weir/bench/workflows/workloads.hpp>

namespace weir::bench::workflows {
namespace {

using actors::print_result;
using actors::scaled;
using actors::Stopwatch;

constexpr int writers = 64;
constexpr int writes_per_execution = 3;

void verify(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "bench workflows: %s failed\n", what);
  std::exit(1);
}

void cycle_durable() {
  const storage::Directory directory;
  ::rocksdb::Options options;
  options.create_if_missing = true;
  ::rocksdb::DB* opened = nullptr;
  verify(::rocksdb::DB::Open(options, directory.path() / "db", &opened).ok(), "open");
  const std::unique_ptr<::rocksdb::DB> db(opened);
  const std::int64_t executions = scaled(60'000);
  std::atomic<std::int64_t> left = executions * writes_per_execution;
  const std::string value(payload_bytes, 'x');
  Stopwatch watch;
  watch.start();
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&] {
      ::rocksdb::WriteOptions durable;
      durable.sync = true;
      for (std::int64_t n; (n = left.fetch_sub(1)) > 0;) {
        verify(db->Put(durable, std::to_string(n), value).ok(), "put");
      }
    });
  }
  for (auto& thread : threads) thread.join();
  watch.stop();
  print_result("cycle_durable", static_cast<double>(executions) / (watch.elapsed_ns() / 1e9), "/s");
}

}  // namespace

const std::vector<Workload>& raw_workloads() {
  static const std::vector<Workload> workloads = {{"cycle_durable", &cycle_durable}};
  return workloads;
}

}  // namespace weir::bench::workflows
