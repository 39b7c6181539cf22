// Weir's store, used as an application would: by tasks and actors of a system with two threads.

#include <csignal>
#include <cstdio>
#include <memory>
#include <random>

#include <weir/bench/actors/measure.hpp>
#include <weir/bench/storage/latency.hpp>
#include <weir/bench/storage/workloads.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/storage/store.hpp>

namespace weir::bench::storage {
namespace {

using namespace weir::bench::actors;
using weir::storage::Durability;
using weir::storage::Store;
using weir::storage::StoreOptions;
using weir::storage::Transaction;
using weir::storage::Version;
using Rows = weir::storage::RowSpace<std::uint64_t, std::string>;

/// A store in a directory of its own.
struct Subject {
  explicit Subject(Durability durability)
      : store(
            Store::open(system, {.directory = directory.path() / "store", .durability = durability})
                .value()),
        rows(system.run(store.open_rows<std::uint64_t, std::string>("rows")).value()) {}

  Directory directory;
  ActorSystem system{{.threads = static_cast<unsigned>(threads())}};
  Store store;
  Rows rows;
};

void put_rows(Transaction& transaction, const Rows& rows, std::uint64_t first, int count) {
  for (int i = 0; i < count; ++i) {
    const std::uint64_t row = first + static_cast<std::uint64_t>(i);
    transaction.put(rows, row, value_of(row));
  }
}

Task<> write_often(Store* store, Rows rows, std::int64_t first, std::int64_t commits, int each) {
  for (std::int64_t i = 0; i < commits; ++i) {
    Transaction transaction = store->begin();
    put_rows(transaction, rows, static_cast<std::uint64_t>((first + i) * each), each);
    const auto version = co_await transaction.commit();
    verify(version.has_value(), "commit");
  }
}

void load(Subject& subject, std::int64_t rows) {
  subject.system.run(write_often(&subject.store, subject.rows, 0, (rows + 999) / 1000, 1000));
}

void commit_buffered() {
  Subject subject(Durability::buffered());
  const std::int64_t commits = scaled(100'000);
  const auto before = subject.store.statistics().log_bytes;
  Stopwatch watch;
  watch.start();
  subject.system.run(write_often(&subject.store, subject.rows, 0, commits, rows_per_commit));
  watch.stop();
  const auto logged = static_cast<double>(subject.store.statistics().log_bytes - before);
  const double encoded = static_cast<double>(commits * rows_per_commit) * (12 + value_bytes);
  print_result("commit_buffered", static_cast<double>(commits) / watch.elapsed_ns() * 1e9, "/s",
               {{"log_per_row", logged / encoded}});
}

Task<> write_scattered(Store* store, Rows rows, std::int64_t commits) {
  std::uint64_t row = 0;
  for (std::int64_t i = 0; i < commits; ++i) {
    Transaction transaction = store->begin();
    for (int each = 0; each < rows_per_commit; ++each, ++row) {
      transaction.put(rows, scattered(row), value_of(row));
    }
    const auto version = co_await transaction.commit();
    verify(version.has_value(), "commit");
  }
}

void commit_random() {
  Subject subject(Durability::buffered());
  const std::int64_t commits = scaled(100'000);
  Stopwatch watch;
  watch.start();
  subject.system.run(write_scattered(&subject.store, subject.rows, commits));
  watch.stop();
  print_result("commit_random", static_cast<double>(commits) / watch.elapsed_ns() * 1e9, "/s");
}

struct Begin {
  using Reply = bool;
  std::int64_t commits;
};

class Committer final : public Actor<Begin> {
 public:
  Committer(Store* store, Rows rows, int number)
      : store_(store), rows_(std::move(rows)), number_(number) {}
  Task<bool> on(Begin begin) {
    co_await write_often(store_, rows_, number_ * begin.commits, begin.commits, rows_per_commit);
    co_return true;
  }

 private:
  Store* store_;
  Rows rows_;
  int number_;
};

Task<> begin_one(ActorRef<Begin> committer, std::int64_t commits) {
  verify((co_await committer.ask<Begin>(commits).within(forever)).has_value(), "committer");
}

Task<> begin_all(ActorSystem* system, Store* store, Rows rows, int count, std::int64_t commits) {
  TaskScope scope;
  for (int i = 0; i < count; ++i) {
    scope.spawn(begin_one(system->spawn<Committer>(store, rows, i), commits));
  }
  co_await scope.join();
}

struct DurableRate {
  double per_second;
  double commits_per_sync;
};

DurableRate durable_rate(int count, std::int64_t commits_each) {
  Subject subject(Durability::durable());
  Stopwatch watch;
  watch.start();
  subject.system.run(begin_all(&subject.system, &subject.store, subject.rows, count, commits_each));
  watch.stop();
  const auto commits = static_cast<double>(commits_each * count);
  return {.per_second = commits / watch.elapsed_ns() * 1e9,
          .commits_per_sync = commits / static_cast<double>(subject.store.statistics().syncs)};
}

void commit_durable() {
  const DurableRate one = durable_rate(1, scaled(1000));
  const DurableRate many = durable_rate(committers, scaled(400));
  print_result(
      "commit_durable", many.per_second, "/s",
      {{"one", one.per_second}, {"per_sync", many.commits_per_sync}, {"sync_us", sync_us()}});
}

Task<> read_often(Store* store, Rows rows, std::int64_t reads, std::uint64_t among) {
  const auto transaction = store->read();
  std::mt19937_64 random(1);
  std::uint64_t bytes = 0;
  for (std::int64_t i = 0; i < reads; ++i) {
    const auto value = co_await transaction.get(rows, random() % among);
    bytes += (*value)->size();
  }
  verify(bytes == static_cast<std::uint64_t>(reads) * value_bytes, "bytes");
}

void read_rows(const char* name, std::int64_t among) {
  Subject subject(Durability::buffered());
  const std::int64_t rows = scaled(1'000'000);
  load(subject, rows);
  const std::int64_t reads = scaled(1'000'000);
  const auto wanted = static_cast<std::uint64_t>(among > 0 ? among : rows);
  subject.system.run(read_often(&subject.store, subject.rows, reads / 4, wanted));
  Stopwatch watch;
  watch.start();
  subject.system.run(read_often(&subject.store, subject.rows, reads, wanted));
  watch.stop();
  print_result(name, watch.elapsed_ns() / static_cast<double>(reads), "ns");
}

void point_read() { read_rows("point_read", 0); }
void hot_read() { read_rows("hot_read", hot_rows); }

Task<> scan_all(Store* store, Rows rows, std::int64_t expected) {
  const auto transaction = store->read();
  auto scan = transaction.scan(rows);
  std::int64_t seen = 0;
  std::uint64_t bytes = 0;
  for (;;) {
    const auto row = co_await scan.next();
    if (!*row) break;
    ++seen;
    bytes += (*row)->value.size();
  }
  verify(seen == expected && bytes > 0, "rows");
}

void scan() {
  Subject subject(Durability::buffered());
  const std::int64_t rows = scaled(1'000'000);
  load(subject, rows);
  settle();
  Stopwatch watch;
  for (int round = 0; round < 2; ++round) {  // the first one fills the cache
    watch = {};
    watch.start();
    subject.system.run(scan_all(&subject.store, subject.rows, (rows + 999) / 1000 * 1000));
    watch.stop();
  }
  print_result("scan", watch.elapsed_ns() / static_cast<double>(rows), "ns");
}

Task<> replay_all(Store* store, std::uint32_t space, std::int64_t expected) {
  const auto log = store->log();
  Version seen{};
  std::int64_t changes = 0;
  while (seen < log.newest()) {
    const auto records = co_await log.read(seen);
    for (const auto& record : *records) {
      for (const auto& change : record.of(space)) changes += change.after.size() == value_bytes;
      seen = record.version();
    }
  }
  verify(changes == expected, "changes");
}

void replay() {
  const Directory directory;
  ActorSystem system({.threads = static_cast<unsigned>(threads())});
  Store store = Store::open(system, {.directory = directory.path() / "store",
                                     .durability = Durability::buffered(),
                                     .retention = {.log = std::chrono::hours(1)}})
                    .value();
  const Rows rows = system.run(store.open_rows<std::uint64_t, std::string>("rows")).value();
  const std::int64_t records = scaled(100'000);
  system.run(write_often(&store, rows, 0, records, rows_per_commit));
  Stopwatch watch;
  watch.start();
  system.run(replay_all(&store, rows.id(), records * rows_per_commit));
  watch.stop();
  print_result("replay", static_cast<double>(records * rows_per_commit) / watch.elapsed_ns() * 1e9,
               "/s");
}

void load_and_die(const std::filesystem::path& path) {
  ActorSystem system({.threads = static_cast<unsigned>(threads())});
  Store store =
      Store::open(system, {.directory = path, .durability = Durability::buffered()}).value();
  const Rows rows = system.run(store.open_rows<std::uint64_t, std::string>("rows")).value();
  system.run(write_often(&store, rows, 0, scaled(10'000'000) / 1000, 1000));
  std::printf("%f\n", resident_mebibytes());
  std::fflush(stdout);
  ::kill(::getpid(), SIGKILL);
}

double open_ms(const std::filesystem::path& path) {
  ActorSystem system({.threads = static_cast<unsigned>(threads())});
  Stopwatch watch;
  watch.start();
  Store store = Store::open(system, {.directory = path}).value();
  watch.stop();
  verify(store.version() > Version{}, "not empty");
  return watch.elapsed_ns() / 1e6;
}

void open_loaded() { measure_opening(&load_and_die, &open_ms); }

}  // namespace

const std::vector<Workload>& weir_workloads() {
  static const std::vector<Workload> workloads = {{"commit_buffered", &commit_buffered},
                                                  {"commit_random", &commit_random},
                                                  {"commit_durable", &commit_durable},
                                                  {"point_read", &point_read},
                                                  {"hot_read", &hot_read},
                                                  {"scan", &scan},
                                                  {"replay", &replay},
                                                  {"open", &open_loaded},
                                                  {"wake", &wake}};
  return workloads;
}

}  // namespace weir::bench::storage
