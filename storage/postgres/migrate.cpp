#include <weir/storage/postgres/migrate.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <weir/runtime/try.hpp>

namespace weir::storage::postgres {
namespace {

/// All that the steps need. The options and migrations outlive them.
struct Plan {
  const MigrateOptions* options;
  const std::vector<Migration>* migrations;
};

bool is_table_name(std::string_view name) {
  std::size_t part = 0;  // how long it is so far
  for (const char letter : name) {
    if (letter == '.' && part > 0) {
      part = 0;
      continue;
    }
    const bool is_letter = (letter >= 'a' && letter <= 'z') || letter == '_';
    const bool is_digit = letter >= '0' && letter <= '9';
    if (!is_letter && (!is_digit || part == 0)) return false;
    ++part;
  }
  return part > 0 && std::count(name.begin(), name.end(), '.') <= 1;
}

std::string title(const Plan& plan, std::int64_t number) {
  const auto at = static_cast<std::size_t>(number - 1);
  return "migration " + std::to_string(number) + " (" + (*plan.migrations)[at].name + ")";
}

/// What was applied must be what the program knows, from the first on.
Result<std::int64_t> check_applied(const Plan& plan, const Rows& applied, const Rows& checksums) {
  std::int64_t expected = 0;
  for (const Row row : applied) {
    const auto found = row.as<std::int64_t, std::string, std::string>();
    if (!found) return found.error();
    const auto& [number, name, checksum] = *found;
    if (number != ++expected) return row.corrupt("number", std::to_string(expected) + " expected");
    if (expected > static_cast<std::int64_t>(plan.migrations->size())) {
      return Error(Errc::schema_too_new, plan.options->table + ": migration " +
                                             std::to_string(number) + " (" + name +
                                             ") was applied, this program knows " +
                                             std::to_string(plan.migrations->size()));
    }
    const auto known = checksums[static_cast<std::size_t>(expected - 1)].get<std::string>(0);
    if (!known) return known.error();
    if (*known == checksum) continue;
    std::string problem = title(plan, number);
    problem.append(" was applied as \"").append(name).append("\" with checksum ").append(checksum);
    return Error(Errc::migration_changed, problem.append(", and is ").append(*known));
  }
  return expected;
}

Task<Result<std::int64_t>> read_applied(Transaction transaction, Plan plan) {
  const std::string& table = plan.options->table;
  const Duration timeout = plan.options->timeout;
  WEIR_CO_TRY_VOID(co_await transaction.execute(
      Statement("select pg_advisory_xact_lock(hashtextextended($1, 0))", table), timeout));
  WEIR_CO_TRY(known, co_await transaction.execute(
                         Statement("select to_regclass($1) is not null", table), timeout));
  WEIR_CO_TRY(exists, known[0].get<bool>(0));
  if (!exists) {
    WEIR_CO_TRY_VOID(co_await transaction.run_script(
        "create table " + table +
            " (number int8 primary key, name text not null, checksum text not null,"
            " applied_at timestamptz not null default now())",
        timeout));
  }
  std::vector<Bytes> scripts;
  for (const Migration& migration : *plan.migrations) scripts.push_back({migration.script});
  Batch reading;
  reading.push_back(
      Statement("select number, name, checksum from " + table + " order by number").about(table));
  reading.emplace_back(
      "select encode(sha256(script), 'hex') from unnest($1::bytea[]) with ordinality"
      " as scripts (script, number) order by number",
      scripts);
  WEIR_CO_TRY(results, co_await transaction.execute(std::move(reading), timeout));
  co_return check_applied(plan, results[0], results[1]);
}

Task<Result<std::int64_t>> transaction_id(Transaction transaction, Duration timeout) {
  WEIR_CO_TRY(rows, co_await transaction.execute(
                        Statement("select pg_current_xact_id()::text::int8"), timeout));
  co_return rows[0].get<std::int64_t>(0);
}

Task<Result<>> apply(Transaction transaction, Plan plan, std::int64_t number) {
  const Migration& migration = (*plan.migrations)[static_cast<std::size_t>(number - 1)];
  const Duration timeout = plan.options->timeout;
  WEIR_CO_TRY(before, co_await transaction_id(transaction, timeout));
  auto done = co_await transaction.run_script(migration.script, timeout);
  if (!done) {
    co_return Error(done.error().code(), title(plan, number) + ": " + done.error().detail());
  }
  WEIR_CO_TRY(after, co_await transaction_id(transaction, timeout));
  if (before != after) {
    co_return Error(Errc::rejected, title(plan, number) + " ended the transaction it is in");
  }
  WEIR_CO_TRY_VOID(co_await transaction.execute(
      Statement("insert into " + plan.options->table +
                    " (number, name, checksum) values ($1, $2, encode(sha256($3), 'hex'))",
                number, migration.name, Bytes{migration.script}),
      timeout));
  co_return Result<>();
}

/// Applies the next one, if one is left. Gives how many were applied before.
Task<Result<std::int64_t>> step(Transaction transaction, Plan plan) {
  WEIR_CO_TRY(applied, co_await read_applied(transaction, plan));
  if (applied < static_cast<std::int64_t>(plan.migrations->size())) {
    WEIR_CO_TRY_VOID(co_await apply(transaction, plan, applied + 1));
  }
  co_return applied;
}

}  // namespace

Task<Result<Migrated>> migrate(Pool pool, std::vector<Migration> migrations,
                               MigrateOptions options) {
  if (!is_table_name(options.table)) {
    co_return Error(Errc::invalid_argument, "MigrateOptions::table is \"" + options.table + "\"");
  }
  const auto all = static_cast<std::int64_t>(migrations.size());
  std::optional<std::int64_t> from;
  for (;;) {
    const Plan plan{&options, &migrations};
    WEIR_CO_TRY(applied, co_await pool.transaction(Isolation::read_committed, &step, plan));
    if (!from) from = applied;
    // The last step has been committed by whoever took it.
    if (applied + 1 >= all) co_return Migrated{*from, all};
  }
}

}  // namespace weir::storage::postgres
