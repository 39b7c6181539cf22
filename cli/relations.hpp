#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weir/cli/client.hpp>
#include <weir/cli/output.hpp>

namespace weir::cli {

/// What is to be told of tables or views.
struct RelationOptions {
  ServerOptions server = {};
  /// Empty: all of them.
  std::string name = {};
  bool shows_rows = false;
  std::uint64_t limit = 100;
  /// The `next` of a page.
  std::string after = {};
  std::optional<std::uint64_t> at = {};
};

Result<> show_tables(const RelationOptions& options, Output& output);
Result<> show_views(const RelationOptions& options, Output& output);

/// Of all `tables` or `views`; none if nobody answers.
std::vector<std::string> relation_names(const ServerOptions& server, const std::string& kind);

/// `resume`, `skip` or `rebuild`.
struct RepairOptions {
  ServerOptions server = {};
  std::string name = {};
  std::string how = {};
};
Result<> repair_view(const RepairOptions& options, Output& output);

}  // namespace weir::cli
