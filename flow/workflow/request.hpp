#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weir/flow/workflow/records.hpp>
#include <weir/flow/workflow/retention.hpp>
#include <weir/runtime/cancellation.hpp>

namespace weir::flow::workflow {

/// An execution to be made.
struct NewExecution {
  std::string kind;
  std::string payload = {};
  std::string space = "default";
  std::string lane = "default";
  /// Given none, it gets a new one.
  std::optional<ExecutionId> id = {};
  /// The same key in one namespace gives the same execution for a day.
  std::string idempotency_key = {};
  /// It begins when the workflow's edges are applied.
  std::optional<WorkflowId> workflow = {};
  /// From 0 to `priority_max`; higher ones first.
  std::int32_t priority = 0;
  std::optional<Time> not_before = {};
  std::optional<Time> deadline = {};
  std::optional<Duration> attempt_timeout = {};
  RetryPolicy retry = {};
  /// Only workers that have all of these may claim it.
  std::vector<std::string> capabilities = {};
  /// Limits that it counts against, beside that of its lane: `customer:7`. See `Engine::set_limit`.
  std::vector<std::string> limit_keys = {};
  Tags tags = {};
  std::string creator = {};
  std::uint32_t reclaims_max = 100;
  std::uint32_t replays_max = 10;
  /// While this one has not ended, what came of it is kept.
  std::optional<Parent> parent = {};
  /// Where in a trace it belongs; given none, where the handler is that asks for it.
  std::optional<telemetry::TraceContext> trace = {};
};

/// A workflow to be made.
struct NewWorkflow {
  std::string kind = {};
  std::string space = "default";
  std::optional<WorkflowId> id = {};
  FailurePolicy on_failure = FailurePolicy::isolate;
  bool stays_open = false;
  Tags tags = {};
};

/// An edge to be staged.
struct NewEdge {
  ExecutionId upstream;
  ExecutionId downstream;
  std::optional<EdgeId> id = {};
  /// Under this name the downstream gets the upstream's result.
  std::string input = {};
  std::string creator = "engine";
};

/// Who claims.
struct ClaimRequest {
  std::string worker;
  std::string lane = "default";
  std::vector<std::string> capabilities = {};
  /// Only what is in one of these namespaces; none: in any.
  std::vector<std::string> spaces = {};
  Duration lease = std::chrono::seconds(30);
  std::size_t executions_max = 1;
  /// `next` gives nothing, instead of waiting on, when this is cancelled. For a worker that stops:
  /// a request that is given up may have claimed something. Not heeded by every store.
  std::optional<CancellationToken> until = {};
};

/// How a lane is opened again little by little.
struct ResumeLane {
  /// At most so many leases in the beginning; then evenly more, up to `to` at the end of `over`.
  std::uint32_t from = 1;
  std::uint32_t to = 1;
  Duration over = std::chrono::minutes(1);
};

/// Why an attempt failed.
struct Failure {
  std::string reason;
  /// Whether it is tried again depends on it: `RetryPolicy::categories`.
  std::string category = {};
  /// It would fail again: it is not tried again, whatever the policy.
  bool is_final = false;
  /// Of a durable coroutine that was stopped before it could undo what it did: if it is not tried
  /// again, another execution undoes that, as when others end it. See `Engine::undo_of`.
  bool leaves_undo = false;
};

/// What became of it.
struct FailResult {
  /// None if it has failed for good.
  std::optional<Time> retry_at = {};
};

/// Whether it was there already.
struct Created {
  ExecutionId id;
  bool is_duplicate = false;
};

}  // namespace weir::flow::workflow
