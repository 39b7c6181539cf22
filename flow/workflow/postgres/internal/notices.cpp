#include <weir/flow/workflow/postgres/internal/notices.hpp>

#include <algorithm>
#include <limits>

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
    " insert into workflow_notices (last, first, records)"
    " select value, value - $1 + 1, $2 from counted";

}  // namespace

db::Statement write_notices(const std::vector<Notice>& notices) {
  return db::Statement(write_text, static_cast<std::int64_t>(notices.size()), encode_value(notices))
      .about("workflow_notices");
}

Task<Result<NumberedNotices>> read_notices(std::shared_ptr<const Context> context,
                                           std::uint64_t from, std::size_t notices_max) {
  const auto first = static_cast<std::int64_t>(
      std::min<std::uint64_t>(from, std::numeric_limits<std::int64_t>::max()));
  const auto rows_wanted = static_cast<std::int64_t>(std::min(notices_max, rows_max));
  WEIR_CO_TRY(rows, co_await context->pool.execute(
                        db::Statement("select first, records from workflow_notices"
                                      " where last >= $1 order by last limit $2",
                                      first, rows_wanted)
                            .about("workflow_notices")));
  NumberedNotices found;
  for (const db::Row row : rows) {
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

}  // namespace weir::flow::workflow::postgres::internal
