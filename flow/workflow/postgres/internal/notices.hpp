#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <weir/flow/workflow/postgres/internal/context.hpp>

namespace weir::flow::workflow::postgres::internal {

using NumberedNotices = std::vector<std::pair<std::uint64_t, Notice>>;

/// Numbers what a batch tells, and keeps it in one row. To be the last statement before the commit:
/// the counter is locked until then, so that the numbers have no gaps and nobody sees one before
/// those below it.
storage::postgres::Statement write_notices(const std::vector<Notice>& notices);

/// From a number on, at most so many; none if there are none yet.
Task<Result<NumberedNotices>> read_notices(std::shared_ptr<const Context> context,
                                           std::uint64_t from, std::size_t notices_max);
/// Of the first that has not been removed.
Task<Result<std::uint64_t>> read_first_notice(std::shared_ptr<const Context> context);
/// Removes some of those up to the number `last` that were told so long ago. Gives how many.
Task<Result<std::uint64_t>> remove_notices(std::shared_ptr<const Context> context,
                                           std::uint64_t last, Duration keep);

}  // namespace weir::flow::workflow::postgres::internal
