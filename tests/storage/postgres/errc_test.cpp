#include <weir/storage/postgres/errc.hpp>

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

#include <weir/storage/postgres/internal/failure.hpp>

namespace weir::storage::postgres {
namespace {

TEST(Errc, EverySqlstateHasItsCode) {
  const std::vector<std::pair<std::string_view, Errc>> cases{
      {"23505", Errc::conflict},    {"23503", Errc::constraint},  {"23514", Errc::constraint},
      {"40001", Errc::contention},  {"40P01", Errc::contention},  {"55P03", Errc::contention},
      {"57P01", Errc::unavailable}, {"57P02", Errc::unavailable}, {"57P03", Errc::unavailable},
      {"08006", Errc::unavailable}, {"08P01", Errc::unavailable}, {"53300", Errc::unavailable},
      {"", Errc::unavailable},      {"57014", Errc::timed_out},   {"XX001", Errc::corruption},
      {"42601", Errc::rejected},    {"25P02", Errc::rejected},    {"25P03", Errc::unavailable},
  };
  for (const auto& [sqlstate, code] : cases) {
    EXPECT_EQ(internal::code_of(sqlstate), code) << sqlstate;
  }
}

TEST(Errc, EveryCodeHasAMessageAndIsAnErrorCode) {
  for (int code = 1; code <= static_cast<int>(Errc::schema_too_new); ++code) {
    const std::error_code made = static_cast<Errc>(code);
    EXPECT_NE(made.message(), "unknown error of the database") << code;
  }
  EXPECT_EQ(postgres_category().message(99), "unknown error of the database");
}

TEST(Errc, ADiagnosisIsReadBackFromTheDetail) {
  const Error error(
      Errc::retry_exhausted,
      "3 attempts: jobs: duplicate [SQLSTATE 23505, table \"jobs\", column \"a\"\"b\","
      " constraint \"jobs_pkey\"]");
  const Diagnosis diagnosis = diagnose(error);
  EXPECT_EQ(diagnosis.sqlstate, "23505");
  EXPECT_EQ(diagnosis.table, "jobs");
  EXPECT_EQ(diagnosis.column, "a\"b");
  EXPECT_EQ(diagnosis.constraint, "jobs_pkey");
}

TEST(Errc, AnErrorWithoutFactsHasAnEmptyDiagnosis) {
  EXPECT_EQ(diagnose(Error(Errc::unavailable, "nobody there")).sqlstate, "");
  EXPECT_EQ(diagnose(Error(weir::Errc::failed, "[SQLSTATE 23505]")).sqlstate, "");
}

}  // namespace
}  // namespace weir::storage::postgres
