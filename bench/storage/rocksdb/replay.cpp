// RocksDB alone, writing what a store has written.

#include <weir/bench/storage/rocksdb/replay.hpp>

#include <filesystem>
#include <stop_token>
#include <thread>

#include <rocksdb/db.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/write_batch.h>
#include <weir/bench/actors/measure.hpp>
#include <weir/bench/storage/directory.hpp>
#include <weir/storage/rocksdb/internal/tuning.hpp>

namespace weir::bench::storage {
namespace {

using actors::verify;
using ::rocksdb::ColumnFamilyHandle;
using ::rocksdb::Slice;
using weir::storage::Durability;

Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

/// One database with the families of a store.
class Raw {
 public:
  Raw(const std::filesystem::path& path, bool has_log) {
    const auto tuning =
        weir::storage::rocksdb::internal::make_tuning({.directory = path, .write_ahead = has_log});
    std::vector<::rocksdb::ColumnFamilyDescriptor> families;
    for (std::size_t family = 0; family < tuning.families.size(); ++family) {
      families.emplace_back(std::string(weir::storage::engine::family_names[family]),
                            tuning.families[family]);
      // Weir has its own.
      families.back().options.memtable_factory = std::make_shared<::rocksdb::SkipListFactory>();
    }
    ::rocksdb::DB* opened = nullptr;
    const auto status = ::rocksdb::DB::Open(tuning.database, path, families, &families_, &opened);
    verify(status.ok(), status.ToString().c_str());
    database_.reset(opened);
    options_.disableWAL = !has_log;
  }
  ~Raw() {
    for (ColumnFamilyHandle* family : families_) database_->DestroyColumnFamilyHandle(family);
  }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;

  void write(const Recording& recording, std::size_t index) {
    batch_.Clear();
    recording.visit(index, [&](const Recording::Operation& operation) { add(operation); });
    verify(database_->Write(options_, &batch_).ok(), "write");
  }
  void sync() { verify(database_->FlushWAL(true).ok(), "sync"); }

 private:
  void add(const Recording::Operation& operation) {
    ColumnFamilyHandle* family = families_[static_cast<std::size_t>(operation.family)];
    const Slice key = slice(operation.key);
    switch (operation.kind) {
      case Recording::Kind::put: batch_.Put(family, key, slice(operation.value)); break;
      case Recording::Kind::erase: batch_.Delete(family, key); break;
      case Recording::Kind::erase_range:
        batch_.DeleteRange(family, key, slice(operation.value));
        break;
    }
  }

  std::unique_ptr<::rocksdb::DB> database_;
  std::vector<ColumnFamilyHandle*> families_;
  ::rocksdb::WriteBatch batch_;
  ::rocksdb::WriteOptions options_;
};

}  // namespace

double replay(const Recording& recording, Durability durability) {
  const bool has_log = durability.mode != Durability::Mode::memory;
  const Directory directory;
  Raw raw(directory.path() / "db", has_log);
  for (std::size_t batch = 0; batch < recording.measured_from(); ++batch)
    raw.write(recording, batch);
  std::jthread syncing([&](const std::stop_token& stop) {
    while (has_log && !stop.stop_requested()) {
      std::this_thread::sleep_for(durability.interval);
      raw.sync();
    }
  });
  actors::Stopwatch watch;
  watch.start();
  for (std::size_t batch = recording.measured_from(); batch < recording.batches(); ++batch)
    raw.write(recording, batch);
  watch.stop();
  return watch.elapsed_ns();
}

}  // namespace weir::bench::storage
