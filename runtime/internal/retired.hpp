#pragma once

#include <memory>

#include <weir/runtime/internal/core.hpp>

namespace weir::internal {

/// Ends a core whose actors have ended. It is freed once no reference to one of its actors is left,
/// at the latest when the next system ends: a reference may outlive the system, and sending to it
/// must still find out that the actor has stopped.
void retire(std::unique_ptr<Core> core) noexcept;

}  // namespace weir::internal
