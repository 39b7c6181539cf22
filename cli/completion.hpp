#pragma once

#include <string>

#include <weir/cli/output.hpp>
#include <weir/runtime/result.hpp>

namespace weir::cli {

struct CompletionOptions {
  /// `bash` or `zsh`.
  std::string shell = {};
};

/// Prints what a shell is to read, so that it asks this program how words go on.
Result<> print_completion(const CompletionOptions& options, Output& output);

}  // namespace weir::cli
