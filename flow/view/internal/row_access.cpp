#include <weir/flow/view/internal/row_access.hpp>

#include <weir/flow/view/errc.hpp>

namespace weir::flow::view::internal {
namespace {

Error about(const RelationInfo& relation, const Error& error) {
  return Error(error.code(), "'" + relation.entry.name + "': " + error.detail());
}

}  // namespace

Result<data::ChangeBatch> make_row(const RelationInfo& relation,
                                   const std::vector<data::Value>& row) {
  data::BatchBuilder builder(relation.format.schema());
  if (auto added = builder.add(row); !added) return about(relation, added.error());
  return builder.finish();
}

Result<EncodedKey> make_key(const RelationInfo& relation, const std::vector<data::Value>& key) {
  const data::Schema& schema = *relation.format.schema();
  const auto columns = schema.primary_key();
  if (columns.empty())
    return Error(Errc::invalid_argument, "'" + relation.entry.name + "' has no primary key");
  if (key.size() != columns.size()) {
    return Error(Errc::invalid_argument, "'" + relation.entry.name + "': its primary key has " +
                                             std::to_string(columns.size()) + " values, not " +
                                             std::to_string(key.size()));
  }
  EncodedKey encoded;
  for (std::size_t index = 0; index < key.size(); ++index) {
    const data::Field& field = schema[columns[index]];
    if (key[index].type() != field.type) {
      return Error(Errc::invalid_argument, "'" + relation.entry.name + "': '" + field.name +
                                               "' is " + to_string(field.type) + ", not " +
                                               to_string(key[index]));
    }
    data::Column column(field.type);
    column.append(key[index]);
    data::append_ordered(column, 0, encoded.bytes);
  }
  return encoded;
}

Result<std::vector<data::Value>> decode_row(const RelationInfo& relation, const EncodedKey& key,
                                            const EncodedValue& value) {
  data::BatchBuilder builder(relation.format.schema());
  if (auto decoded = relation.format.decode(key.bytes, value.bytes, 1, builder); !decoded)
    return about(relation, decoded.error());
  return builder.finish().row(0);
}

std::string describe_key(const RelationInfo& relation, const data::ChangeBatch& batch,
                         std::size_t row) {
  std::string text;
  for (const std::size_t index : relation.format.schema()->primary_key())
    text += (text.empty() ? "" : ", ") + to_string(batch.column(index).value(row));
  return "'" + relation.entry.name + "': (" + text + ")";
}

}  // namespace weir::flow::view::internal
