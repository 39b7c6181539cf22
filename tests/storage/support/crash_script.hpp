#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weir/runtime/simulation.hpp>
#include <weir/storage/store.hpp>
#include <weir/tests/storage/rocksdb/support/faulty_disk.hpp>
#include <weir/tests/storage/support/store_fixture.hpp>
#include <weir/tests/storage/support/workload.hpp>

// Commits, collecting, savepoints and reopening on a disk that fails somewhere in between.
namespace weir::storage::test {

/// A store in a directory on a faulty disk, from its opening to its end. What runs on it, runs
/// under simulation: only RocksDB has threads.
class StoreLife {
 public:
  StoreLife(rocksdb::test::FaultyDisk& disk, const std::filesystem::path& directory);

  /// Why it could not be opened; the rest must not be used then.
  const std::optional<Error>& error() const noexcept { return error_; }
  Store& store() { return *store_; }
  const Spaces& spaces() const { return *spaces_; }
  template <class T>
  T run(Task<T> task) {
    return simulation_.run(std::move(task));
  }

 private:
  Result<> open(rocksdb::test::FaultyDisk& disk, const std::filesystem::path& directory);

  Simulation simulation_;
  std::optional<Store> store_;
  std::optional<Spaces> spaces_;
  std::optional<Error> error_;
};

/// Makes the directory of a store that has its key spaces and nothing else: what a script begins
/// with.
void make_fresh_store(const std::filesystem::path& directory);

/// What commit number `commit` of the script writes.
struct ScriptCommit {
  Edits rows;
  std::map<std::uint64_t, std::string> states;
  std::optional<Checkpoint> checkpoint;
};

/// How far the script came.
struct ScriptProgress {
  /// By version, whose commit it was; those of the fresh store are -1.
  std::vector<int> acknowledged;
  int begun = 0;  // commits before this one may have happened
  /// Versions before this one may have been collected.
  Version collected;
  std::vector<std::string> savepoints;  // acknowledged
  std::optional<Error> failure;         // the first
};

/// Runs the script until something fails.
ScriptProgress run_script(rocksdb::test::FaultyDisk& disk, const std::filesystem::path& directory);
inline constexpr int script_commits = 22;
/// So many versions does a fresh store have.
inline constexpr int fresh_versions = 2;

/// Opens the store again and expects what a crash may leave: everything acknowledged and nothing
/// but a prefix of the script, the same in rows, history, log, states, checkpoints and savepoints;
/// and that it goes on from there.
void expect_prefix(rocksdb::test::FaultyDisk& disk, const std::filesystem::path& directory,
                   const ScriptProgress& progress);

}  // namespace weir::storage::test
