#include <weir/tests/storage/support/crash_model.hpp>

namespace weir::storage::test {

ScriptCommit script_commit(int number) {
  const auto n = static_cast<std::uint64_t>(number);
  const std::string text = std::to_string(number) + std::string(40, '.');
  ScriptCommit commit;
  if (n % 3 == 0) commit.rows[(n * 7 + 2) % 8] = std::nullopt;
  commit.rows[n * 3 % 8] = text;
  commit.rows[(n * 5 + 1) % 8] = text;
  commit.states[n % 3] = text;
  // No two commits that are made together have one: it may not move back.
  if (n % 4 == 3) commit.checkpoint = {Version{n - 1}, text};
  return commit;
}

std::vector<Moment> replay_commits(const std::vector<int>& commits) {
  std::vector<Moment> moments;
  Moment now;
  for (const int number : commits) {
    const ScriptCommit commit = number < 0 ? ScriptCommit() : script_commit(number);
    for (const auto& [key, value] : commit.rows) {
      if (value) {
        now.rows[key] = *value;
      } else {
        now.rows.erase(key);
      }
    }
    for (const auto& [key, value] : commit.states) now.states[key] = value;
    if (commit.checkpoint) now.checkpoint = commit.checkpoint;
    moments.push_back(now);
  }
  return moments;
}

}  // namespace weir::storage::test
