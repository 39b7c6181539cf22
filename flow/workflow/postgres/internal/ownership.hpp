#pragma once

#include <cstdint>
#include <map>

#include <weir/flow/workflow/postgres/internal/context.hpp>

namespace weir::flow::workflow::postgres::internal {

/// What an engine knows of the sharing of partitions, at a moment.
struct Ownership {
  std::map<std::uint16_t, std::int64_t> epochs;  // of those that it owns
  Time now;                                      // by the clock of the database
};

/// Says that this engine is there, keeps what it owns, gives up what is more than its share, and
/// takes what nobody has, or whose owner has said nothing for too long. A partition that changes
/// hands gets a higher epoch, so that what its former owner has begun is not committed.
Task<Result<Ownership>> renew_ownership(std::shared_ptr<Context> context);

/// Lets others have what it owns, at once.
Task<Result<>> give_up_ownership(std::shared_ptr<Context> context);

}  // namespace weir::flow::workflow::postgres::internal
