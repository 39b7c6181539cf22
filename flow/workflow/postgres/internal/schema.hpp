#pragma once

#include <cstdint>
#include <vector>

#include <weir/flow/workflow/records.hpp>
#include <weir/runtime/result.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/postgres/migrate.hpp>
#include <weir/storage/postgres/pool.hpp>

namespace weir::flow::workflow::postgres::internal {

/// The steps of the schema.
std::vector<storage::postgres::Migration> migrations();

/// Makes the tables as this program needs them. Gives what tells the database from all others.
Task<Result<std::uint64_t>> prepare_schema(storage::postgres::Pool pool);

}  // namespace weir::flow::workflow::postgres::internal
