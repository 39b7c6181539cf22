#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weir/runtime/result.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/postgres/pool.hpp>

namespace weir::storage::postgres {

/// One step of a schema. Once it is applied anywhere it never changes; what is to change is a
/// further step.
struct Migration {
  std::string name;    // what it does, for people
  std::string script;  // any number of statements, which neither begin nor end a transaction
};

struct MigrateOptions {
  /// Where it is noted what was applied: `table` or `schema.table`, lower case.
  std::string table = "weir_migrations";
  /// For each step, with the time to wait for others who do the same.
  Duration timeout = std::chrono::minutes(10);
};

/// The schema before and after: the number of migrations that were applied.
struct Migrated {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// Applies what has not been applied yet of `migrations`, which are numbered from 1 in their order,
/// each in a transaction of its own: one that fails leaves nothing behind, and its error names it.
/// Several processes may do so at once; each step is applied once.
///
/// Refuses a database that is not what the program knows: `migration_changed` with the number and
/// name of the first applied step whose text differs, `schema_too_new` if more steps were applied
/// than there are.
Task<Result<Migrated>> migrate(Pool pool, std::vector<Migration> migrations,
                               MigrateOptions options = {});

}  // namespace weir::storage::postgres
