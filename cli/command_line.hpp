#pragma once

#include <functional>
#include <string>
#include <vector>

#include <weir/cli/output.hpp>
#include <weir/runtime/result.hpp>

namespace weir::cli {

/// What the command line asks for.
struct Invocation {
  std::function<Result<>(Output&)> run;
  bool is_json = false;
};

/// `usage` says what is wrong and what would be right; the detail of an error without a code is
/// help or a version that was asked for.
Result<Invocation> parse_command_line(const std::vector<std::string>& words);

/// What may stand where the last of these words begins, one a line; `:file` or `:directory` if that
/// is a name of one. `words` are those after the name of the program.
std::string complete_words(std::vector<std::string> words);

}  // namespace weir::cli
