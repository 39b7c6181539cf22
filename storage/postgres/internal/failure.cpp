#include <weir/storage/postgres/internal/failure.hpp>

#include <libpq-fe.h>

namespace weir::storage::postgres::internal {
namespace {

std::string_view field(const pg_result* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text ? std::string_view(text) : std::string_view();
}

void add_name(std::string& text, std::string_view key, std::string_view name) {
  if (name.empty()) return;
  text.append(", ").append(key).append(" \"");
  for (const char letter : name) text.append(letter == '"' ? 2 : 1, letter);
  text += '"';
}

void add_sentence(std::string& text, std::string_view sentence) {
  if (!sentence.empty()) text.append("; ").append(sentence);
}

}  // namespace

Errc code_of(std::string_view sqlstate) noexcept {
  const std::string_view family = sqlstate.substr(0, 2);
  if (sqlstate.empty() || family == "08" || family == "53") return Errc::unavailable;
  if (sqlstate == "23505") return Errc::conflict;
  if (family == "23") return Errc::constraint;
  if (sqlstate == "40001" || sqlstate == "40P01" || sqlstate == "55P03") return Errc::contention;
  if (sqlstate == "57014") return Errc::timed_out;
  // The server is being stopped or started, or it ended the session.
  if (sqlstate.substr(0, 4) == "57P0" || sqlstate == "25P03") return Errc::unavailable;
  if (sqlstate == "XX001" || sqlstate == "XX002") return Errc::corruption;
  return Errc::rejected;
}

Error failure_of(const pg_result* result, std::string_view what) {
  const std::string_view sqlstate = field(result, PG_DIAG_SQLSTATE);
  std::string text = what.empty() ? std::string() : std::string(what) + ": ";
  if (sqlstate.empty()) {
    text += trimmed(PQresultErrorMessage(result));
    return Error(Errc::unavailable, std::move(text));
  }
  text += field(result, PG_DIAG_MESSAGE_PRIMARY);
  add_sentence(text, field(result, PG_DIAG_MESSAGE_DETAIL));
  add_sentence(text, field(result, PG_DIAG_MESSAGE_HINT));
  if (const auto position = field(result, PG_DIAG_STATEMENT_POSITION); !position.empty()) {
    add_sentence(text, "at character " + std::string(position));
  }
  text.append(" ").append(facts_mark).append(sqlstate);
  add_name(text, "table", field(result, PG_DIAG_TABLE_NAME));
  add_name(text, "column", field(result, PG_DIAG_COLUMN_NAME));
  add_name(text, "constraint", field(result, PG_DIAG_CONSTRAINT_NAME));
  text += ']';
  return Error(code_of(sqlstate), std::move(text));
}

std::string trimmed(std::string_view message) {
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) {
    message.remove_suffix(1);
  }
  std::string line(message);
  for (char& letter : line) {
    if (letter == '\n') letter = ' ';
  }
  return line;
}

}  // namespace weir::storage::postgres::internal
