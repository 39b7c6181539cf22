#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/runtime/result.hpp>

namespace weir::flow::operators {

/// Reads what operators have written in cycles that were committed: for what is not in memory.
///
/// `Errc::would_block` if it had to wait for the disk and may not.
class StateReader {
 public:
  struct Entry {
    std::string key;
    std::string value;
  };
  /// Keys that are not less than `from`, but less than `until`.
  struct Range {
    std::string_view from;
    std::string_view until;
    std::size_t limit;
  };

  virtual ~StateReader() = default;
  virtual Result<std::optional<std::string>> get(std::string_view key) = 0;
  /// The first `limit` entries in order of their keys; fewer only if there are no more.
  virtual Result<std::vector<Entry>> scan(const Range& range) = 0;
};

}  // namespace weir::flow::operators
