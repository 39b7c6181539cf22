#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include <weir/cli/client.hpp>
#include <weir/cli/output.hpp>
#include <weir/cli/progress.hpp>

namespace weir::cli {

struct BackupOptions {
  /// Asked for a savepoint if the store is open there.
  ServerOptions server = {};
  std::filesystem::path directory = {};
  std::filesystem::path target = {};
  ShowProgress show = ShowProgress::automatic;
};
/// Copies a store, also one that is being served by a process of this machine.
Result<> back_up(const BackupOptions& options, Output& output);

struct RestoreOptions {
  std::filesystem::path backup = {};
  std::filesystem::path directory = {};
  ShowProgress show = ShowProgress::automatic;
};
/// Makes a store of a backup, where nothing is.
Result<> restore(const RestoreOptions& options, Output& output);

struct VerifyCommandOptions {
  std::filesystem::path directory = {};
  ShowProgress show = ShowProgress::automatic;
};
/// Reads all of a store or a backup. `failed` names the first fault.
Result<> verify_directory(const VerifyCommandOptions& options, Output& output);

struct SavepointOptions {
  ServerOptions server = {};
  std::string name = {};
};
/// How much longer than other answers that of a savepoint may take, for which all that is in memory
/// is written to files.
std::chrono::milliseconds savepoint_wait(const ServerOptions& server);
Result<> list_savepoints(const SavepointOptions& options, Output& output);
Result<> make_savepoint(const SavepointOptions& options, Output& output);
Result<> remove_savepoint(const SavepointOptions& options, Output& output);

}  // namespace weir::cli
