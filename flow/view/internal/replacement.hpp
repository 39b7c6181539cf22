#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <weir/flow/view/internal/database_core.hpp>
#include <weir/runtime/task.hpp>

namespace weir::flow::view::internal {

/// What a view is called that is built to take the place of another.
inline constexpr std::string_view hidden_prefix = "weir.replacing.";
inline std::string hidden_name(const std::string& name) {
  return std::string(hidden_prefix) + name;
}
inline bool is_hidden(std::string_view name) noexcept { return name.starts_with(hidden_prefix); }

/// Those that came to nothing, as their database was closed.
Task<Result<>> drop_replacements(std::shared_ptr<DatabaseCore> core);

}  // namespace weir::flow::view::internal
