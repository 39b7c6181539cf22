#include <limits>
#include <utility>

#include <weir/flow/workflow/internal/retention_commands.hpp>
#include <weir/flow/workflow/postgres/internal/cancel_members.hpp>
#include <weir/flow/workflow/postgres/internal/ended_entries.hpp>
#include <weir/flow/workflow/postgres/internal/failure.hpp>
#include <weir/flow/workflow/postgres/internal/keeper_actor.hpp>
#include <weir/flow/workflow/postgres/internal/notices.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>

// How an engine removes what has been kept for long enough, in the partitions that it owns.
namespace weir::flow::workflow::postgres::internal {
namespace {

namespace db = storage::postgres;
using workflow::internal::Retired;

/// Keys are in the order of namespaces, and of times within each: both are found by the primary
/// key, and what is kept is not looked at.
constexpr const char* next_space_text =
    "select space, coalesce($2::timestamptz, now()) as time from workflow_ended"
    " where key >= $1 order by key limit 1";
constexpr const char* ended_text =
    "select key from workflow_ended where key >= $1 and key < $2 and partition = any($3::int8[])"
    " order by key limit $4";

struct SpaceSeen {
  std::string name;
  Time now;
};

std::string name_of(const EndedKey& key) {
  return key.is_workflow ? "removal of workflow " + to_string(key.workflow())
                         : "removal of execution " + to_string(key.execution());
}

/// The first namespace after one of them that has something.
Task<Result<std::optional<SpaceSeen>>> next_space(std::shared_ptr<Context> context,
                                                  std::optional<std::string> after) {
  std::optional<Time> time;
  if (context->clock) time = context->clock();
  db::Bytes from;
  if (after) from = encode_key(EndedKey{.space = *after + '\0', .at = Time::min()});
  WEIR_CO_TRY(rows, co_await context->pool.execute(
                        db::Statement(next_space_text, from, time).about("workflow_ended")));
  if (rows.is_empty()) co_return std::nullopt;
  WEIR_CO_TRY(name, rows[0].get<std::string>(0));
  WEIR_CO_TRY(now, rows[0].get<Time>(1));
  co_return SpaceSeen{std::move(name), now};
}

Task<Result<std::vector<EndedKey>>> read_ended(std::shared_ptr<Context> context,
                                               std::vector<std::int64_t> partitions, EndedKey from,
                                               EndedKey until, std::size_t entries_max) {
  db::Batch statements;
  statements.emplace_back("select set_config('enable_seqscan', 'off', true)");
  statements.push_back(db::Statement(ended_text, encode_key(from), encode_key(until), partitions,
                                     static_cast<std::int64_t>(entries_max))
                           .about("workflow_ended"));
  WEIR_CO_TRY(results, co_await context->pool.execute(std::move(statements)));
  std::vector<EndedKey> keys;
  for (const db::Row row : results[1]) {
    WEIR_CO_TRY(key, key_in<EndedKey>(row));
    keys.push_back(std::move(key));
  }
  co_return keys;
}

}  // namespace

void KeeperActor::retire_if_due() {
  const Retention& retention = context_->options.retention;
  if (!retention.is_on()) return;
  if (retired_at_ && now() - *retired_at_ < retention.period) return;
  retired_at_ = now();
  self().send<Retire>();
}

/// Some at a time, so that what is due is not held up.
Task<> KeeperActor::on(Retire) {
  static_cast<void>(co_await share_if_due());
  auto done = co_await retire_some();
  if (done && *done > 0) self().send<Retire>();
  if (!done) context_->figures->add(&EngineReport::removal_errors, 1);
}

Task<KeeperActor::Done> KeeperActor::retire_some() {
  const Retention& retention = context_->options.retention;
  std::size_t done = 0;
  if (!retention.is_on()) co_return done;
  WEIR_CO_TRY_VOID(co_await add_entries());
  for (std::optional<std::string> space;;) {
    WEIR_CO_TRY(seen, co_await next_space(context_, space));
    if (!seen) break;
    space = seen->name;
    const auto keep = retention.of(seen->name);
    if (!keep) continue;
    const Time until = seen->now - std::chrono::ceil<Time::duration>(*keep);
    WEIR_CO_TRY(
        keys, co_await read_ended(context_, partitions(), {.space = seen->name, .at = Time::min()},
                                  {.space = seen->name, .at = until + Time::duration(1)},
                                  retention.removals_max + set_aside_.size()));
    WEIR_CO_TRY(retired, co_await retire_entries(std::move(keys)));
    done += retired;
  }
  if (retention.keep_notices) {
    WEIR_CO_TRY(removed, co_await retire_notices(*retention.keep_notices));
    done += removed;
  }
  co_return done;
}

/// Of what ended when no engine removed anything.
Task<Result<>> KeeperActor::add_entries() {
  if (has_entries_) co_return {};
  WEIR_CO_TRY(has_all, co_await begin_ended_entries(context_));
  const std::size_t most = context_->options.retention.removals_max;
  const auto add = [this](auto ids) {
    return call_anywhere([ids = std::move(ids)](Draft& draft) {
      return workflow::internal::add_entries(draft, ids);
    });
  };
  for (std::optional<ExecutionId> after; !has_all;) {
    WEIR_CO_TRY(ids, co_await read_ended_executions(context_, after, most));
    if (ids.empty()) break;
    after = ids.back();
    WEIR_CO_TRY_VOID(co_await add(std::move(ids)));
  }
  for (std::optional<WorkflowId> after; !has_all;) {
    WEIR_CO_TRY(ids, co_await read_ended_workflows(context_, after, most));
    if (ids.empty()) break;
    after = ids.back();
    WEIR_CO_TRY_VOID(co_await add(std::move(ids)));
  }
  if (!has_all) WEIR_CO_TRY_VOID(co_await note_ended_entries_added(context_));
  has_entries_ = true;
  co_return {};
}

/// Side by side: they come together in batches.
Task<KeeperActor::Done> KeeperActor::retire_entries(std::vector<EndedKey> keys) {
  std::size_t retired = 0;
  TaskScope scope;
  for (const EndedKey& key : keys) {
    if (!set_aside_.contains(name_of(key))) scope.spawn(retire_entry(key, &retired));
  }
  co_await scope.join();
  co_return retired;
}

Task<> KeeperActor::retire_entry(EndedKey key, std::size_t* retired) {
  auto done = co_await retire_whole(key);
  if (done) *retired += *done ? 1 : 0;
  if (done || is_general(done.error())) co_return;
  context_->figures->add(&EngineReport::removal_errors, 1);
  set_aside_.insert_or_assign(name_of(key), done.error());
}

/// Also what is left of it after the first commit.
Task<Result<bool>> KeeperActor::retire_whole(EndedKey key) {
  const std::size_t most = context_->options.retention.removals_max;
  std::optional<ExecutionId> after;
  bool has_members = false;
  for (bool is_left = true; is_left;) {
    std::vector<ExecutionId> members;
    if (has_members) {
      WEIR_CO_TRY(found, co_await read_members(context_, key.workflow(), after, most));
      members = std::move(found);
    }
    const bool is_last = members.size() < most;
    if (!members.empty()) after = members.back();
    auto retired = co_await call(
        key.partition, [key, members, has_members, is_last, most](Draft& draft) -> Result<Retired> {
          if (!has_members) return workflow::internal::retire(draft, key, most);
          return workflow::internal::retire_members(draft, key, members, is_last, most);
        });
    if (!retired) co_return retired.error();
    context_->figures->add(&EngineReport::executions_removed, retired->executions);
    context_->figures->add(&EngineReport::workflows_removed, retired->workflows);
    context_->figures->add(&EngineReport::removals_postponed, retired->is_postponed ? 1 : 0);
    if (retired->is_postponed) co_return false;
    is_left = retired->is_left;
    has_members = key.is_workflow;
  }
  co_return true;
}

/// They are of no partition: whoever has the first one does it.
Task<KeeperActor::Done> KeeperActor::retire_notices(Duration keep) {
  if (!owned_.epochs.contains(0)) co_return 0;
  auto passed =
      co_await call(Partition{}, [](Draft& draft) -> Result<std::optional<std::uint64_t>> {
        const auto* cursors = draft.find<NoticeCursors>(workflow::internal::the_cursors);
        return cursors != nullptr ? cursors->lowest() : std::nullopt;
      });
  if (!passed) co_return passed.error();
  const std::uint64_t last = passed->value_or(std::numeric_limits<std::uint64_t>::max());
  WEIR_CO_TRY(removed, co_await remove_notices(context_, last, keep));
  context_->figures->add(&EngineReport::notices_removed, removed);
  co_return removed;
}

}  // namespace weir::flow::workflow::postgres::internal
