#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <weir/flow/view/internal/flow_definition.hpp>
#include <weir/flow/view/view_status.hpp>

// Persisted: never change. docs/storage_format.md has the bytes.
namespace weir::flow::view::internal {

/// How far a flow has come. Where live flows are in the log is the checkpoint of the coordinator.
struct Progress {
  ViewPhase phase = ViewPhase::backfilling;
  /// Its rows and its state are to be removed before it begins anew.
  bool is_wiping = false;
  std::vector<Backfill> backfill = {};  // for each source
  std::uint64_t rows_taken = 0;
  std::uint32_t failures = 0;
  std::string error = {};

  static auto weir_fields(auto& self) {
    return std::tie(self.phase, self.is_wiping, self.backfill, self.rows_taken, self.failures,
                    self.error);
  }
  friend bool operator==(const Progress&, const Progress&) = default;
};

}  // namespace weir::flow::view::internal
