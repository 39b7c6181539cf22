#include <algorithm>

#include <weir/flow/workflow/postgres/internal/keeper_actor.hpp>
#include <weir/runtime/try.hpp>

// How many executions there are in which state, for metrics.
namespace weir::flow::workflow::postgres::internal {
namespace {

namespace db = storage::postgres;

// Of the time of the database no more than one in so many is spent on it.
constexpr int share_of_time = 50;

}  // namespace

Task<Result<>> KeeperActor::count_if_due() {
  if (!context_->counts_present || (count_at_ && now() < *count_at_)) co_return {};
  const TimePoint begun = now();
  auto counted = co_await count_present();
  count_at_ = now() + std::max(context_->options.count_period, (now() - begun) * share_of_time);
  co_return counted;
}

Task<Result<>> KeeperActor::count_present() {
  WEIR_CO_TRY(rows, co_await context_->pool.execute(
                        db::Statement("select state, count(*), count(due_at)"
                                      " from workflow_executions where phase <> 'terminal'"
                                      " and partition = any($1::int8[]) group by state",
                                      partitions())
                            .about("workflow_executions")));
  StateCounts counts;
  std::uint64_t due = 0;
  for (const db::Row row : rows) {
    WEIR_CO_TRY(one, (row.as<std::string, std::uint64_t, std::uint64_t>()));
    const auto state = parse_word<PublicState>(std::get<0>(one));
    if (!state) co_return row.corrupt("state", "no such state");
    counts[*state] = std::get<1>(one);
    due += std::get<2>(one);
  }
  auto& figures = *context_->figures;
  figures.set(&EngineReport::waiting,
              counts[PublicState::waiting] + counts[PublicState::waiting_children]);
  figures.set(&EngineReport::delayed, counts[PublicState::delayed]);
  figures.set(&EngineReport::active, counts[PublicState::active]);
  figures.set(&EngineReport::suspended, counts[PublicState::suspended]);
  figures.set(&EngineReport::due, due);
  co_return {};
}

}  // namespace weir::flow::workflow::postgres::internal
