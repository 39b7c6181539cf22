#pragma once

#include <cstdint>
#include <filesystem>

namespace weir::storage::test {

/// A directory on a disk whose power can fail: of all that this process does there it is known what
/// is on the disk for sure. It stands below everything, in place of the system's own calls, so that
/// it sees the files of the store itself as well as those of RocksDB.
///
/// There is one. Creating, writing, cutting, syncing, renaming and removing are operations.
class RecordedDisk {
 public:
  /// What a power failure leaves of what was not synced: nothing, or of every file and every
  /// directory some state that it has been in.
  enum class Rest : std::uint8_t { none, some };
  /// Which operations count: those outside of RocksDB's directories `data`, or all.
  enum class Counted : std::uint8_t { own, all };

  /// Watches `root` from here on; everything in it is on the disk.
  RecordedDisk(std::filesystem::path root, Counted counted);
  ~RecordedDisk();
  RecordedDisk(const RecordedDisk&) = delete;
  RecordedDisk& operator=(const RecordedDisk&) = delete;

  /// The power fails at the n-th operation that counts, in the middle of it.
  void crash_at(std::uint64_t nth);
  bool is_down() const;
  /// Leaves in the directory what the disk would hold, and ends the watch. Nothing may be open.
  void crash(std::uint64_t seed, Rest rest);
};

}  // namespace weir::storage::test
