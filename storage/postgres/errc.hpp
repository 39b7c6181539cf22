#pragma once

#include <string>
#include <system_error>

#include <weir/runtime/error.hpp>

namespace weir::storage::postgres {

/// Why an operation on a PostgreSQL server did not succeed.
enum class Errc : int {
  conflict = 1,       // a unique constraint: such a row is there already (23505)
  constraint,         // another constraint is violated (23xxx)
  contention,         // others were in the way and nothing was done; retry (40001, 40P01, 55P03)
  retry_exhausted,    // contention again and again; the detail holds the last cause
  unavailable,        // no connection, or it was lost, or the server has no room (08, 53, 57P0x)
  timed_out,          // no answer in time, or the server ended the statement (57014)
  rejected,           // the server refused the statement; the detail says why
  corruption,         // a value is not what its column should hold
  overloaded,         // too many calls wait already
  closed,             // the pool has been closed
  invalid_argument,   // a value outside its range
  migration_changed,  // an applied migration is not what this program knows
  schema_too_new,     // the database was migrated by a newer program
};

const std::error_category& postgres_category() noexcept;

inline std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), postgres_category()};
}

/// What the server said of an error. Empty where it said nothing.
struct Diagnosis {
  std::string sqlstate;  // five characters: `23505`
  std::string table;
  std::string column;
  std::string constraint;
};

/// Reads it back from the detail of an error of this module, also where that became the cause of
/// `retry_exhausted`:
///
///     if (error == Errc::conflict && diagnose(error).constraint == "executions_key") ...
Diagnosis diagnose(const Error& error);

}  // namespace weir::storage::postgres

template <>
struct std::is_error_code_enum<weir::storage::postgres::Errc> : std::true_type {};
