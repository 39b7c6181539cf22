#pragma once

#include <cstdint>
#include <optional>

#include <weir/cli/client.hpp>
#include <weir/cli/output.hpp>

namespace weir::cli {

struct LogOptions {
  ServerOptions server = {};
  /// The version that was seen last.
  std::optional<std::uint64_t> after = {};
  std::uint64_t limit = 20;
  /// Goes on with what comes, until it is told to end.
  bool follows = false;
};

/// Commits, one a line.
Result<> show_log(const LogOptions& options, Output& output);

}  // namespace weir::cli
