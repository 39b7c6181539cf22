#include <weir/storage/postgres/rows.hpp>

#include <cstdlib>

#include <libpq-fe.h>

#include <weir/storage/postgres/errc.hpp>

namespace weir::storage::postgres {

Rows::Rows(pg_result* result, std::string subject)
    : result_(result, &PQclear),
      subject_(std::make_shared<const std::string>(std::move(subject))),
      size_(static_cast<std::size_t>(PQntuples(result))),
      columns_(static_cast<std::size_t>(PQnfields(result))) {}

std::string_view Rows::column_name(std::size_t column) const {
  const char* name = PQfname(result_.get(), static_cast<int>(column));
  return name ? name : "";
}

std::uint64_t Rows::affected() const {
  return result_ ? std::strtoull(PQcmdTuples(result_.get()), nullptr, 10) : 0;
}

std::string_view Rows::command() const { return result_ ? PQcmdStatus(result_.get()) : ""; }

internal::Encoded Rows::value(std::size_t row, std::size_t column) const {
  const int r = static_cast<int>(row);
  const int c = static_cast<int>(column);
  internal::Encoded encoded;
  encoded.type = static_cast<internal::Type>(PQftype(result_.get(), c));
  if (PQgetisnull(result_.get(), r, c)) return encoded;
  encoded.bytes.emplace(PQgetvalue(result_.get(), r, c),
                        static_cast<std::size_t>(PQgetlength(result_.get(), r, c)));
  return encoded;
}

std::optional<std::size_t> Rows::find_column(std::string_view name) const {
  for (std::size_t column = 0; column < columns_; ++column) {
    if (column_name(column) == name) return column;
  }
  return std::nullopt;
}

Error Rows::corrupt(std::size_t row, std::size_t column, std::string_view problem) const {
  std::string place = subject_ ? *subject_ : "";
  if (place.empty()) {
    const Oid table = PQftable(result_.get(), static_cast<int>(column));
    place = table == InvalidOid ? "result" : "table " + std::to_string(table);
  }
  place.append(".").append(column_name(column)).append(": row ").append(std::to_string(row));
  return Error(Errc::corruption, place.append(": ").append(problem));
}

Error Rows::unreadable(std::size_t row, std::size_t column, std::string_view wanted) const {
  const internal::Encoded found = value(row, column);
  const std::string is = found.bytes ? internal::name_of(found.type) : "null";
  return corrupt(row, column, is + " cannot be read as " + std::string(wanted));
}

Error Rows::no_column(std::string_view name) const {
  std::string names;
  for (std::size_t column = 0; column < columns_; ++column) {
    names.append(names.empty() ? "" : ", ").append(column_name(column));
  }
  const std::string place = subject_ && !subject_->empty() ? *subject_ : "result";
  return Error(Errc::corruption,
               place + ": asked for " + std::string(name) + ", the columns are: " + names);
}

}  // namespace weir::storage::postgres
