#include <weir/storage/postgres/errc.hpp>

#include <string_view>

#include <weir/storage/postgres/internal/failure.hpp>

namespace weir::storage::postgres {
namespace {

class PostgresCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weir.storage.postgres"; }

  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::conflict: return "such a row exists already";
      case Errc::constraint: return "a constraint is violated";
      case Errc::contention: return "others were in the way";
      case Errc::retry_exhausted: return "others were in the way too often";
      case Errc::unavailable: return "database unavailable";
      case Errc::timed_out: return "the database did not answer in time";
      case Errc::rejected: return "the database refused the statement";
      case Errc::corruption: return "corruption";
      case Errc::overloaded: return "too many calls wait for the database";
      case Errc::closed: return "pool closed";
      case Errc::invalid_argument: return "invalid argument";
      case Errc::migration_changed: return "an applied migration was changed";
      case Errc::schema_too_new: return "the schema is newer than this program";
    }
    return "unknown error of the database";
  }
};

/// The name after `key` in `[SQLSTATE 23505, table "t", constraint "c"]`; quotes in it are doubled.
std::string quoted_after(std::string_view facts, std::string_view key) {
  const std::string mark = ", " + std::string(key) + " \"";
  const auto found = facts.find(mark);
  if (found == std::string_view::npos) return {};
  std::string name;
  for (auto at = found + mark.size(); at < facts.size(); ++at) {
    if (facts[at] == '"') {
      if (at + 1 >= facts.size() || facts[at + 1] != '"') break;
      ++at;
    }
    name += facts[at];
  }
  return name;
}

}  // namespace

const std::error_category& postgres_category() noexcept {
  static const PostgresCategory category;
  return category;
}

Diagnosis diagnose(const Error& error) {
  const std::string_view detail = error.detail();
  const auto found = detail.rfind(internal::facts_mark);
  if (error.code().category() != postgres_category() || found == std::string_view::npos) return {};
  const std::string_view facts = detail.substr(found + internal::facts_mark.size());
  return {std::string(facts.substr(0, 5)), quoted_after(facts, "table"),
          quoted_after(facts, "column"), quoted_after(facts, "constraint")};
}

}  // namespace weir::storage::postgres
