#include <weir/flow/view/internal/row_access.hpp>

#include <algorithm>

#include <weir/flow/view/errc.hpp>

namespace weir::flow::view::internal {
namespace {

Error about(const RelationInfo& relation, const Error& error) {
  return Error(error.code(), "'" + relation.entry.name + "': " + error.detail());
}

/// The bytes that keys with these values begin with: some of the first of the primary key.
Result<EncodedKey> encode_first(const RelationInfo& relation,
                                const std::vector<data::Value>& values) {
  const data::Schema& schema = *relation.format.schema();
  EncodedKey encoded;
  for (std::size_t index = 0; index < values.size(); ++index) {
    const data::Field& field = schema[schema.primary_key()[index]];
    if (values[index].type() != field.type) {
      return Error(Errc::invalid_argument, "'" + relation.entry.name + "': '" + field.name +
                                               "' is " + to_string(field.type) + ", not " +
                                               to_string(values[index]));
    }
    data::Column column(field.type);
    column.append(values[index]);
    data::append_ordered(column, 0, encoded.bytes);
  }
  return encoded;
}

}  // namespace

Result<data::ChangeBatch> make_row(const RelationInfo& relation,
                                   const std::vector<data::Value>& row) {
  data::BatchBuilder builder(relation.format.schema());
  if (auto added = builder.add(row); !added) return about(relation, added.error());
  return builder.finish();
}

Result<EncodedKey> make_key(const RelationInfo& relation, const std::vector<data::Value>& key) {
  const auto columns = relation.format.schema()->primary_key();
  if (columns.empty())
    return Error(Errc::invalid_argument, "'" + relation.entry.name + "' has no primary key");
  if (key.size() != columns.size()) {
    return Error(Errc::invalid_argument, "'" + relation.entry.name + "': its primary key has " +
                                             std::to_string(columns.size()) + " values, not " +
                                             std::to_string(key.size()));
  }
  return encode_first(relation, key);
}

Result<storage::KeyRange<EncodedKey>> make_range(const RelationInfo& relation,
                                                 const RowRange& range) {
  const std::size_t columns = relation.format.schema()->primary_key().size();
  if (columns == 0)
    return Error(Errc::invalid_argument, "'" + relation.entry.name + "' has no primary key");
  if (const std::size_t most = std::max(range.from.size(), range.until.size()); most > columns) {
    return Error(Errc::invalid_argument, "'" + relation.entry.name + "': its primary key has " +
                                             std::to_string(columns) + " values, not " +
                                             std::to_string(most));
  }
  auto from = encode_first(relation, range.from);
  if (!from) return std::move(from).error();
  auto until = encode_first(relation, range.until);
  if (!until) return std::move(until).error();
  if (range.is_until_included) until->bytes = storage::prefix_end(until->bytes);
  return storage::KeyRange<EncodedKey>::between(*from, *until);
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
