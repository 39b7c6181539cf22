#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weir/runtime/clock.hpp>
#include <weir/storage/version.hpp>

namespace weir::flow::view {

/// What a view is doing. Persisted, but for the last: never renumber.
enum class ViewPhase : std::uint8_t {
  backfilling = 0,  // takes the rows that were there before it
  live = 1,         // follows every commit
  failing = 2,      // will be tried again, with the same input
  quarantined = 3,  // failed too often: stays where it is until it is told to go on
  catching_up = 4,  // takes from the log what it has missed
  waiting = 5,      // does that when one that it reads has come back
};

const char* to_string(ViewPhase phase) noexcept;

/// What a view has done since the database was opened.
struct ViewCounts {
  std::uint64_t cycles = 0;  // that it had something to do in
  std::uint64_t rows_in = 0;
  /// Those of each source, in the order of `Relation::sources`; empty if there were none.
  std::vector<std::uint64_t> rows_from = {};
  std::uint64_t rows_out = 0;    // changes of its rows
  std::uint64_t row_errors = 0;  // rows that could not be computed
  std::uint64_t late_rows = 0;
  std::uint64_t failures = 0;
  std::uint64_t backfill_rows = 0;  // taken that were there before it
  std::uint64_t state_bytes = 0;    // of its state that is in memory
  /// The last row that could not be computed: why, in which operator.
  std::string row_error = {};
};

/// How a view is.
struct ViewStatus {
  std::string name = {};
  ViewPhase phase = ViewPhase::backfilling;
  /// What it shows is its query over the tables as of this version.
  storage::Version position = {};
  /// That were there before it.
  std::uint64_t rows_taken = 0;
  /// While it is backfilling: about how many there are, zero if that is not known; how fast they
  /// are taken, and how long that will take.
  std::uint64_t rows_total = 0;
  double rows_per_second = 0;
  std::optional<Duration> time_left = {};
  /// The last failure: what, in which operator, at which input.
  std::string error = {};
  /// In a row.
  unsigned failures = 0;
  /// The view that has failed, or is built again, if this one cannot go on before it does.
  std::string waits_for = {};
  /// It does not go on by itself: it is quarantined, or waits for one that is, or the store has
  /// failed.
  bool is_stopped = false;
  /// Versions that it was told to leave out since it was built, and the last of them.
  std::uint64_t skipped = 0;
  storage::Version skipped_version = {};
  /// False if it, or a view that it reads, has left something out: then it may differ from its
  /// query until it is rebuilt.
  bool is_exact = true;
  ViewCounts counts = {};

  /// Whether others have seen more than it has.
  bool is_behind() const noexcept {
    return phase == ViewPhase::failing || phase == ViewPhase::quarantined ||
           phase == ViewPhase::catching_up || phase == ViewPhase::waiting;
  }
};

/// How far a view is behind the tables that it is made of.
struct ViewLag {
  /// Commits that changed them since.
  std::uint64_t versions = 0;
  /// How long ago the first of those was.
  std::chrono::microseconds time = {};
};

}  // namespace weir::flow::view
