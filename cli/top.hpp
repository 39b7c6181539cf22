#pragma once

#include <string>

#include <weir/cli/client.hpp>
#include <weir/cli/output.hpp>

namespace weir::cli {

struct TopOptions {
  ServerOptions server = {};
  double interval_seconds = 1;
  /// Of the actors: one of `actor_orders`.
  std::string order = "mailbox";
};

/// A live view of a server: on a terminal until `q` or Ctrl-C, elsewhere once.
Result<> show_top(const TopOptions& options, Output& output);

}  // namespace weir::cli
