#include <weir/flow/workflow/postgres/internal/ownership.hpp>

#include <weir/flow/workflow/postgres/internal/news.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow::postgres::internal {
namespace {

namespace db = storage::postgres;

// $1: this owner, $2: how long it lasts, in microseconds, $3: the time, if it is not the
// database's.
#define WEIR_NOW "coalesce($3::timestamptz, now())"
#define WEIR_UNTIL WEIR_NOW " + $2 * interval '1 microsecond'"
#define WEIR_SHARE "(select (255 + count(*)) / count(*) from workflow_owners)"

constexpr const char* join_text =
    "insert into workflow_owners (owner, expires_at, name) values ($1, " WEIR_UNTIL
    ", $4) on conflict (owner) do update set expires_at = excluded.expires_at"
    " returning xmax = 0";
constexpr const char* bury_text =
    "delete from workflow_owners where expires_at < coalesce($1::timestamptz, now())";
constexpr const char* give_text =
    "update workflow_partitions set owner = null, expires_at = null where number in"
    " (select number from workflow_partitions where owner = $1 order by number offset " WEIR_SHARE
    ")";
constexpr const char* keep_text =
    "update workflow_partitions set expires_at = " WEIR_UNTIL " where owner = $1";
constexpr const char* take_text =
    "update workflow_partitions set owner = $1, epoch = epoch + 1, expires_at = " WEIR_UNTIL
    " where number in (select number from workflow_partitions"
    " where owner is null or expires_at < " WEIR_NOW
    " order by number limit greatest(0, " WEIR_SHARE
    " - (select count(*) from workflow_partitions where owner = $1)) for update skip locked)";
constexpr const char* owned_text =
    "select number, epoch from workflow_partitions where owner = $1 order by number";
constexpr const char* count_text =
    "select count(*), coalesce($1::timestamptz, now()) from workflow_owners";

#undef WEIR_NOW
#undef WEIR_UNTIL
#undef WEIR_SHARE

Task<Result<>> tell_owners(std::shared_ptr<Context> context) {
  WEIR_CO_TRY_VOID(co_await context->pool.execute(db::Statement(
      "select pg_notify($1, $2)", context->channel, write_news(*context, NewsKind::owners))));
  co_return {};
}

}  // namespace

Task<Result<Ownership>> renew_ownership(std::shared_ptr<Context> context) {
  std::optional<Time> time;
  if (context->clock) time = context->clock();
  const std::int64_t lasts =
      std::chrono::duration_cast<std::chrono::microseconds>(context->options.ownership).count();
  const std::int64_t me = context->owner;
  db::Batch statements;
  statements.emplace_back(join_text, me, lasts, time, context->options.name);
  statements.emplace_back(bury_text, time);
  statements.emplace_back(give_text, me);
  statements.emplace_back(keep_text, me, lasts, time);
  statements.emplace_back(take_text, me, lasts, time);
  statements.emplace_back(owned_text, me);
  statements.emplace_back(count_text, time);
  WEIR_CO_TRY(results, co_await context->pool.execute(std::move(statements), {.attempts_max = 3}));
  WEIR_CO_TRY(counted, (results[6][0].as<std::int64_t, Time>()));
  context->has_others.store(std::get<0>(counted) > 1);
  Ownership owned{{}, std::get<1>(counted)};
  for (const db::Row row : results[5]) {
    WEIR_CO_TRY(partition, (row.as<std::uint16_t, std::int64_t>()));
    owned.epochs.insert({std::get<0>(partition), std::get<1>(partition)});
  }
  WEIR_CO_TRY(is_new, results[0][0].get<bool>(0));
  // Whoever has more than its share, or less, is to look again.
  if (is_new || results[2].affected() > 0) WEIR_CO_TRY_VOID(co_await tell_owners(context));
  co_return owned;
}

Task<Result<>> give_up_ownership(std::shared_ptr<Context> context) {
  db::Batch statements;
  statements.emplace_back(
      "update workflow_partitions set owner = null, expires_at = null where owner = $1",
      context->owner);
  statements.emplace_back("delete from workflow_owners where owner = $1", context->owner);
  WEIR_CO_TRY_VOID(
      co_await context->pool.execute(std::move(statements), {.timeout = std::chrono::seconds(2)}));
  if (context->has_others.load()) co_return co_await tell_owners(context);
  co_return {};
}

}  // namespace weir::flow::workflow::postgres::internal
