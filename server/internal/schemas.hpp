#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace weir::server::internal {

/// JSON schemas of what is sent and answered, by their names. In them `"@Row"` stands for a
/// reference to the schema `Row`.
std::span<const std::pair<std::string_view, std::string_view>> schemas() noexcept;
/// Those about executions and workflows.
std::span<const std::pair<std::string_view, std::string_view>> workflow_schemas() noexcept;
/// Those about workers, lanes and notices.
std::span<const std::pair<std::string_view, std::string_view>> claim_schemas() noexcept;

}  // namespace weir::server::internal
