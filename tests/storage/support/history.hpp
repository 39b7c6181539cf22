#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weir/storage/version.hpp>

namespace weir::storage::test {

/// Who wrote a value: every value in a test names its transaction, and which write of it to the
/// key it was.
struct Writer {
  std::uint64_t transaction = 0;
  std::uint32_t step = 0;

  friend auto operator<=>(const Writer&, const Writer&) = default;
};

/// Whose value a key had; nothing: none.
using Seen = std::optional<Writer>;

enum class Outcome : std::uint8_t { committed, aborted, unknown };

/// What one transaction did, as its client saw it. What it read of its own writes is not in here.
struct TransactionRecord {
  struct Read {
    std::uint64_t key = 0;
    Seen seen = {};
  };
  /// Keys from `begin` until before `end`. All that it found.
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::map<std::uint64_t, Writer> found = {};
  };
  struct Write {
    std::uint32_t step = 0;  // the last one to the key
    bool is_removal = false;
  };

  std::uint64_t id = 0;
  Version snapshot = {};
  std::vector<Read> reads = {};
  std::vector<Range> ranges = {};
  std::map<std::uint64_t, Write> writes = {};
  Outcome outcome = Outcome::unknown;
  Version version = {};  // if it has committed
};

enum class Anomaly : std::uint8_t {
  unknown_value,  // read what nobody wrote
  aborted_read,   // read what was given up
  dirty_read,     // read what was not committed yet, or not the last of it
  lost_update,
  read_skew,
  write_skew,
  phantom,
  long_fork,
  other_cycle,
};

const char* to_string(Anomaly anomaly) noexcept;

/// A proof that there is no serial order of the transactions.
struct Violation {
  Anomaly anomaly;
  std::vector<std::uint64_t> transactions;  // in the order of the cycle
  std::string text;                         // with the keys
};

/// Searches the transactions that committed for a cycle of dependencies: who read whose write, who
/// replaced whose, and who did not see whose. Versions tell the order of the writes to a key, and
/// nothing else. Unknown outcomes count as committed if they have a version, otherwise as aborted.
///
/// Which removal, if any, made a key absent is not seen by those who read it: the one before the
/// snapshot if that fits, otherwise the nearest that does.
std::optional<Violation> find_violation(const std::vector<TransactionRecord>& history);

}  // namespace weir::storage::test
