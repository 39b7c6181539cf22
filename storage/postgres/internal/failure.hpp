#pragma once

#include <string>
#include <string_view>

#include <weir/runtime/error.hpp>
#include <weir/storage/postgres/errc.hpp>

struct pg_result;

namespace weir::storage::postgres::internal {

/// Begins what `diagnose` reads back: `[SQLSTATE 23505, table "t", constraint "c"]`.
inline constexpr std::string_view facts_mark = "[SQLSTATE ";

/// The code for an SQLSTATE; `unavailable` if there is none, as then libpq itself has failed.
Errc code_of(std::string_view sqlstate) noexcept;

/// What a failed result says: `what: message; detail; hint [SQLSTATE ..., ...]`.
Error failure_of(const pg_result* result, std::string_view what);

/// libpq's messages end with a line break.
std::string trimmed(std::string_view message);

}  // namespace weir::storage::postgres::internal
