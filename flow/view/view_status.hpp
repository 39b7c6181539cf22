#pragma once

#include <cstdint>
#include <string>

#include <weir/storage/version.hpp>

namespace weir::flow::view {

/// What a view is doing.
enum class ViewPhase : std::uint8_t {
  backfilling,  // takes the rows that were there before it
  live,         // follows every commit
  failing,      // will be tried again
  quarantined,  // failed too often: stays as it is until it is rebuilt
};

const char* to_string(ViewPhase phase) noexcept;

/// How a view is.
struct ViewStatus {
  ViewPhase phase = ViewPhase::backfilling;
  /// What it shows is its query over the tables as of this version.
  storage::Version position = {};
  /// While it is backfilling.
  std::uint64_t rows_taken = 0;
  /// The last failure: what, in which operator, at which input.
  std::string error = {};
  unsigned failures = 0;
};

}  // namespace weir::flow::view
