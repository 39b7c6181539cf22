#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include <weir/runtime/result.hpp>
#include <weir/storage/version.hpp>

namespace weir::storage {

namespace engine {
class Engine;
}

/// What `verify` found, if nothing was wrong.
struct VerifyReport {
  Version oldest_logged;
  Version newest;
  std::uint64_t rows = 0;          // newest versions
  std::uint64_t old_versions = 0;  // of rows
  std::uint64_t states = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t changes = 0;
};

struct VerifyOptions {
  /// Called now and then with how many entries have been checked, and of what.
  std::function<void(const char* what, std::uint64_t entries)> on_progress = {};
};

/// Walks everything in a store that is not open: every checksum, every key and value, the order of
/// versions, and whether rows, their history and the change log agree. Gives the first fault with
/// its place, as `Errc::corruption`. Changes nothing, and needs no right to. Waits for the disk,
/// for as long as it takes to read it all; the store cannot be opened meanwhile.
Result<VerifyReport> verify(const std::filesystem::path& directory, VerifyOptions options = {});

/// The same for what is in a backup, whatever its manifest says: see `check_backup`.
Result<VerifyReport> verify_backup(const std::filesystem::path& directory,
                                   VerifyOptions options = {});

/// The same for an engine that is open already.
Result<VerifyReport> verify(engine::Engine& engine, VerifyOptions options = {});

}  // namespace weir::storage
