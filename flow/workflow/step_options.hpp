#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <weir/flow/workflow/policy.hpp>

namespace weir::flow::workflow {

/// How a step is run.
struct StepOptions {
  /// After a failure it is tried again, while the coroutine waits; not after `step_failed`. If the
  /// process dies in between, the tries are counted anew.
  RetryPolicy retry = {};
  /// Of one try. What it waits for ends then, and its coroutine is destroyed.
  std::optional<Duration> timeout = {};
};

/// What a step may want to know of itself.
struct StepInfo {
  /// The same whenever this step of this execution is run: give it to whom the step asks to do
  /// something, so that it is done once.
  std::string key;
  /// From 0 on, since it was begun in this process.
  std::uint32_t attempt = 0;
};

}  // namespace weir::flow::workflow
