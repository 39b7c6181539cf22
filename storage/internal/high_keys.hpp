#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <weir/storage/internal/commit_request.hpp>

namespace weir::storage::internal {

/// For each open key space of rows, a key that none of its rows is beyond. Rows that are appended,
/// in the order of their keys, need not be looked up to know that they replace nothing.
///
/// Usable from any thread.
class HighKeys {
 public:
  /// The rows of a space were seen, and `row_key` was the last; without rows: the space alone.
  void learn(std::string_view row_key);
  bool is_known(std::uint32_t space) const;
  /// Must come before the rows can be seen. Tells nothing of spaces that are not known.
  void raise(const std::vector<Write>& writes);
  /// Whether there is surely no such row, in any version since its space was opened.
  bool is_beyond(std::string_view row_key) const;
  /// Marks rows that are new, as far as is known without looking.
  void mark_new(std::vector<Write>& writes) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint32_t, std::string> highest_;  // guarded by `mutex_`
};

}  // namespace weir::storage::internal
