#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weir/storage/checkpoint.hpp>
#include <weir/tests/storage/support/crash_script.hpp>

namespace weir::storage::test {

inline constexpr const char* script_consumer = "reader";

ScriptCommit script_commit(int number);

/// The whole store at one version.
struct Moment {
  Rows rows;
  std::map<std::uint64_t, std::string> states;
  std::optional<Checkpoint> checkpoint;
};

/// The store at every version, if its commits were these.
std::vector<Moment> replay_commits(const std::vector<int>& commits);

}  // namespace weir::storage::test
