#pragma once

#include <system_error>

namespace weir::cli {

/// Why a command did not succeed. The number is what the process ends with: documented in
/// docs/cli.md, never renumber.
enum class Errc : int {
  failed = 1,   // also: what was asked is not so
  usage = 2,    // the command line is wrong
  unreachable,  // nobody answers at the address
  refused,      // the server wants another token
  not_found,    // no such table, view, execution, directory
  in_use,       // another process has the store open
  unsupported,  // the server does not know this yet
  // Whoever read standard output has left: what a shell gives for a process that SIGPIPE ended.
  closed = 141,
};

const std::error_category& cli_category() noexcept;

inline std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), cli_category()};
}

}  // namespace weir::cli

template <>
struct std::is_error_code_enum<weir::cli::Errc> : std::true_type {};
