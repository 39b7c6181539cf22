#pragma once

#include <weir/cli/client.hpp>
#include <weir/cli/output.hpp>

namespace weir::cli {

struct FlowOptions {
  ServerOptions server = {};
  /// Rates are of that time; none if it is zero.
  double interval_seconds = 1;
};

/// What flows where: each table with the views that read it, and those that read them.
Result<> show_flows(const FlowOptions& options, Output& output);

}  // namespace weir::cli
