#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weir/flow/workflow/records.hpp>
#include <weir/runtime/clock.hpp>
#include <weir/runtime/error.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::workflow {

/// Which executions are listed; all that is given has to be so.
struct ExecutionFilter {
  /// In one of these; none: in any.
  std::vector<PublicState> states = {};
  std::optional<std::string> space = {};
  std::optional<std::string> lane = {};
  std::optional<WorkflowId> workflow = {};
  /// With all of these.
  Tags tags = {};

  bool admits(const Execution& execution) const;
  /// Whether none that has ended is listed.
  bool is_of_live() const;
};

struct ExecutionSummary {
  ExecutionId id;
  Execution execution;
  PublicState state = PublicState::waiting;
};

/// In order of their ids.
struct ExecutionPage {
  std::vector<ExecutionSummary> items;
  /// Where the next page begins, which may be empty; none after the last.
  std::optional<ExecutionId> next;
};

/// What the counters of workflows are compared with.
struct AuditRequest {
  /// Of this namespace; none: of all.
  std::optional<std::string> space = {};
  /// Those that are wrong are put right.
  bool repairs = true;
  /// Workflows after this one, by partition and id.
  std::optional<WorkflowId> after = {};
  std::size_t workflows_max = 1000;
};

/// An audit in the background, from time to time, of some workflows each time: one after the other,
/// and then from the first on again. On a store that several engines share, each looks at the
/// partitions that it owns.
struct AuditSchedule {
  /// None: never.
  std::optional<Duration> period = {};
  /// Of this namespace; none: of all.
  std::optional<std::string> space = {};
  bool repairs = true;
  std::size_t workflows_max = 100;
};
/// `invalid_argument`, with the name.
Result<> validate(const AuditSchedule& schedule);

/// A workflow whose counters were not those of its executions.
struct Drift {
  WorkflowId workflow;
  StateCounts stored;
  StateCounts counted;
};

struct AuditReport {
  std::uint64_t processed = 0;  // that have executions, and were compared
  std::uint64_t empty = 0;
  std::uint64_t filtered = 0;  // of other namespaces
  std::uint64_t drifted = 0;
  std::uint64_t repaired = 0;
  std::uint64_t busy = 0;  // changed whenever they were looked at; the next audit sees them
  std::uint64_t errors = 0;
  /// The first of them, at most 100.
  std::vector<Drift> drifts;
  std::vector<Error> problems;
  /// Where the next one goes on; none if all were looked at.
  std::optional<WorkflowId> next;
};

/// What an engine has done since it was opened, and what there is to do.
struct EngineReport {
  std::uint64_t commands = 0;
  std::uint64_t commits = 0;
  std::uint64_t claims = 0;
  std::uint64_t retries = 0;
  std::uint64_t leases_expired = 0;
  std::uint64_t signals = 0;

  // Of edge groups that have fired, and whose other upstreams are cancelled.
  std::uint64_t groups_dispatched = 0;
  std::uint64_t siblings_cancelled = 0;
  std::uint64_t siblings_spared = 0;        // since others need them
  std::uint64_t siblings_ended_before = 0;  // by themselves
  std::uint64_t dispatch_errors = 0;        // set aside
  std::uint64_t dispatches_filtered = 0;    // of other namespaces: left to other engines

  // Of what has ended and was kept for long enough.
  std::uint64_t executions_removed = 0;
  std::uint64_t workflows_removed = 0;
  std::uint64_t notices_removed = 0;
  std::uint64_t removals_postponed = 0;  // since others depend on it
  std::uint64_t removal_errors = 0;      // set aside

  // Of audits in the background.
  std::uint64_t workflows_audited = 0;
  std::uint64_t workflows_drifted = 0;
  std::uint64_t workflows_repaired = 0;
  std::uint64_t audit_errors = 0;

  // Now.
  std::uint64_t waiting = 0;
  std::uint64_t delayed = 0;
  std::uint64_t active = 0;
  std::uint64_t suspended = 0;
  std::uint64_t due = 0;  // that time will do something to
};

}  // namespace weir::flow::workflow
