#pragma once

#include <mutex>
#include <string>

#include <weir/flow/workflow/engine.hpp>

namespace weir::server::internal {

/// What handles are signed with, asked for when it is first needed. Usable from any actor.
class HandleSecret {
 public:
  explicit HandleSecret(const flow::workflow::Engine* engine) noexcept : engine_(engine) {}

  /// Only where there is an engine.
  Task<Result<std::string>> get();

 private:
  const flow::workflow::Engine* const engine_;

  std::mutex mutex_;
  std::string known_;  // guarded by it; empty until then
};

}  // namespace weir::server::internal
