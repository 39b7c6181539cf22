#pragma once

#include <string_view>

namespace weir::server::internal {

// What is sent and answered, as `schema_notation.hpp` writes it.
std::string_view schemas() noexcept;
/// Those about executions and workflows.
std::string_view workflow_schemas() noexcept;
/// Those about workers, lanes and notices.
std::string_view claim_schemas() noexcept;

}  // namespace weir::server::internal
