#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weir/flow/workflow/suspension.hpp>

namespace weir::flow::workflow {

/// What a worker holds: the right to make one attempt, and what it needs for that.
struct Handle {
  ExecutionId execution = {};
  std::uint32_t attempt = 0;
  std::uint64_t epoch = 0;
  /// The store that gave it.
  std::uint64_t store = 0;
};

/// The result of an execution that another one depends on.
struct Input {
  std::string name;
  ExecutionId upstream;
  std::string payload;
};

/// An execution that was claimed.
struct Claimed {
  Handle handle;
  AttemptKind attempt_kind = AttemptKind::initial;
  Time expires_at = {};
  ExecutionSpec spec;
  std::vector<Input> inputs;
  /// Why it goes on, if it was suspended; to each attempt until it is suspended again.
  std::optional<Resumption> resumed = {};
  std::int32_t priority = 0;
  std::string space = "default";  // its namespace
};

}  // namespace weir::flow::workflow
