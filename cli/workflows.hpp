#pragma once

#include <cstdint>
#include <string>

#include <weir/cli/client.hpp>
#include <weir/cli/output.hpp>

namespace weir::cli {

struct WorkflowOptions {
  ServerOptions server = {};
  /// Empty: all of them.
  std::string id = {};
  std::uint64_t limit = 50;
  std::string after = {};
  std::string space = {};
};
Result<> show_workflows(const WorkflowOptions& options, Output& output);

struct ExecutionOptions {
  ServerOptions server = {};
  std::string id = {};
  std::uint64_t limit = 50;
  std::string after = {};
  std::string space = {};
  std::string state = {};
  std::string lane = {};
  std::string workflow = {};
};
Result<> show_executions(const ExecutionOptions& options, Output& output);

}  // namespace weir::cli
