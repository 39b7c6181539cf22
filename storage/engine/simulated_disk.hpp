#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <weir/runtime/result.hpp>
#include <weir/storage/engine/memory_batch.hpp>

namespace weir::storage::engine {

/// What is left of a memory engine when its process is gone: everything synced, and of what was
/// not, as much as the crash leaves.
///
/// For simulation and tests: give one to an engine, crash the node, and open it again. Usable from
/// any thread.
class SimulatedDisk {
 public:
  using Operation = MemoryBatch::Operation;
  using Content = std::array<std::map<std::string, std::string, std::less<>>, family_count>;

  /// The power fails: of the batches that were not synced the first `survivors` are left. An engine
  /// that still writes here is refused until the next one is opened.
  void crash(std::size_t survivors = 0);
  /// Batches that a crash would lose.
  std::size_t unsynced() const;

  /// The n-th write, or sync, from now fails with `error`, and all that follow until `repair`.
  void fail_write(std::uint64_t nth, Error error);
  void fail_sync(std::uint64_t nth, Error error);
  /// Reading keys of a family fails with `error` until `repair`.
  void fail_reads(Family family, Error error);
  void repair();
  /// So many writes and syncs so far, to choose where to fail.
  std::uint64_t writes() const;
  std::uint64_t syncs() const;

  /// For engines: begins a new life. Gives what is on the disk, and the number of the life.
  std::uint64_t attach(Content& content);
  Result<> write(std::uint64_t life, const std::vector<Operation>& operations);
  Result<> sync(std::uint64_t life);
  Result<> check_readable(Family family) const;

 private:
  struct Fault {
    std::uint64_t at = 0;
    Error error;
  };
  static void apply(Content& content, const std::vector<Operation>& operations);
  Result<> check_life(std::uint64_t life) const;

  mutable std::mutex mutex_;
  Content synced_;
  std::vector<std::vector<Operation>> unsynced_;
  std::uint64_t life_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t syncs_ = 0;
  std::optional<Fault> write_fault_;
  std::optional<Fault> sync_fault_;
  std::array<std::optional<Error>, family_count> read_faults_;
  std::atomic<bool> has_read_faults_{false};
};

}  // namespace weir::storage::engine
