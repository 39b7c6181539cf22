#include <algorithm>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/validation.hpp>

namespace weir::flow::workflow {
namespace {

using Kind = WaitCondition::Kind;
using Distinct = WaitCondition::Distinct;

Result<> validate_waitpoints(const std::vector<std::string>& waitpoints) {
  if (waitpoints.size() > waitpoints_max) {
    return Error(Errc::too_large, std::to_string(waitpoints.size()) + " waitpoints, of at most " +
                                      std::to_string(waitpoints_max));
  }
  for (auto at = waitpoints.begin(); at != waitpoints.end(); ++at) {
    if (auto valid = internal::validate_name("waitpoint", *at); !valid) return valid;
    if (std::find(waitpoints.begin(), at, *at) == at) continue;
    return Error(Errc::invalid_argument, "waitpoint '" + *at + "' is there twice");
  }
  return {};
}

/// Why it waits is something that comes from outside.
bool is_awaited(BlockingReason reason) {
  using enum BlockingReason;
  return reason == waiting_for_signal || reason == waiting_for_approval ||
         reason == waiting_for_callback || reason == waiting_for_tool_result ||
         reason == paused_by_operator;
}

}  // namespace

Result<> validate(const WaitCondition& condition) {
  if (to_string(condition.kind) == "?" || to_string(condition.distinct) == "?") {
    return Error(Errc::unsupported_policy,
                 "condition of kind " + std::to_string(static_cast<int>(condition.kind)) + ", " +
                     std::to_string(static_cast<int>(condition.distinct)));
  }
  if (auto valid = validate_waitpoints(condition.waitpoints); !valid) return valid;
  if (condition.kind == Kind::all_of) return {};
  const std::size_t most = condition.distinct == Distinct::waitpoints ? condition.waitpoints.size()
                                                                      : mailbox_entries_max;
  if (condition.k >= 1 && condition.k <= most && !condition.waitpoints.empty()) return {};
  return Error(Errc::invalid_argument, "a count of " + std::to_string(condition.k) + " distinct " +
                                           std::string(to_string(condition.distinct)) + " at " +
                                           std::to_string(condition.waitpoints.size()) +
                                           " waitpoints");
}

namespace internal {

Result<> validate(const SuspendRequest& request) {
  if (auto valid = workflow::validate(request.condition); !valid) return valid;
  if (auto valid = validate_name("key", request.key, true); !valid) return valid;
  if (!is_awaited(request.reason)) {
    return Error(Errc::invalid_argument,
                 "reason to suspend: " + std::string(to_string(request.reason)));
  }
  if (to_string(request.on_timeout) == "?") {
    return Error(Errc::unsupported_policy,
                 "timeout behaviour " + std::to_string(static_cast<int>(request.on_timeout)));
  }
  if (request.timeout) {
    if (auto valid = validate_duration("timeout", *request.timeout); !valid) return valid;
  }
  if (request.resume_delay < Duration::zero()) {
    return Error(Errc::invalid_argument,
                 "resume delay of " + std::to_string(request.resume_delay.count()) + " ns");
  }
  const bool is_up_to_people = request.reason == BlockingReason::waiting_for_approval ||
                               request.reason == BlockingReason::paused_by_operator;
  if (!request.condition.waitpoints.empty() || request.timeout || is_up_to_people) return {};
  return Error(Errc::invalid_argument, "a suspension without waitpoints and timeout for " +
                                           std::string(to_string(request.reason)));
}

Result<> validate(const NewSignal& signal) {
  if (auto valid = validate_name("waitpoint", signal.waitpoint); !valid) return valid;
  if (auto valid = validate_name("signal id", signal.id, true); !valid) return valid;
  if (auto valid = validate_name("source", signal.source, true); !valid) return valid;
  if (signal.payload.size() <= signal_bytes_max) return {};
  return Error(Errc::too_large, "signal has " + std::to_string(signal.payload.size()) +
                                    " bytes, of at most " + std::to_string(signal_bytes_max));
}

Result<> validate_signing_key(std::string_view id, std::string_view secret) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  if (id.empty() || id.size() > 32 || !std::ranges::all_of(id, is_allowed)) {
    return Error(Errc::invalid_argument, "signing key '" + std::string(id.substr(0, 64)) +
                                             "': 1 to 32 of a-z, 0-9, - and _");
  }
  if (secret.size() >= secret_bytes_min && secret.size() <= 1024) return {};
  return Error(Errc::invalid_argument, "the secret of signing key '" + std::string(id) + "' has " +
                                           std::to_string(secret.size()) +
                                           " bytes, not 16 to 1024");
}

}  // namespace internal
}  // namespace weir::flow::workflow
