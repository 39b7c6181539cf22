#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <weir/flow/view/internal/flow_definition.hpp>
#include <weir/flow/view/view_status.hpp>

// Persisted: never change. docs/storage_format.md has the bytes.
namespace weir::flow::view::internal {

/// How far a flow that does not go with the others has read the log.
///
/// Tables are read as of the version of their commits. What other views show as of such a version
/// was committed later, so their changes are counted by the version of that commit.
struct LogCursor {
  std::uint64_t tables = 0;
  std::uint64_t views = 0;

  static auto weir_fields(auto& self) { return std::tie(self.tables, self.views); }
  std::uint64_t first() const noexcept { return std::min(tables, views); }
  friend auto operator<=>(const LogCursor&, const LogCursor&) = default;
};

/// What a flow was doing when it failed. Persisted: never renumber.
enum class FailedWork : std::uint8_t { none = 0, changes = 1, rows = 2, tick = 3 };

/// How far a flow has come. Where live flows are in the log is the checkpoint of the coordinator.
struct Progress {
  ViewPhase phase = ViewPhase::backfilling;
  /// Its rows and its state are to be removed before it begins anew.
  bool is_wiping = false;
  std::vector<Backfill> backfill = {};  // for each source
  std::uint64_t rows_taken = 0;
  std::uint32_t failures = 0;  // in a row
  std::string error = {};
  /// Where it is, if it is not where the others are: it has failed, or waits for one that has.
  std::optional<LogCursor> behind = {};
  FailedWork failed_in = FailedWork::none;
  /// The last version of the input that it failed with.
  std::uint64_t failed_until = 0;
  /// The next version that fails is left out.
  bool skips_next = false;
  std::uint64_t skipped = 0;          // versions that were left out since it was built
  std::uint64_t skipped_version = 0;  // the last of them

  static auto weir_fields(auto& self) {
    return std::tie(self.phase, self.is_wiping, self.backfill, self.rows_taken, self.failures,
                    self.error, self.behind, self.failed_in, self.failed_until, self.skips_next,
                    self.skipped, self.skipped_version);
  }
  friend bool operator==(const Progress&, const Progress&) = default;

  void forget_failure() {
    failures = 0;
    error.clear();
    failed_in = FailedWork::none;
    failed_until = 0;
  }
  /// Whether all rows that were there before it are taken.
  bool has_all_rows() const { return std::ranges::all_of(backfill, &Backfill::is_done); }
};

}  // namespace weir::flow::view::internal
