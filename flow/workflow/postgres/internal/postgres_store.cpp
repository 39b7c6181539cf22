#include <weir/flow/workflow/postgres/internal/postgres_store.hpp>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/internal/lifecycle.hpp>
#include <weir/flow/workflow/postgres/internal/cancel_members.hpp>
#include <weir/flow/workflow/postgres/internal/failure.hpp>
#include <weir/flow/workflow/postgres/internal/news.hpp>
#include <weir/flow/workflow/postgres/internal/notices.hpp>
#include <weir/flow/workflow/postgres/internal/schema.hpp>
#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::flow::workflow::postgres::internal {
namespace {

namespace db = storage::postgres;
using ContextRef = std::shared_ptr<Context>;
using Executions = std::vector<std::pair<ExecutionId, Execution>>;

/// The time, and a number that no other process has.
constexpr const char* begin_text =
    "select clock_timestamp(), ('x' || left(md5(gen_random_uuid()::text), 16))::bit(64)::int8";

/// Passes on what batches of this engine, and of others, mean for those who wait here.
struct Ears {
  explicit Ears(ContextRef shared) : context(std::move(shared)) {}

  void note(const Effects& effects) const {
    for (const std::string& lane : effects.lanes) context->gates.wake(lane);
    if (effects.has_limits) context->gates.wake_all();
    if (!effects.ended.empty()) context->ends.wake(effects.ended);
    if (effects.is_due_within(context->options.poll)) {
      keeper.send<Look>(effects.due);
    }
    if (effects.has_cancels) keeper.send<Dispatch>();
  }
  void hear(const db::Notification& notification) const {
    if (notification.may_have_missed) {
      context->gates.wake_all();
      context->ends.wake_all();
      keeper.send<Share>();
      keeper.send<Look>();
      keeper.send<Dispatch>();
      return;
    }
    const auto news = read_news(*context, notification.payload);
    if (!news) return;
    switch (news->kind) {
      case NewsKind::ready: context->gates.wake(news->lane); break;
      case NewsKind::due: keeper.send<Look>(); break;
      case NewsKind::cancel: keeper.send<Dispatch>(); break;
      case NewsKind::owners: keeper.send<Share>(); break;
      case NewsKind::limits: context->gates.wake_all(); break;
      case NewsKind::ended: context->ends.wake(news->ended); break;
    }
  }

  ContextRef context;
  KeeperRef keeper;
};

template <class T>
Task<Result<T>> told_of(Task<Result<T>> task) {
  auto result = co_await std::move(task);
  if (!result) co_return told(result.error());
  co_return result;
}

Task<Result<>> submit(BatchRef batches, JobRef job) {
  auto done = co_await batches.ask<Submit>(std::move(job)).within(forever);
  if (!done) co_return done.error();
  co_return {};
}

/// Also for who has given up meanwhile: what was claimed must not be forgotten.
Task<Result<>> submit_to_the_end(BatchRef batches, JobRef job) {
  const CancellationShield shield;
  co_return co_await submit(std::move(batches), std::move(job));
}

/// Others need not wait until the leases expire.
Task<> give_back(ContextRef context, BatchRef batches, std::vector<Claimed> claimed) {
  for (const Claimed& one : claimed) {
    const auto give = [handle = one.handle](Draft& draft) {
      return workflow::internal::delay(draft, handle, draft.now());
    };
    using Give = workflow::internal::CommandOf<std::decay_t<decltype(give)>>;
    auto job = std::make_shared<CommandJob>(context->random(), std::make_shared<Give>(give));
    static_cast<void>(co_await submit_to_the_end(batches, std::move(job)));
  }
}

Task<> open_when_cancelled(CancellationToken token, Gates::Gate gate) {
  if (auto cancelled = co_await token.cancelled(); cancelled) gate->publish(gate->published() + 1);
}

/// For who was refused until some time; those who come meanwhile find out for themselves.
Task<> wake_after(ContextRef context, std::string lane, Duration wait) {
  if (auto slept = co_await sleep_for(wait); slept) context->gates.wake(lane);
}

Task<Result<std::vector<Claimed>>> claim_on(ContextRef context, BatchRef batches,
                                            ClaimRequest request, bool waits) {
  for (;;) {
    const Gates::Gate gate = context->gates.of(request.lane);
    const std::uint64_t seen = gate->published();
    auto job = std::make_shared<ClaimJob>(context->random(), request);
    WEIR_CO_TRY_VOID(co_await submit_to_the_end(batches, job));
    auto claimed = job->take();
    if (claimed && current_cancellation().is_cancelled()) {
      co_await give_back(context, batches, *std::move(claimed));
      co_return Error(weir::Errc::cancelled);
    }
    const bool is_over = !claimed || !claimed->empty() || request.executions_max == 0;
    const bool has_given_up = request.until && request.until->is_cancelled();
    if (is_over || !waits || has_given_up) co_return claimed;
    TaskScope watch;  // goes with the wait
    if (request.until) watch.spawn(open_when_cancelled(*request.until, gate));
    if (job->wait()) watch.spawn(wake_after(context, request.lane, *job->wait()));
    WEIR_CO_TRY_VOID(co_await gate->wait_until(seen + 1));
  }
}

Task<Result<>> wait_for_end_on(ContextRef context, BatchRef batches,
                               std::vector<ExecutionId> executions) {
  EndGates::Wait wait(&context->ends, executions);
  for (;;) {
    const std::uint64_t seen = wait.gate().published();
    const auto look = [executions](Draft& draft) {
      return workflow::internal::has_any_ended(draft, executions);
    };
    using Look = workflow::internal::CommandOf<std::decay_t<decltype(look)>>;
    auto command = std::make_shared<Look>(look);
    WEIR_CO_TRY_VOID(
        co_await submit(batches, std::make_shared<CommandJob>(context->random(), command)));
    WEIR_CO_TRY(has_ended, command->take());
    if (has_ended) co_return {};
    WEIR_CO_TRY_VOID(co_await wait.gate().wait_until(seen + 1));
  }
}

Task<Result<CancelResult>> cancel_on(ContextRef context, BatchRef batches, WorkflowId workflow,
                                     CancelPolicy policy, std::string reason) {
  const auto mark = [=](Draft& draft) {
    return workflow::internal::cancel(draft, workflow, policy, reason);
  };
  using Mark = workflow::internal::CommandOf<std::decay_t<decltype(mark)>>;
  const Cancelling::Mark own(&context->cancelling, workflow);
  auto command = std::make_shared<Mark>(mark);
  auto job = std::make_shared<CommandJob>(context->random(), command);
  Result<> done = co_await submit(batches, job);
  Result<bool> marked = done ? command->take() : Result<bool>(done.error());
  CancelResult result;
  Error error = marked.error();
  if (marked && *marked && own.is_first()) {
    auto cancelled = co_await cancel_all_members(context, batches, workflow);
    error = cancelled.error();
    if (cancelled) result.cancelled = *std::move(cancelled);
  }
  if (error.code()) co_return told(error);
  result.is_new = *marked;
  co_return result;
}

Task<Result<std::vector<WorkflowId>>> read_workflows(ContextRef context, Partition partition,
                                                     std::optional<WorkflowId> after,
                                                     std::size_t workflows_max) {
  WEIR_CO_TRY(rows, co_await context->pool.execute(
                        db::Statement("select key from workflow_workflows where partition = $1"
                                      " and key > $2 order by key limit $3",
                                      std::int64_t{partition.number},
                                      after ? encode_key(*after) : db::Bytes(),
                                      static_cast<std::int64_t>(workflows_max))
                            .about("workflow_workflows")));
  std::vector<WorkflowId> found;
  for (const db::Row row : rows) {
    WEIR_CO_TRY(id, key_in<WorkflowId>(row));
    found.push_back(id);
  }
  co_return found;
}

Task<Result<Executions>> read_executions(ContextRef context, bool is_of_live,
                                         std::optional<ExecutionId> after,
                                         std::size_t executions_max) {
  const std::string which = is_of_live ? " and phase <> 'terminal'" : "";
  WEIR_CO_TRY(rows, co_await context->pool.execute(
                        db::Statement("select key, record from workflow_executions where key > $1" +
                                          which + " order by key limit $2",
                                      after ? encode_key(*after) : db::Bytes(),
                                      static_cast<std::int64_t>(executions_max))
                            .about("workflow_executions")));
  Executions found;
  for (const db::Row row : rows) {
    WEIR_CO_TRY(id, key_in<ExecutionId>(row));
    WEIR_CO_TRY(execution, value_in<Execution>(row));
    found.emplace_back(id, std::move(execution));
  }
  co_return found;
}

Task<Result<workflow::internal::QueueSeen>> read_queue(ContextRef context, std::string lane,
                                                       std::size_t executions_max) {
  db::Batch statements;
  statements.push_back(db::Statement("select state, count(*) as executions from workflow_executions"
                                     " where lane = $1 and phase <> 'terminal' group by state",
                                     lane)
                           .about("workflow_executions"));
  statements.push_back(
      db::Statement("select key, eligible_at from workflow_executions where is_ready and lane = $1"
                    " order by priority desc, eligible_at, key limit $2",
                    lane, static_cast<std::int64_t>(executions_max))
          .about("workflow_executions"));
  WEIR_CO_TRY(results, co_await context->pool.execute(std::move(statements)));
  workflow::internal::QueueSeen seen;
  for (const db::Row row : results[0]) {
    WEIR_CO_TRY(word, row.get<std::string>(0));
    WEIR_CO_TRY(count, row.get<std::uint64_t>(1));
    const auto state = parse_word<PublicState>(word);
    if (!state) co_return row.corrupt("state", "no such state");
    seen.counts[*state] = count;
  }
  for (const db::Row row : results[1]) {
    WEIR_CO_TRY(id, key_in<ExecutionId>(row));
    WEIR_CO_TRY(since, row.get<Time>(1));
    seen.waiting.push_back({id, since});
  }
  co_return seen;
}

/// What this engine has done, and what there is to do for all of them.
Task<Result<EngineReport>> read_report(ContextRef context) {
  EngineReport report = context->figures->read();
  WEIR_CO_TRY(rows, co_await context->pool.execute(
                        db::Statement("select state, count(*), count(due_at)"
                                      " from workflow_executions where phase <> 'terminal'"
                                      " group by state")
                            .about("workflow_executions")));
  StateCounts counts;
  report.due = 0;
  for (const db::Row row : rows) {
    WEIR_CO_TRY(word, row.get<std::string>(0));
    WEIR_CO_TRY(count, row.get<std::uint64_t>(1));
    WEIR_CO_TRY(due, row.get<std::uint64_t>(2));
    const auto state = parse_word<PublicState>(word);
    if (!state) co_return row.corrupt("state", "no such state");
    counts[*state] = count;
    report.due += due;
  }
  report.waiting = counts[PublicState::waiting] + counts[PublicState::waiting_children];
  report.delayed = counts[PublicState::delayed];
  report.active = counts[PublicState::active];
  report.suspended = counts[PublicState::suspended];
  co_return report;
}

}  // namespace

Task<Result<std::shared_ptr<PostgresStore>>> PostgresStore::open(ActorSystem* system,
                                                                 Options options,
                                                                 std::function<Time()> clock) {
  auto pool = db::Pool::open(*system, options.database);
  if (!pool) co_return told(pool.error());
  auto identity = co_await prepare_schema(*pool);
  if (!identity) co_return told(identity.error());
  auto context = std::make_shared<Context>(*pool, std::move(options));
  context->identity = *identity;
  context->channel = "weir_workflow_" + std::to_string(*identity);
  context->clock = std::move(clock);
  auto store = std::make_shared<PostgresStore>(context);
  if (auto begun = co_await store->begin(); !begun) {
    store->abandon();
    co_return told(begun.error());
  }
  co_return store;
}

Task<Result<>> PostgresStore::begin() {
  WEIR_CO_TRY(rows, co_await context_->pool.execute(db::Statement(begin_text)));
  WEIR_CO_TRY(time, rows[0].get<Time>(0));
  WEIR_CO_TRY(salt, rows[0].get<std::int64_t>(1));
  context_->database_clock.set(time, system().now());
  context_->salt = static_cast<std::uint64_t>(salt);
  context_->owner = static_cast<std::int64_t>(context_->salt >> 1U);
  if (auto* telemetry = system().options().telemetry) {
    context_->counts_present = true;
    metrics_ =
        std::make_unique<workflow::internal::EngineMetrics>(context_->figures, telemetry->meter());
  }
  auto ears = std::make_shared<Ears>(context_);
  const SpawnOptions batching{.name = "workflow batches", .mailbox_capacity = unbounded};
  batches_ = system().spawn<BatchActor>(
      batching, context_, [ears](const Effects& effects) { ears->note(effects); }, time);
  const SpawnOptions keeping{.name = "workflow keeper", .mailbox_capacity = unbounded};
  keeper_ = ears->keeper = system().spawn<KeeperActor>(keeping, context_, batches_);
  auto listener = db::Listener::open(
      system(), context_->options.database, {context_->channel},
      [ears](const db::Notification& notification) { ears->hear(notification); });
  if (!listener) co_return listener.error();
  listener_ = *std::move(listener);
  WEIR_CO_TRY_VOID(co_await keeper_.ask<BeginKeeping>().within(forever));
  co_return {};
}

Task<Result<>> PostgresStore::run(std::shared_ptr<Command> command) {
  return submit(batches_, std::make_shared<CommandJob>(context_->random(), std::move(command)));
}

Task<Result<std::vector<Claimed>>> PostgresStore::claim(ClaimRequest request, bool waits) {
  return claim_on(context_, batches_, std::move(request), waits);
}

Task<Result<>> PostgresStore::wait_for_end(std::vector<ExecutionId> executions) {
  return wait_for_end_on(context_, batches_, std::move(executions));
}

Task<Result<CancelResult>> PostgresStore::cancel(WorkflowId workflow, CancelPolicy policy,
                                                 std::string reason) {
  return cancel_on(context_, batches_, workflow, policy, std::move(reason));
}

Task<Result<std::vector<SetAside>>> PostgresStore::set_aside() {
  const KeeperRef keeper = keeper_;
  co_return co_await keeper.ask<ListSetAside>().within(forever);
}

Task<Result<std::vector<ExecutionId>>> PostgresStore::members(WorkflowId workflow,
                                                              std::optional<ExecutionId> after,
                                                              std::size_t members_max) {
  return told_of(read_members(context_, workflow, after, members_max));
}

Task<Result<std::vector<WorkflowId>>> PostgresStore::workflows(Partition partition,
                                                               std::optional<WorkflowId> after,
                                                               std::size_t workflows_max) {
  return told_of(read_workflows(context_, partition, after, workflows_max));
}

Task<Result<NumberedNotices>> PostgresStore::notices(std::uint64_t from, std::size_t notices_max) {
  return told_of(read_notices(context_, from, notices_max));
}

Task<Result<EngineReport>> PostgresStore::report() { return told_of(read_report(context_)); }

Task<Result<std::uint64_t>> PostgresStore::first_notice() {
  return told_of(read_first_notice(context_));
}

Task<Result<Executions>> PostgresStore::executions(bool is_of_live,
                                                   std::optional<ExecutionId> after,
                                                   std::size_t executions_max) {
  return told_of(read_executions(context_, is_of_live, after, executions_max));
}

Task<Result<workflow::internal::QueueSeen>> PostgresStore::queue(std::string lane,
                                                                 std::size_t executions_max) {
  return told_of(read_queue(context_, std::move(lane), executions_max));
}

Task<Result<>> PostgresStore::close() {
  if (is_closed_.exchange(true)) co_return {};
  if (listener_) listener_->close();
  context_->gates.close(Error(Errc::closed, "the workflow engine was closed"));
  context_->ends.close(Error(Errc::closed, "the workflow engine was closed"));
  static_cast<void>(co_await keeper_.ask<StopKeeping>().within(forever));
  auto stopped = co_await batches_.ask<StopBatches>().within(forever);
  context_->pool.close();
  if (!stopped) co_return stopped.error();
  co_return {};
}

void PostgresStore::abandon() noexcept {
  if (is_closed_.exchange(true)) return;
  if (listener_) listener_->close();
  context_->gates.close(Error(Errc::closed, "the workflow engine was closed"));
  context_->ends.close(Error(Errc::closed, "the workflow engine was closed"));
  if (keeper_) keeper_.stop();
  if (batches_) batches_.stop();
  context_->pool.close();
}

Task<Result<>> PostgresStore::settle() {
  const KeeperRef keeper = keeper_;
  WEIR_CO_TRY_VOID(co_await keeper.ask<Settle>().within(forever));
  co_return {};
}

}  // namespace weir::flow::workflow::postgres::internal
