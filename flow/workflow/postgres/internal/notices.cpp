#include <weir/flow/workflow/postgres/internal/notices.hpp>

#include <algorithm>
#include <limits>

#include <weir/flow/workflow/internal/workflow_store.hpp>
#include <weir/flow/workflow/postgres/internal/encoding.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow::postgres::internal {
namespace {

namespace db = storage::postgres;

/// Of batches, each of which may have told many.
constexpr std::size_t rows_max = 64;

constexpr const char* write_text =
    "with counted as (update workflow_counters set value = value + $1 where name = 'notices'"
    " returning value)"
    " insert into workflow_notices (last, first, records, told_at)"
    " select value, value - $1 + 1, $2, $3 from counted";

// Of those that come first, the ones before the first that is too young. $1: the last of them, $2:
// the time, if it is not the database's, $3: how long they are kept, in microseconds, $4: batches.
constexpr const char* remove_text =
    "with firsts as (select last, told_at from workflow_notices where last <= $1"
    " order by last limit $4),"
    " old as (select last, bool_and(told_at <= coalesce($2::timestamptz, now())"
    " - $3 * interval '1 microsecond') over (order by last) as is_old from firsts),"
    " gone as (delete from workflow_notices n using old where n.last = old.last and old.is_old"
    " returning n.last, n.first)"
    " update workflow_counters set value = greatest(value, (select max(last) from gone))"
    " where name = 'removed_notices' and exists (select from gone)"
    " returning (select sum(last - first + 1)::int8 from gone)";
constexpr const char* removed_text =
    "select value from workflow_counters where name = 'removed_notices'";

}  // namespace

db::Statement write_notices(const std::vector<Notice>& notices) {
  return db::Statement(write_text, static_cast<std::int64_t>(notices.size()), encode_value(notices),
                       notices.back().at)
      .about("workflow_notices");
}

Task<Result<NumberedNotices>> read_notices(std::shared_ptr<const Context> context,
                                           std::uint64_t from, std::size_t notices_max) {
  const auto first = static_cast<std::int64_t>(
      std::min<std::uint64_t>(from, std::numeric_limits<std::int64_t>::max()));
  const auto rows_wanted = static_cast<std::int64_t>(std::min(notices_max, rows_max));
  db::Batch statements;
  statements.push_back(db::Statement("select first, records from workflow_notices"
                                     " where last >= $1 order by last limit $2",
                                     first, rows_wanted)
                           .about("workflow_notices"));
  // After them: what is removed meanwhile is not taken for what never was.
  statements.emplace_back(removed_text);
  WEIR_CO_TRY(results, co_await context->pool.execute(std::move(statements)));
  WEIR_CO_TRY(removed, results[1][0].get<std::uint64_t>(0));
  if (from <= removed && from > 0) {
    co_return workflow::internal::notices_removed(from, removed + 1);
  }
  NumberedNotices found;
  for (const db::Row row : results[0]) {
    WEIR_CO_TRY(number, row.get<std::uint64_t>(0));
    WEIR_CO_TRY(notices, value_in<std::vector<Notice>>(row, "records"));
    for (Notice& notice : notices) {
      if (number >= from && found.size() < notices_max) {
        found.emplace_back(number, std::move(notice));
      }
      ++number;
    }
  }
  co_return found;
}

Task<Result<std::uint64_t>> read_first_notice(std::shared_ptr<const Context> context) {
  WEIR_CO_TRY(rows, co_await context->pool.execute(db::Statement(removed_text)));
  WEIR_CO_TRY(removed, rows[0].get<std::uint64_t>(0));
  co_return removed + 1;
}

Task<Result<std::uint64_t>> remove_notices(std::shared_ptr<const Context> context,
                                           std::uint64_t last, Duration keep) {
  std::optional<Time> time;
  if (context->clock) time = context->clock();
  const auto limit = static_cast<std::int64_t>(
      std::min<std::uint64_t>(last, std::numeric_limits<std::int64_t>::max()));
  WEIR_CO_TRY(rows,
              co_await context->pool.execute(
                  db::Statement(remove_text, limit, time,
                                std::chrono::duration_cast<std::chrono::microseconds>(keep).count(),
                                static_cast<std::int64_t>(context->options.retention.removals_max))
                      .about("workflow_notices")));
  if (rows.is_empty()) co_return 0;
  co_return rows[0].get<std::uint64_t>(0);
}

}  // namespace weir::flow::workflow::postgres::internal
