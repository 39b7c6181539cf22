#include <weir/flow/view/internal/relation_entry.hpp>

#include <algorithm>
#include <memory>

#include <weir/flow/view/errc.hpp>

namespace weir::flow::view::internal {

const char* to_string(RelationKind kind) noexcept {
  switch (kind) {
    case RelationKind::table: return "a table";
    case RelationKind::view: return "a view";
    case RelationKind::ring_buffer: return "a ring buffer";
    case RelationKind::series: return "a series";
  }
  return "something unknown";
}

RelationEntry make_entry(RelationKind kind, std::string name, const data::Schema& schema) {
  RelationEntry entry{.kind = kind, .name = std::move(name)};
  std::vector<ColumnEntry> columns;
  for (const data::Field& field : schema.fields()) {
    columns.push_back({.id = entry.next_column++,
                       .name = field.name,
                       .kind = static_cast<std::uint8_t>(field.type.kind),
                       .scale = field.type.scale,
                       .is_nullable = field.is_nullable});
  }
  for (const std::size_t index : schema.primary_key()) entry.key.push_back(columns[index].id);
  entry.layouts.push_back(std::move(columns));
  return entry;
}

data::DataType type_of(const ColumnEntry& column) {
  const auto kind = static_cast<data::Kind>(column.kind);
  return kind == data::Kind::decimal ? data::DataType::decimal(column.scale) : data::DataType(kind);
}

Result<data::SchemaRef> schema_of(const RelationEntry& entry, std::size_t layout) {
  std::vector<data::Field> fields;
  for (const ColumnEntry& column : entry.layouts[layout])
    fields.push_back({column.name, type_of(column), column.is_nullable});
  std::vector<std::string> key;
  for (const std::uint32_t id : entry.key) {
    const auto at = std::ranges::find(entry.layouts[layout], id, &ColumnEntry::id);
    if (at == entry.layouts[layout].end())
      return Error(Errc::corruption, "catalog: '" + entry.name + "': its primary key");
    key.push_back(at->name);
  }
  auto schema = data::Schema::make(std::move(fields), key);
  if (!schema)
    return Error(Errc::corruption, "catalog: '" + entry.name + "': " + schema.error().message());
  return std::make_shared<const data::Schema>(*std::move(schema));
}

}  // namespace weir::flow::view::internal
