#include <algorithm>
#include <utility>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/engine_actor.hpp>
#include <weir/flow/workflow/internal/engine_core.hpp>
#include <weir/flow/workflow/internal/retention_commands.hpp>
#include <weir/runtime/try.hpp>

// How an engine removes what has been kept for long enough: entries in the order in which things
// ended, some of them in each commit.
namespace weir::flow::workflow::internal {
namespace {

std::string name_of(const EndedKey& key) {
  return key.is_workflow ? "removal of workflow " + to_string(key.workflow())
                         : "removal of execution " + to_string(key.execution());
}

void take_earlier(std::optional<Time>& first, const std::optional<Time>& other) {
  if (other && (!first || *other < *first)) first = other;
}

Time::duration in_store(Duration duration) { return std::chrono::ceil<Time::duration>(duration); }

}  // namespace

void EngineActor::follow_ended(const Draft& draft) {
  draft.each_change<Ended>([&](const EndedKey& key, const auto& entry) {
    const auto keep = options_.retention.of(key.space);
    if (entry && keep) arrange_retire(key.at + in_store(*keep));
  });
  const auto& keep_notices = options_.retention.keep_notices;
  if (keep_notices && !draft.notices().empty()) arrange_retire(time() + in_store(*keep_notices));
}

/// Not before some time has passed: what ends one after the other goes together.
void EngineActor::arrange_retire(Time due) {
  const Time now = time();
  const Time at = std::max(due, now + in_store(options_.retention.period));
  if (is_stopped_ || (retire_at_ && *retire_at_ <= at)) return;
  retire_at_ = at;
  retire_timer_.cancel();
  retire_timer_ = schedule_once<Retire>(Schedule::pause_before(at - now));
}

Task<> EngineActor::on(Retire) {
  if (std::exchange(is_retiring_, true)) co_return;
  retire_at_.reset();
  auto next = co_await retire_all();
  is_retiring_ = false;
  if (failure_ || is_stopped_) co_return;
  if (!next) {
    ++core_->figures->own().removal_errors;
    arrange_retire(time());
  } else if (*next) {
    arrange_retire(**next);
  }
  publish_figures();
}

/// Of what ended when nothing was removed.
Task<Result<>> EngineActor::add_ended_entries() {
  const std::size_t most = options_.retention.removals_max;
  for (std::optional<ExecutionId> after;;) {
    WEIR_CO_TRY(page, co_await core_->records.executions(false, after, most));
    if (page.empty()) break;
    after = page.back().first;
    std::vector<ExecutionId> ended;
    for (const auto& [id, execution] : page) {
      if (execution.has_ended() && !execution.workflow) ended.push_back(id);
    }
    WEIR_CO_TRY_VOID(co_await call([&](Draft& draft) { return add_entries(draft, ended); }));
  }
  for (std::uint16_t number = 0; number < partitions_max; ++number) {
    for (std::optional<WorkflowId> after;;) {
      WEIR_CO_TRY(page, co_await core_->records.workflows({number}, after, most));
      if (page.empty()) break;
      after = page.back();
      WEIR_CO_TRY_VOID(co_await call([&](Draft& draft) { return add_entries(draft, page); }));
    }
  }
  WEIR_CO_TRY_VOID(co_await core_->committed.wait_until(ticket()));
  WEIR_CO_TRY_VOID(co_await core_->records.set_ended_entries(true));
  has_ended_entries_ = true;
  co_return {};
}

Task<EngineActor::NextDue> EngineActor::retire_all() {
  std::optional<Time> next;
  if (!has_ended_entries_) WEIR_CO_TRY_VOID(co_await add_ended_entries());
  std::optional<std::string> space;
  for (;;) {
    WEIR_CO_TRY(first, co_await core_->records.first_ended(space));
    if (!first) break;
    space = first->space;
    const auto keep = options_.retention.of(*space);
    if (!keep) continue;
    WEIR_CO_TRY(due, co_await retire_space(*space, *keep));
    take_earlier(next, due);
  }
  if (const auto& keep = options_.retention.keep_notices) {
    WEIR_CO_TRY(due, co_await retire_notices(*keep));
    take_earlier(next, due);
  }
  co_return next;
}

Task<EngineActor::NextDue> EngineActor::retire_space(std::string space, Duration keep) {
  const std::size_t most = options_.retention.removals_max;
  // What is put off has a later time, and is not looked at again.
  const Time begun_at = time();
  for (;;) {
    // What was done about those before is to be seen.
    WEIR_CO_TRY_VOID(co_await core_->committed.wait_until(ticket()));
    if (failure_ || is_stopped_) co_return std::nullopt;
    const std::size_t wanted = most + set_aside_.size();
    WEIR_CO_TRY(keys, co_await core_->records.ended(space, wanted));
    std::size_t tried = 0;
    for (const EndedKey& key : keys) {
      const Time due = key.at + in_store(keep);
      if (due > begun_at) co_return due;
      if (set_aside_.contains(name_of(key))) continue;
      ++tried;
      co_await retire_entry(key);
      if (failure_ || is_stopped_) co_return std::nullopt;
    }
    if (tried == 0) co_return std::nullopt;
  }
}

Task<> EngineActor::retire_entry(EndedKey key) {
  auto done = co_await retire_whole(key);
  if (done || failure_ || is_stopped_) co_return;
  ++core_->figures->own().removal_errors;
  set_aside_.insert_or_assign(name_of(key), done.error());
}

/// Also what is left of it after the first commit.
Task<Result<>> EngineActor::retire_whole(EndedKey key) {
  EngineReport& figures = core_->figures->own();
  const std::size_t most = options_.retention.removals_max;
  std::optional<ExecutionId> after;
  bool has_members = false;
  for (bool is_left = true; is_left;) {
    std::vector<ExecutionId> members;
    if (has_members) {
      WEIR_CO_TRY_VOID(co_await core_->committed.wait_until(ticket()));
      WEIR_CO_TRY(found, co_await core_->records.members(key.workflow(), after, most));
      members = std::move(found);
    }
    const bool is_last = members.size() < most;
    if (!members.empty()) after = members.back();
    auto retired = co_await call([&](Draft& draft) {
      return has_members ? retire_members(draft, key, members, is_last, most)
                         : retire(draft, key, most);
    });
    if (!retired) co_return retired.error();
    figures.executions_removed += retired->executions;
    figures.workflows_removed += retired->workflows;
    figures.removals_postponed += retired->is_postponed ? 1 : 0;
    is_left = retired->is_left;
    has_members = key.is_workflow;
  }
  co_return {};
}

Task<EngineActor::NextDue> EngineActor::retire_notices(Duration keep) {
  const std::size_t most = options_.retention.removals_max;
  auto passed = co_await call([](Draft& draft) -> Result<std::optional<std::uint64_t>> {
    const auto* cursors = draft.find<NoticeCursors>(the_cursors);
    return cursors != nullptr ? cursors->lowest() : std::nullopt;
  });
  if (!passed) co_return passed.error();
  const std::uint64_t last = passed->value_or(next_notice_ - 1);
  for (;;) {
    if (failure_ || is_stopped_) co_return std::nullopt;
    const Time until = time() - in_store(keep);
    WEIR_CO_TRY(removed, co_await core_->records.remove_notices(last, until, most));
    core_->figures->own().notices_removed += removed.count;
    // Those that a consumer has not passed are looked at again after a while.
    if (removed.next) co_return std::max(*removed.next + in_store(keep), time());
    if (removed.count == 0) co_return std::nullopt;
  }
}

}  // namespace weir::flow::workflow::internal
