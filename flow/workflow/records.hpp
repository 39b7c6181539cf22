#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <weir/flow/workflow/id.hpp>
#include <weir/flow/workflow/limit.hpp>
#include <weir/flow/workflow/policy.hpp>
#include <weir/flow/workflow/state.hpp>
#include <weir/storage/value.hpp>
#include <weir/telemetry/trace_context.hpp>

// What is stored, on every store. Persisted: fields are only added, at the end.
namespace weir::flow::workflow {

/// What an execution is to do. It never changes.
struct ExecutionSpec {
  std::string kind = {};
  std::string payload = {};
  std::string creator = {};
  std::string idempotency_key = {};
  RetryPolicy retry = {};
  std::optional<Duration> attempt_timeout = {};
  std::uint32_t reclaims_max = 100;
  std::uint32_t replays_max = 10;
  Time created_at = {};
  /// Where whoever asked for it was; not valid if that was not recorded. Without baggage.
  telemetry::TraceContext trace = {};

  /// All but the trace, which is stored only if there is one: see the codec below.
  static auto weir_fields(auto& self) {
    return std::tie(self.kind, self.payload, self.creator, self.idempotency_key, self.retry,
                    self.attempt_timeout, self.reclaims_max, self.replays_max, self.created_at);
  }
  /// The same is to be done, whoever asked for it.
  friend bool operator==(const ExecutionSpec& left, const ExecutionSpec& right) {
    return weir_fields(left) == weir_fields(right);
  }
};

/// The right to make an attempt. What its holder writes is refused as soon as its epoch is not the
/// execution's any more.
struct Lease {
  std::uint64_t epoch = 0;
  std::string worker = {};
  Time acquired_at = {};
  Time renewed_at = {};
  Time expires_at = {};

  static auto weir_fields(auto& self) {
    return std::tie(self.epoch, self.worker, self.acquired_at, self.renewed_at, self.expires_at);
  }
};

// Persisted: never renumber.
enum class AttemptKind : std::uint8_t { initial = 1, retry, reclaim, replay };
enum class AttemptOutcome : std::uint8_t {
  running = 1,
  suspended,
  ended_success,
  ended_failure,
  ended_cancelled,
  interrupted_reclaimed,
};
template <>
inline constexpr std::array words<AttemptKind> = {"initial", "retry", "reclaim", "replay"};
template <>
inline constexpr std::array words<AttemptOutcome> = {"running",         "suspended",
                                                     "ended_success",   "ended_failure",
                                                     "ended_cancelled", "interrupted_reclaimed"};

/// One try. One that has ended never changes.
struct Attempt {
  AttemptKind kind = AttemptKind::initial;
  AttemptOutcome outcome = AttemptOutcome::running;
  std::string worker = {};
  std::uint64_t epoch = 0;
  std::optional<std::uint32_t> after = {};  // the attempt before it
  Time started_at = {};
  std::optional<Time> ended_at = {};
  std::string reason = {};

  static auto weir_fields(auto& self) {
    return std::tie(self.kind, self.outcome, self.worker, self.epoch, self.after, self.started_at,
                    self.ended_at, self.reason);
  }
};

/// Where an execution belongs, and what changes of it.
struct Execution {
  std::string space = "default";  // the namespace
  std::string lane = "default";
  std::optional<WorkflowId> workflow = {};
  std::vector<std::string> capabilities = {};  // that its worker must have; sorted
  std::optional<Time> deadline = {};
  StateVector state = {};
  std::int32_t priority = 0;
  /// The current attempt, or the last one; meaningless before the first.
  std::uint32_t attempt = 0;
  std::uint32_t attempts = 0;  // made so far
  std::uint32_t retries = 0;   // since it was made or replayed
  std::uint32_t reclaims = 0;
  std::uint32_t replays = 0;
  /// Of the newest lease; grows with each, and with each end of the execution.
  std::uint64_t epoch = 0;
  std::optional<Lease> lease = {};
  /// Not claimed before this time; since then, if it may be claimed.
  Time eligible_at = {};
  std::optional<Time> attempt_deadline = {};
  Time changed_at = {};
  std::optional<Time> ended_at = {};
  std::string end_reason = {};  // why it was cancelled, failed, expired or skipped
  std::string ended_by = {};
  Tags tags = {};
  /// It was cancelled because others had decided already; no failure of its workflow.
  bool is_sibling = false;
  /// When the timeout of its suspension is due.
  std::optional<Time> suspended_until = {};
  std::uint32_t suspensions = 0;  // so far
  std::uint32_t signals = 0;      // that were sent to it so far
  /// The attempt whose number is `attempt`. Those before it are records of their own.
  Attempt newest = {};
  std::vector<std::string> limit_keys = {};  // sorted
  std::string result = {};                   // what it gave, if it was completed

  PublicState public_state() const noexcept { return workflow::public_state(state); }
  bool has_ended() const noexcept { return state.phase == Phase::terminal; }

  static auto weir_fields(auto& self) {
    return std::tie(self.space, self.lane, self.workflow, self.capabilities, self.deadline,
                    self.state, self.priority, self.attempt, self.attempts, self.retries,
                    self.reclaims, self.replays, self.epoch, self.lease, self.eligible_at,
                    self.attempt_deadline, self.changed_at, self.ended_at, self.end_reason,
                    self.ended_by, self.tags, self.is_sibling, self.suspended_until,
                    self.suspensions, self.signals, self.newest, self.limit_keys, self.result);
  }
};

struct AttemptKey {
  ExecutionId execution = {};
  std::uint32_t number = 0;

  static auto weir_fields(auto& self) { return std::tie(self.execution, self.number); }
  friend bool operator==(const AttemptKey&, const AttemptKey&) = default;
  friend auto operator<=>(const AttemptKey&, const AttemptKey&) = default;
};

// Persisted: never renumber.
enum class WorkflowState : std::uint8_t { open = 1, completed, failed, cancelled };
template <>
inline constexpr std::array words<WorkflowState> = {"open", "completed", "failed", "cancelled"};

/// What a workflow is doing, in one word, derived from the states of its executions.
enum class WorkflowProgress : std::uint8_t {
  open = 1,
  running,
  blocked,
  completed,
  failed,
  cancelled
};
template <>
inline constexpr std::array words<WorkflowProgress> = {"open",      "running", "blocked",
                                                       "completed", "failed",  "cancelled"};

/// How many executions are in each public state.
struct StateCounts {
  std::array<std::uint64_t, words<PublicState>.size()> by_state = {};

  std::uint64_t& operator[](PublicState state) {
    return by_state[static_cast<std::size_t>(state) - 1];
  }
  std::uint64_t operator[](PublicState state) const {
    return by_state[static_cast<std::size_t>(state) - 1];
  }
  std::uint64_t total() const;
  std::uint64_t terminal() const;

  static auto weir_fields(auto& self) {
    auto& c = self.by_state;
    return std::tie(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10]);
  }
  friend bool operator==(const StateCounts&, const StateCounts&) = default;
};

/// A set of executions with edges between them.
struct Workflow {
  std::string space = "default";
  std::string kind = {};
  WorkflowState state = WorkflowState::open;
  FailurePolicy on_failure = FailurePolicy::isolate;
  /// Not sealed when all its executions have ended, but when that is asked for.
  bool stays_open = false;
  std::uint64_t revision = 0;  // of the graph
  std::uint64_t edges = 0;
  StateCounts counts = {};
  /// Executions that were cancelled because others had decided; not a failure.
  std::uint64_t cancelled_siblings = 0;
  std::uint64_t unpromoted = 0;  // members that `apply` has not let begin
  std::uint32_t staged = 0;      // entries in its `Staged`
  Time created_at = {};
  Time changed_at = {};
  std::optional<Time> ended_at = {};
  std::optional<CancelPolicy> cancel_policy = {};
  std::string cancel_reason = {};
  /// Which of its executions are still being cancelled, if any are.
  std::optional<CancelPolicy> cancelling = {};
  Tags tags = {};

  bool has_ended() const noexcept { return state != WorkflowState::open; }
  /// As it ended; else running if somebody works, blocked if somebody waits, open otherwise.
  WorkflowProgress progress() const;

  static auto weir_fields(auto& self) {
    return std::tie(self.space, self.kind, self.state, self.on_failure, self.stays_open,
                    self.revision, self.edges, self.counts, self.cancelled_siblings,
                    self.unpromoted, self.staged, self.created_at, self.changed_at, self.ended_at,
                    self.cancel_policy, self.cancel_reason, self.cancelling, self.tags);
  }
};

/// Some of what `apply` has to look at: executions that were added, or that edges were staged into.
struct Staged {
  std::vector<ExecutionId> executions = {};

  static auto weir_fields(auto& self) { return std::tie(self.executions); }
};

/// So many in each of them, so that adding one does not cost more the more there are.
inline constexpr std::uint32_t staged_max = 64;

struct StagedKey {
  WorkflowId workflow = {};
  std::uint32_t number = 0;

  static auto weir_fields(auto& self) { return std::tie(self.workflow, self.number); }
  friend bool operator==(const StagedKey&, const StagedKey&) = default;
  friend auto operator<=>(const StagedKey&, const StagedKey&) = default;
};

// Persisted: never renumber.
enum class EdgeState : std::uint8_t { pending = 1, satisfied, impossible, cancelled };
template <>
inline constexpr std::array words<EdgeState> = {"pending", "satisfied", "impossible", "cancelled"};

/// One execution depends on the success of another.
struct Edge {
  WorkflowId workflow = {};
  ExecutionId upstream = {};
  ExecutionId downstream = {};
  EdgeState state = EdgeState::pending;
  bool is_applied = false;
  /// Under this name the result of the upstream is given to the downstream, if it has one.
  std::string input = {};
  Time created_at = {};
  std::string creator = "engine";

  static auto weir_fields(auto& self) {
    return std::tie(self.workflow, self.upstream, self.downstream, self.state, self.is_applied,
                    self.input, self.created_at, self.creator);
  }
};

/// All edges into one execution.
struct EdgeGroup {
  EdgePolicy policy = {};
  EdgeState state = EdgeState::pending;  // one way only
  std::uint32_t edges = 0;
  std::uint32_t succeeded = 0;
  std::uint32_t failed = 0;
  std::uint32_t skipped = 0;
  std::optional<Time> fired_at = {};
  /// Upstream executions that are to be cancelled because the group has fired.
  std::vector<ExecutionId> cancelling = {};
  std::string cancel_reason = {};

  static auto weir_fields(auto& self) {
    return std::tie(self.policy, self.state, self.edges, self.succeeded, self.failed, self.skipped,
                    self.fired_at, self.cancelling, self.cancel_reason);
  }
};

/// The edges of an execution.
struct Links {
  std::vector<EdgeId> in = {};
  std::vector<EdgeId> out = {};

  static auto weir_fields(auto& self) { return std::tie(self.in, self.out); }
};

/// An idempotency key that was used.
struct Idempotency {
  ExecutionId execution = {};
  Time until = {};

  static auto weir_fields(auto& self) { return std::tie(self.execution, self.until); }
};

struct IdempotencyKey {
  std::string space = {};
  std::string key = {};

  static auto weir_fields(auto& self) { return std::tie(self.space, self.key); }
  friend bool operator==(const IdempotencyKey&, const IdempotencyKey&) = default;
  friend auto operator<=>(const IdempotencyKey&, const IdempotencyKey&) = default;
};

// Persisted: never renumber.
enum class NoticeKind : std::uint8_t {
  completion = 1,
  lease_acquired,
  lease_renewed,
  lease_expired,
  lease_revoked,
  lease_released,
  signal,
  suspended,
  resumed,
  escalated,
  /// An execution was made, removed, or changed as nothing else tells of.
  changed,
  /// So was a workflow; `Notice::execution` says nothing.
  workflow_changed,
};
template <>
inline constexpr std::array words<NoticeKind> = {
    "completion",    "lease_acquired", "lease_renewed", "lease_expired",
    "lease_revoked", "lease_released", "signal",        "suspended",
    "resumed",       "escalated",      "changed",       "workflow_changed"};

/// What others are told of an execution, in the order of commits.
struct Notice {
  NoticeKind kind = NoticeKind::completion;
  ExecutionId execution = {};
  std::optional<WorkflowId> workflow = {};
  std::string space = {};
  Outcome outcome = Outcome::none;  // of a completion
  std::uint64_t epoch = 0;          // of a lease
  Time at = {};
  std::string waitpoint = {};  // of a signal

  static auto weir_fields(auto& self) {
    return std::tie(self.kind, self.execution, self.workflow, self.space, self.outcome, self.epoch,
                    self.at, self.waitpoint);
  }
};

}  // namespace weir::flow::workflow

namespace weir::storage {

/// Its fields, and behind them, only if there is one, the trace, in the form of the change log:
///
///     flags:1 (1 = present, 2 = sampled) trace id:16 span id:8
///
/// The signature is that of the fields: stores from before there were traces have the same bytes.
/// It is a whole value, as what ends it is the end of the bytes.
template <>
struct ValueCodec<flow::workflow::ExecutionSpec> {
  static void encode(const flow::workflow::ExecutionSpec& value, std::string& out);
  static bool decode(std::string_view& in, flow::workflow::ExecutionSpec& value);
  static std::string signature();
};

}  // namespace weir::storage
