#include <weir/flow/workflow/postgres/internal/keeper_actor.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/internal/schedule.hpp>
#include <weir/flow/workflow/postgres/internal/cancel_members.hpp>
#include <weir/flow/workflow/postgres/internal/failure.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow::postgres::internal {
namespace {

namespace db = storage::postgres;

constexpr std::size_t due_max = 1024;
constexpr std::size_t cancels_at_once = 64;
/// Who waits for an end is told of it; that nobody may have told is for once in a while.
constexpr std::uint64_t polls_per_look_at_ends = 10;

/// Of one partition at most 256, so that one that is behind does not hold up the others.
constexpr const char* due_text =
    "select d.key, d.due_at, coalesce($2::timestamptz, now()) as time"
    " from unnest($1::int8[]) as p (number) cross join lateral"
    " (select key, due_at from workflow_executions e where e.partition = p.number"
    " and e.due_at is not null and e.key <> all($5::bytea[])"
    " and e.due_at <= coalesce($2::timestamptz, now()) + $3 * interval '1 microsecond'"
    " order by e.due_at limit 256) d order by d.due_at limit $4";

db::Statement by_index() { return "select set_config('enable_seqscan', 'off', true)"; }

}  // namespace

KeeperActor::KeeperActor(std::shared_ptr<Context> context, BatchRef batches)
    : context_(std::move(context)), batches_(std::move(batches)) {}

Task<Result<bool>> KeeperActor::on(BeginKeeping) {
  WEIR_CO_TRY_VOID(co_await share());
  poll_ = schedule_every<Poll>(context_->options.poll);
  self().send<Look>();
  self().send<Dispatch>();
  co_return true;
}

std::vector<std::int64_t> KeeperActor::partitions() const {
  std::vector<std::int64_t> numbers;
  for (const auto& [number, epoch] : owned_.epochs) numbers.push_back(number);
  return numbers;
}

/// Who looks after some namespaces does so wherever they are: the owner may look after others.
std::vector<std::int64_t> KeeperActor::dispatched() const {
  if (context_->options.dispatch_spaces.empty()) return partitions();
  std::vector<std::int64_t> numbers(partitions_max);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::optional<Time> KeeperActor::fixed_time() const {
  if (!context_->clock) return std::nullopt;
  return context_->clock();
}

Task<Result<>> KeeperActor::share() {
  WEIR_CO_TRY(owned, co_await renew_ownership(context_));
  owned_ = std::move(owned);
  std::vector<Partition> own;
  for (const auto& [number, epoch] : owned_.epochs) own.push_back({number});
  context_->own_partitions.set(std::move(own));
  shared_at_ = now();
  if (!context_->clock) context_->database_clock.set(owned_.now, shared_at_);
  co_return {};
}

Task<Result<>> KeeperActor::share_if_due() {
  if (now() - shared_at_ < context_->options.ownership / 3) co_return {};
  co_return co_await share();
}

Task<> KeeperActor::on(Share) { static_cast<void>(co_await share()); }

Task<> KeeperActor::on(Poll) {
  context_->gates.wake_all();
  if (++polls_ % polls_per_look_at_ends == 0) context_->ends.wake_all();
  static_cast<void>(co_await share_if_due());
  static_cast<void>(co_await meet_due());
  static_cast<void>(co_await cancel_some(true));
  retire_if_due();
  static_cast<void>(co_await count_if_due());
}

Task<> KeeperActor::on(Look look) {
  if (look.due) {
    arrange_look(*look.due);
    co_return;
  }
  look_at_.reset();
  static_cast<void>(co_await meet_due());
}

Task<> KeeperActor::on(Dispatch) {
  is_dispatch_due_ = false;
  static_cast<void>(co_await cancel_some(true));
}

/// At a time of the database; what comes after the next poll is seen then.
void KeeperActor::arrange_look(Time due) {
  const Time since = owned_.now;
  const auto passed = std::chrono::duration_cast<Time::duration>(now() - shared_at_);
  const Duration wait = workflow::internal::Schedule::pause_before(due - since - passed);
  if (wait > context_->options.poll) return;
  const TimePoint at = now() + wait;
  if (look_at_ && *look_at_ <= at) return;
  look_at_ = at;
  look_.cancel();
  look_ = schedule_once<Look>(wait);
}

Task<> KeeperActor::meet(ExecutionId id, bool* has_failed) {
  auto met = co_await call(id.partition,
                           [id](Draft& draft) { return workflow::internal::meet_due(draft, id); });
  if (met) co_return;
  if (is_general(met.error())) {
    *has_failed = true;
  } else {
    context_->set_aside(encode_key(id), "execution " + to_string(id), met.error());
  }
}

Task<KeeperActor::Done> KeeperActor::meet_due() {
  const auto ahead = std::chrono::duration_cast<std::chrono::microseconds>(context_->options.poll);
  db::Batch statements;
  statements.push_back(by_index());
  statements.push_back(db::Statement(due_text, partitions(), fixed_time(), ahead.count(),
                                     static_cast<std::int64_t>(due_max), context_->broken.keys())
                           .about("workflow_executions"));
  WEIR_CO_TRY(results, co_await context_->pool.execute(std::move(statements)));
  std::size_t met = 0;
  bool has_failed = false;
  std::optional<Time> next;
  TaskScope scope;
  for (const db::Row row : results[1]) {
    auto id = key_in<ExecutionId>(row);
    auto due = row.get<Time>("due_at");
    auto time = row.get<Time>("time");
    if (!id) context_->set_aside(row.get<db::Bytes>("key").value(), "an execution", id.error());
    if (!id || !due || !time) continue;
    if (*due > *time) {
      next = *due;
      break;
    }
    ++met;
    scope.spawn(meet(*id, &has_failed));
  }
  co_await scope.join();
  if (next) arrange_look(*next);
  if (has_failed) co_return Error(Errc::unavailable, "something due could not be done");
  // What follows from it may be due as well.
  if (met > 0) self().send<Look>();
  co_return met;
}

Task<KeeperActor::Done> KeeperActor::cancel_some(bool is_patient) {
  WEIR_CO_TRY(groups, co_await cancel_groups());
  WEIR_CO_TRY_VOID(co_await share_if_due());
  WEIR_CO_TRY(workflows, co_await cancel_workflows(is_patient));
  const bool has_done = groups + workflows > 0;
  if (has_done && !std::exchange(is_dispatch_due_, true)) self().send<Dispatch>();
  co_return groups + workflows;
}

Task<> KeeperActor::cancel_siblings(ExecutionId id) {
  const std::size_t most = context_->options.cancels_max;
  const auto cancel = [id, most](Draft& draft) {
    return workflow::internal::cancel_siblings(draft, id, most);
  };
  const bool is_own = context_->options.dispatch_spaces.empty();
  auto done = is_own ? co_await call(id.partition, cancel) : co_await call_anywhere(cancel);
  if (!done) {
    note_set_aside("edge group of execution " + to_string(id), done.error());
    co_return;
  }
  auto& figures = *context_->figures;
  figures.add(&EngineReport::siblings_cancelled, done->cancelled.size());
  figures.add(&EngineReport::siblings_spared, done->spared);
  figures.add(&EngineReport::siblings_ended_before, done->ended_before);
  figures.add(&EngineReport::groups_dispatched, done->left == 0 ? 1 : 0);
}

/// In turns: groups of many siblings are not through after one.
Task<KeeperActor::Done> KeeperActor::cancel_groups() {
  const std::size_t most = cancels_at_once + set_aside_.size();
  const bool is_middle = !last_group_.value.empty();
  db::Batch statements;
  statements.push_back(by_index());
  statements.push_back(
      db::Statement("select key from workflow_edge_groups g where is_cancelling and key > $4"
                    " and partition = any($1::int8[]) and (cardinality($3::text[]) = 0 or exists"
                    " (select from workflow_executions e where e.key = g.key"
                    " and e.space = any($3::text[]))) order by key limit $2",
                    dispatched(), static_cast<std::int64_t>(most),
                    context_->options.dispatch_spaces, last_group_)
          .about("workflow_edge_groups"));
  WEIR_CO_TRY(results, co_await context_->pool.execute(std::move(statements)));
  // At the end it begins again.
  std::size_t found = is_middle && results[1].size() < most ? 1 : 0;
  last_group_ = {};
  if (results[1].size() == most) {
    WEIR_CO_TRY(key, results[1][most - 1].get<db::Bytes>("key"));
    last_group_ = std::move(key);
  }
  TaskScope scope;
  for (const db::Row row : results[1]) {
    auto id = key_in<ExecutionId>(row);
    if (!id) note_set_aside("an edge group", id.error());
    if (!id || set_aside_.contains("edge group of execution " + to_string(*id))) continue;
    ++found;
    scope.spawn(cancel_siblings(*id));
  }
  co_await scope.join();
  co_return found;
}

/// One piece of each: what else the keeper is asked for comes between two of them.
Task<KeeperActor::Done> KeeperActor::cancel_workflows(bool is_patient) {
  WEIR_CO_TRY(rows,
              co_await context_->pool.execute(
                  db::Statement("select key, state from workflow_workflows"
                                " where is_cancelling and partition = any($1::int8[])"
                                " and (cardinality($3::text[]) = 0 or space = any($3::text[]))"
                                " order by key limit $2",
                                dispatched(),
                                static_cast<std::int64_t>(cancels_at_once + set_aside_.size()),
                                context_->options.dispatch_spaces)
                      .about("workflow_workflows")));
  std::size_t found = 0;
  std::map<WorkflowId, int> seen;
  std::map<WorkflowId, ExecutionId> reached;
  for (const db::Row row : rows) {
    auto id = key_in<WorkflowId>(row);
    auto state = row.get<std::string>("state");
    if (!id || !state || set_aside_.contains("workflow " + to_string(*id))) continue;
    // Somebody may be at it, who wants to know what it cancels: only if it takes too long.
    const int times = seen[*id] = unfinished_[*id] + 1;
    const auto begun = reached_.find(*id);
    const bool waits = is_patient && begun == reached_.end() && times < 3;
    if (waits && *state == to_string(WorkflowState::cancelled)) continue;
    const Cancelling::Mark own(&context_->cancelling, *id);
    if (!own.is_first()) continue;
    ++found;
    std::optional<ExecutionId> after;
    if (begun != reached_.end()) after = begun->second;
    auto done = co_await cancel_piece(context_, batches_, *id, after);
    if (!done) note_set_aside("workflow " + to_string(*id), done.error());
    if (done && done->reached) reached.emplace(*id, *done->reached);
    WEIR_CO_TRY_VOID(co_await share_if_due());
  }
  unfinished_ = std::move(seen);
  reached_ = std::move(reached);
  co_return found;
}

void KeeperActor::note_set_aside(std::string what, const Error& reason) {
  if (is_general(reason)) return;
  context_->figures->add(&EngineReport::dispatch_errors, 1);
  set_aside_.insert_or_assign(std::move(what), reason);
}

std::vector<SetAside> KeeperActor::on(ListSetAside) const {
  std::vector<SetAside> list;
  for (const auto& [what, reason] : set_aside_) list.push_back({what, reason});
  for (SetAside& row : context_->broken.list()) list.push_back(std::move(row));
  return list;
}

Task<Result<bool>> KeeperActor::on(Settle) {
  for (;;) {
    WEIR_CO_TRY_VOID(co_await share());
    WEIR_CO_TRY(met, co_await meet_due());
    WEIR_CO_TRY(cancelled, co_await cancel_some(false));
    WEIR_CO_TRY(removed, co_await retire_some());
    if (met + cancelled + removed == 0) co_return true;
  }
}

Task<Result<bool>> KeeperActor::on(StopKeeping) {
  poll_.cancel();
  look_.cancel();
  auto given = co_await give_up_ownership(context_);
  stop();
  // If nobody can be told, it ends by itself.
  co_return given.has_value();
}

}  // namespace weir::flow::workflow::postgres::internal
