#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <weir/cli/output.hpp>
#include <weir/runtime/result.hpp>

namespace weir::cli {

struct TokenOptions {
  std::string name = {};
  /// `read`, `write`, `operate`.
  std::vector<std::string> roles = {"read"};
  std::vector<std::string> namespaces = {};
  /// To be added to this file, which is made if it is not there.
  std::filesystem::path file = {};
};

/// Prints the secret, once, and what a server is to know of it.
Result<> make_token(const TokenOptions& options, Output& output);

}  // namespace weir::cli
