#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/workflow/handle.hpp>
#include <weir/flow/workflow/journal.hpp>
#include <weir/flow/workflow/listing.hpp>
#include <weir/flow/workflow/request.hpp>
#include <weir/flow/workflow/retention.hpp>
#include <weir/flow/workflow/step_commit.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/store.hpp>

namespace weir::flow::workflow {

namespace internal {
class WorkflowStore;
class Auditor;
}  // namespace internal

struct Schedule;

/// How an engine runs.
struct EngineOptions {
  /// Records of a kind that are kept in memory.
  std::size_t records_max = 100'000;
  /// Executions that are cancelled in one go.
  std::size_t cancels_max = 256;
  /// What is removed, and when. Nothing, unless it is said.
  Retention retention = {};
  /// Counting anew, in the background. Never, unless it is said.
  AuditSchedule audit = {};
  /// Of which namespaces it cancels in the background what nobody needs any more; empty: of all.
  /// That of others waits for an engine that does.
  std::vector<std::string> dispatch_spaces = {};
};

/// All that is known of an execution.
struct ExecutionInfo {
  ExecutionId id;
  ExecutionSpec spec;
  Execution execution;
  PublicState state = PublicState::waiting;
};

/// All that is known of a workflow, at one moment.
struct WorkflowInfo {
  WorkflowId id;
  Workflow workflow;
  WorkflowProgress progress = WorkflowProgress::open;
};

/// The edges into an execution, with how far they are.
struct EdgeGroupInfo {
  ExecutionId downstream;
  EdgeGroup group;
};

/// In order of the executions that they lead into.
struct EdgeGroupPage {
  std::vector<EdgeGroupInfo> items;
  /// Where the next page begins, which may be empty; none after the last.
  std::optional<ExecutionId> next;
};

struct EdgeInfo {
  EdgeId id;
  Edge edge;
};

struct CancelResult {
  /// False if it had ended before.
  bool is_new = false;
  /// Those of its executions that this call cancelled.
  std::vector<ExecutionId> cancelled;
};

/// Something that was to be cancelled and could not be.
struct SetAside {
  /// The workflow, or the execution that a group of edges leads into.
  std::string what;
  Error reason;
};

/// A lane as it is seen from outside.
struct QueueInfo {
  struct Waiting {
    ExecutionId id;
    Time since;
    Admission admission;  // why it is not claimed, unless nobody has asked
  };

  Lane lane;
  /// Why nobody is claimed, if that is so.
  Admission admission;
  /// Executions that have not ended, by state.
  StateCounts counts;
  /// Those that could be claimed, in the order in which they would be.
  std::vector<Waiting> waiting;
};

/// A page of a list.
template <class T>
struct Page {
  std::vector<T> items;
  /// Where the next page begins; none after the last.
  std::optional<T> next;
};

/// A whole workflow: executions by their places in the list.
struct NewGraph {
  struct Edge {
    std::size_t upstream;
    std::size_t downstream;
    std::string input = {};
  };
  struct Policy {
    std::size_t downstream;
    EdgePolicy policy;
  };

  NewWorkflow workflow = {};
  std::vector<NewExecution> executions = {};
  std::vector<Edge> edges = {};
  std::vector<Policy> policies = {};
};

struct CreatedGraph {
  WorkflowId workflow;
  std::vector<ExecutionId> executions;
};

/// Runs executions and workflows of them, in a store.
///
///     auto engine = (co_await Engine::open(&store)).value();
///     auto made = co_await engine.create_execution({.kind = "resize", .payload = "cat.png"});
///     ...
///     auto claimed = (co_await engine.claim({.worker = "w1"})).value();
///     for (auto& claim : claimed) co_await engine.complete(claim.handle, "done");
///
/// What a call gives is committed, as durably as the store does it. Usable from any actor; it
/// is closed before the store.
class Engine {
 public:
  /// `already_exists` if there is another one on this store.
  static Task<Result<Engine>> open(storage::Store* store, EngineOptions options = {});

  /// On another store: see `postgres/open.hpp`.
  explicit Engine(std::shared_ptr<internal::WorkflowStore> core, AuditSchedule audit = {});

  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) = delete;
  /// Closes it; inside an actor it does not wait for that.
  ~Engine();
  Task<Result<>> close();
  /// Another handle of it, for what may go on when this one has ended, as `storage::Store::share`.
  std::shared_ptr<Engine> share() const;

  // Executions.
  Task<Result<Created>> create_execution(NewExecution request) const;
  /// Those that can be claimed now, the most urgent first; none if there are none.
  Task<Result<std::vector<Claimed>>> claim(ClaimRequest request) const;
  /// The same, waiting for at least one; `cancelled` with its caller.
  Task<Result<std::vector<Claimed>>> next(ClaimRequest request) const;
  /// Until when the lease then lasts.
  Task<Result<Time>> renew(Handle handle, Duration lease) const;
  Task<Result<>> complete(Handle handle, std::string result = {}) const;
  Task<Result<FailResult>> fail(Handle handle, Failure failure) const;
  /// Gives it back, to be claimed again after a time; the attempt goes on then.
  Task<Result<>> delay(Handle handle, Time until) const;
  /// Gives it back until what it waits for has come; the attempt goes on then. `resumed` is given,
  /// and the lease kept, if that is the case already.
  Task<Result<SuspendResult>> suspend(Handle handle, SuspendRequest request) const;
  /// By its worker, which finds that it need not be done: refused as `complete` is to who does not
  /// have the lease any more. It is not tried again.
  Task<Result<>> cancel(Handle handle, std::string reason = {}) const;
  /// By whoever may, whoever runs it. False if it had ended before.
  Task<Result<bool>> cancel(ExecutionId id, std::string reason = {}) const;
  /// Takes its lease from whoever has it.
  Task<Result<>> revoke(ExecutionId id, std::string reason = {}) const;
  /// Runs one that has ended again, under the same id.
  Task<Result<>> replay(ExecutionId id) const;
  Task<Result<>> change_priority(ExecutionId id, std::int32_t priority) const;
  Task<Result<>> set_tag(ExecutionId id, std::string key, std::string value) const;

  Task<Result<std::optional<ExecutionInfo>>> describe(ExecutionId id) const;
  /// Of one that has completed; none otherwise.
  Task<Result<std::optional<std::string>>> result(ExecutionId id) const;
  /// In order.
  Task<Result<std::vector<Attempt>>> attempts(ExecutionId id) const;

  // Signals.
  /// To an execution, which need not wait for it yet; `invalid_token` unless it is the waitpoint's.
  Task<Result<SignalEffect>> signal(NewSignal signal, std::string token) const;
  /// The same by an operator, without a token: who may do that is decided by who calls it.
  Task<Result<SignalEffect>> approve(NewSignal signal) const;
  /// Lets it go on whatever it waits for.
  Task<Result<>> resume(ExecutionId id, std::string by) const;
  /// With which others may send signals to the waitpoint, also before the execution waits there.
  Task<Result<std::string>> waitpoint_token(ExecutionId id, std::string waitpoint) const;
  /// Made when it is first asked for, and the same from then on, in every process on the store: for
  /// who gives handles out as texts, and signs them (`signature.hpp`) to know its own again.
  Task<Result<std::string>> handle_secret() const;
  /// Tokens are signed with this key from now on; those of older keys are good until these retire.
  /// Given no secret, one is drawn.
  Task<Result<>> rotate_signing_key(std::string id, std::string secret = {}) const;
  Task<Result<>> retire_signing_key(std::string id) const;
  /// The newest, until its execution ends.
  Task<Result<std::optional<Suspension>>> suspension(ExecutionId id) const;
  /// Those that were sent to it from number `from` on, in order; they are numbered from 0 on.
  Task<Result<std::vector<Signal>>> signals(ExecutionId id, std::uint32_t from = 0,
                                            std::size_t limit = 100) const;

  // Workflows.
  Task<Result<WorkflowId>> create_workflow(NewWorkflow request) const;
  /// A workflow with its executions and edges, applied, in one commit.
  Task<Result<CreatedGraph>> create_graph(NewGraph graph) const;
  /// Adds edges, which count when they are applied. Gives the revision of the graph then; with a
  /// `revision`, only if it is that before: `stale_revision`.
  Task<Result<std::uint64_t>> stage(WorkflowId workflow, std::vector<NewEdge> edges,
                                    std::optional<std::uint64_t> revision = {}) const;
  /// Puts staged edges in force, and lets executions begin that were added.
  Task<Result<>> apply(WorkflowId workflow) const;
  /// Before the first edge into `downstream` is staged. False if it is that already.
  Task<Result<bool>> set_policy(WorkflowId workflow, ExecutionId downstream,
                                EdgePolicy policy) const;
  Task<Result<>> set_tag(WorkflowId workflow, std::string key, std::string value) const;
  /// Seals a workflow that stays open as soon as its executions have ended.
  Task<Result<>> close(WorkflowId workflow) const;
  /// Returns when all of them are cancelled, or at once if it has ended before: others may be at it
  /// then. If it is interrupted, it is finished anyway.
  Task<Result<CancelResult>> cancel(WorkflowId workflow, CancelPolicy policy,
                                    std::string reason = {}) const;

  Task<Result<std::optional<WorkflowInfo>>> describe(WorkflowId workflow) const;
  Task<Result<std::optional<EdgeInfo>>> describe(WorkflowId workflow, EdgeId edge) const;
  Task<Result<std::optional<EdgeGroupInfo>>> edge_group(WorkflowId workflow,
                                                        ExecutionId downstream) const;
  /// In order of their ids; `not_found` if there is no such workflow, as of its members.
  Task<Result<std::vector<EdgeInfo>>> edges_into(WorkflowId workflow, ExecutionId id) const;
  Task<Result<std::vector<EdgeInfo>>> edges_from(WorkflowId workflow, ExecutionId id) const;
  /// Executions of a workflow after one of them, in order of their ids.
  Task<Result<Page<ExecutionId>>> members(WorkflowId workflow,
                                          std::optional<ExecutionId> after = {},
                                          std::size_t limit = 100) const;
  /// Workflows of a partition after one of them, in order of their ids; at most 1,000.
  Task<Result<Page<WorkflowId>>> list(Partition partition, std::optional<WorkflowId> after = {},
                                      std::size_t limit = 100) const;

  /// Workflows of all partitions after one of them, by partition and id; at most 1,000.
  Task<Result<Page<WorkflowId>>> list_workflows(std::optional<WorkflowId> after = {},
                                                std::size_t limit = 100) const;
  /// Of executions that have edges into them, or a policy.
  Task<Result<EdgeGroupPage>> edge_groups(WorkflowId workflow,
                                          std::optional<ExecutionId> after = {},
                                          std::size_t limit = 100) const;
  /// Executions after one of them, at most 1,000. Those of a workflow, and those that have not
  /// ended, are found by an index (the latter not on PostgreSQL, which reads past the others);
  /// others are looked for, 10,000 for a page.
  Task<Result<ExecutionPage>> list_executions(ExecutionFilter filter,
                                              std::optional<ExecutionId> after = {},
                                              std::size_t limit = 100) const;
  /// Those of them that are there, in this order, all as of one moment: what `describe` gives.
  Task<Result<std::vector<ExecutionInfo>>> executions(std::vector<ExecutionId> ids) const;
  Task<Result<std::vector<WorkflowInfo>>> workflows(std::vector<WorkflowId> ids) const;
  /// Into any of these, in their order, as of one moment.
  Task<Result<std::vector<EdgeInfo>>> edges(WorkflowId workflow,
                                            std::vector<ExecutionId> downstreams) const;

  // Looking after it.
  /// Counts the executions of workflows anew, and puts counters right that differ.
  Task<Result<AuditReport>> audit(AuditRequest request = {}) const;
  /// What the newest audit in the background came to; none if there was none.
  Task<Result<std::optional<AuditReport>>> last_audit() const;
  /// Since it was opened.
  Task<Result<EngineReport>> report() const;

  // Durable coroutines; `Worker` has what makes use of this.
  /// Adds to the journal of an execution, whose end is `end`: otherwise `stale_revision`.
  Task<Result<>> append_journal(Handle handle, std::uint32_t end,
                                std::vector<JournalEntry> entries) const;
  /// The same, and begins executions in that commit. One that is there already is left as it is.
  Task<Result<>> append_journal(Handle handle, std::uint32_t end, std::vector<JournalEntry> entries,
                                std::vector<NewExecution> begun) const;
  /// The same in the commit of a transaction of the store, which then stands or falls with it:
  /// nothing else changes the execution meanwhile. `storage::Errc::conflict` as of any commit.
  Task<Result<>> append_journal(Handle handle, std::uint32_t end, std::vector<JournalEntry> entries,
                                std::shared_ptr<StepCommit> commit) const;
  /// Begins a new one, with what its coroutine begins with.
  Task<Result<JournalHead>> restart_journal(Handle handle, std::string input) const;
  Task<Result<Journal>> journal(ExecutionId id) const;
  /// The execution that undoes what a durable coroutine did whose execution was ended by others:
  /// cancelled, expired, or failed because its workers do not come back; or that was refused what
  /// it asked for (`Failure::leaves_undo`). None if there is none.
  Task<Result<std::optional<ExecutionId>>> undo_of(ExecutionId id) const;
  /// Until one of these, of which there is one at least, has ended, at once if one has; `cancelled`
  /// with its caller.
  Task<Result<>> wait_for_end(std::vector<ExecutionId> executions) const;
  /// By the clock of the store, or, if that is elsewhere, of this machine.
  Time time() const;
  ActorSystem& system() const;
  /// That it is in; none if it is elsewhere.
  storage::Store* store() const;

  // Lanes.
  Task<Result<>> set_lane_state(std::string lane, LaneState state) const;
  Task<Result<>> set_lane_limit(std::string lane,
                                std::optional<std::uint32_t> concurrency_max) const;
  /// None: as fast as there are workers.
  Task<Result<>> set_lane_rate(std::string lane, std::optional<Rate> rate) const;
  /// Opens a lane that was paused little by little.
  Task<Result<>> resume_lane(std::string lane, ResumeLane request) const;
  Task<Result<Lane>> lane(std::string lane) const;
  /// What waits in it, and why; at most 1,000 of those that could be claimed.
  Task<Result<QueueInfo>> queue(std::string lane, std::size_t limit = 100) const;
  /// Of executions with this key among their `limit_keys`. `customer:*` is for all keys that begin
  /// with `customer:` and have no limit of their own: each key may have so many.
  Task<Result<>> set_limit(std::string key, std::optional<std::uint32_t> concurrency_max,
                           std::optional<Rate> rate = {}) const;
  Task<Result<Limit>> limit(std::string key) const;

  /// What could not be cancelled since the engine was opened; it is tried again when it is opened
  /// anew. Others are not held up by it.
  Task<Result<std::vector<SetAside>>> set_aside() const;

  /// What has been told, from the number `from` on, in the order of commits. The numbers have no
  /// gaps and begin at 1. `overtaken` if those asked for have been removed.
  Task<Result<std::vector<std::pair<std::uint64_t, Notice>>>> notices(
      std::uint64_t from, std::size_t notices_max = 256) const;
  /// Lets notices, from now on until it is closed, tell of every change of an execution or a
  /// workflow: `NoticeKind::changed`. For who shows them elsewhere, as `compose` does. Nothing on a
  /// store that is elsewhere.
  void tell_changes() const;
  /// Of the first that is there, or will be.
  Task<Result<std::uint64_t>> first_notice() const;
  /// A consumer has dealt with the notices up to `number`. Those that some consumer has not passed
  /// are not removed; 0 says that it will come.
  Task<Result<>> acknowledge_notices(std::string consumer, std::uint64_t number) const;
  /// The consumer will not come again. False if nothing was known of it.
  Task<Result<bool>> drop_notice_cursor(std::string consumer) const;
  /// How far each consumer is.
  Task<Result<std::map<std::string, std::uint64_t>>> notice_cursors() const;

 private:
  friend Task<Result<Created>> start_schedule(const Engine* engine, Schedule schedule);

  /// Of a kind that is Weir's own, which nobody else may ask for.
  Task<Result<Created>> create_own(NewExecution request) const;

  std::shared_ptr<internal::WorkflowStore> core_;  // null when moved from
  std::shared_ptr<internal::Auditor> auditor_;     // null without audits
  bool closes_ = true;                             // when it ends
};

}  // namespace weir::flow::workflow
