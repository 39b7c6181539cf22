#pragma once

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/postgres/options.hpp>
#include <weir/runtime/actor_system.hpp>

namespace weir::flow::workflow::postgres {

/// An engine whose workflows are in a PostgreSQL database (15 or later), which any number of
/// engines in any number of processes share. Makes its tables if they are not there.
///
///     auto engine = co_await postgres::open(&system, {.database = {.connection = "dbname=jobs"}});
///
/// Everything holds that `Engine` says. Time is that of the database. While the database is away,
/// calls wait for it, and get `unavailable` when they have waited long enough; `retry_exhausted`
/// if others were faster again and again. The system outlives the engine.
Task<Result<Engine>> open(ActorSystem* system, Options options);

}  // namespace weir::flow::workflow::postgres
