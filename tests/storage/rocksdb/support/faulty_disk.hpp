#pragma once

#include <cstdint>
#include <memory>

#include <weir/storage/rocksdb/engine.hpp>

namespace weir::storage::rocksdb::test {

class FaultyFileSystem;

/// A disk that can be full, broken, read-only or gone from a chosen operation on, and that knows
/// what a real one would hold after a power failure.
///
/// Each write, sync, creation, renaming and removal of a file, and each sync of a directory, is one
/// operation. RocksDB's own log and lock files and the names of directories are left alone. Nothing
/// is really synced, which makes it fast. Usable from any thread.
class FaultyDisk {
 public:
  enum class Fault : std::uint8_t { io_error, no_space, read_only };
  /// What a power failure leaves of bytes that were written, but not synced: nothing, some, or some
  /// that end in other bytes. Manifests are torn, but get no garbage.
  enum class Tail : std::uint8_t { lost, torn, garbage };

  FaultyDisk();

  /// An engine whose files are on this disk.
  Result<std::unique_ptr<engine::Engine>> open(EngineOptions options) const;

  /// So many operations since the disk was made, or the last `fail_at`, `crash_at` or `crash`.
  std::uint64_t operations() const;
  /// Those that the calling thread made, since the disk was made. RocksDB tidies up on others.
  std::uint64_t operations_of_this_thread() const;
  /// The n-th operation from now fails, and all after it, until `repair`.
  void fail_at(std::uint64_t nth, Fault fault);
  void repair();
  /// Writes to sorted files wait, as they do behind a slow disk, until they are let go.
  void hold_sorted_files();
  void let_go();
  /// The power fails at the n-th operation from now, in the middle of it.
  void crash_at(std::uint64_t nth);
  /// True once the power has failed.
  bool is_down() const;
  /// Leaves in the files what a disk would hold: of each file what was synced and, as `tail` says,
  /// a random part of the rest; and of new, renamed and removed names, those before the last sync
  /// of their directory and a random number of the first after it. No engine may be open.
  void crash(std::uint64_t seed, Tail tail);

 private:
  std::shared_ptr<FaultyFileSystem> files_;
};

}  // namespace weir::storage::rocksdb::test
