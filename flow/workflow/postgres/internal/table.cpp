#include <weir/flow/workflow/postgres/internal/table.hpp>

namespace weir::flow::workflow::postgres::internal {
namespace {

/// `text[] not null` begins with the type that it is cast to.
std::string type_of(const ColumnText& column) {
  return column.definition.substr(0, column.definition.find(' '));
}

/// `unnest($1::bytea[], ...) as u (key, ...)`.
std::string rows_of(const std::vector<ColumnText>& columns) {
  std::string arrays = "unnest($1::bytea[], $2::bytea[]";
  std::string names = "key, record";
  int number = 2;
  for (const ColumnText& column : columns) {
    arrays += ", $" + std::to_string(++number) + "::" + column.sent_as + "[]";
    names += ", " + column.name;
  }
  return arrays + ") as u (" + names + ")";
}

/// What is assigned to the columns: `text[]` is sent as its literal.
std::string value_of(const ColumnText& column) {
  return "u." + column.name + (type_of(column) == "text[]" ? "::text[]" : "");
}

std::string insert_text(const std::string& table, const std::vector<ColumnText>& columns) {
  std::string names = "key, record";
  std::string values = "u.key, u.record";
  for (const ColumnText& column : columns) {
    names += ", " + column.name;
    values += ", " + value_of(column);
  }
  return "insert into " + table + " (" + names + ") select " + values + " from " +
         rows_of(columns) + " order by u.key";
}

}  // namespace

TableTexts make_texts(std::string table, const std::vector<ColumnText>& columns, bool locks) {
  TableTexts texts;
  std::vector<ColumnText> changing;
  std::string definitions;
  std::string taken = "record = excluded.record";
  std::string assigned = "record = u.record";
  for (const ColumnText& column : columns) {
    if (!column.is_added) definitions += ", " + column.name + " " + column.definition;
    taken += ", " + column.name + " = excluded." + column.name;
    if (column.is_fixed) continue;
    assigned += ", " + column.name + " = " + value_of(column);
    changing.push_back(column);
  }
  texts.create = "create table " + table + " (key bytea primary key" + definitions +
                 ", record bytea not null) with (fillfactor = 80);\n";
  texts.read = "select key, record from " + table + " where key = any($1::bytea[])" +
               (locks ? " order by key for update" : "");
  texts.insert = insert_text(table, columns);
  texts.upsert = texts.insert + " on conflict (key) do update set " + taken;
  texts.update = "update " + table + " t set " + assigned + " from " + rows_of(changing) +
                 " where t.key = u.key";
  texts.remove = "delete from " + table + " where key = any($1::bytea[])";
  texts.name = std::move(table);
  return texts;
}

}  // namespace weir::flow::workflow::postgres::internal
