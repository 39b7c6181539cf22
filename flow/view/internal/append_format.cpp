#include <weir/flow/view/internal/append_format.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include <weir/flow/data/row_codec.hpp>
#include <weir/flow/view/errc.hpp>

namespace weir::flow::view::internal {

Result<std::optional<AppendFormat>> AppendFormat::make(const RelationEntry& entry) {
  if (!is_appended(entry.kind)) return std::optional<AppendFormat>();
  const auto& columns = entry.layouts.back();
  // Of a series the key is before it.
  const auto at = entry.key.empty()
                      ? columns.end()
                      : std::ranges::find(columns, entry.key.back(), &ColumnEntry::id);
  if (at == columns.end())
    return Error(Errc::corruption, "catalog: '" + entry.name + "': its primary key");
  const auto number_column = static_cast<std::size_t>(at - columns.begin());
  auto all = schema_of(entry, entry.layouts.size() - 1);
  if (!all) return std::move(all).error();
  std::vector<data::Field> fields = (*all)->fields();
  fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(number_column));
  auto schema = data::Schema::make(std::move(fields));
  if (!schema)
    return Error(Errc::corruption, "catalog: '" + entry.name + "': " + schema.error().message());
  return std::optional(
      AppendFormat{.schema = std::make_shared<const data::Schema>(*std::move(schema)),
                   .number_column = number_column});
}

data::Columns AppendFormat::with_numbers(const data::ChangeBatch& rows, std::uint64_t first) const {
  auto numbers = std::make_shared<data::Column>(data::Kind::uint64);
  const auto all = numbers->resize<std::uint64_t>(rows.size());
  std::iota(all.begin(), all.end(), first);
  data::Columns columns = rows.columns();
  columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(number_column), std::move(numbers));
  return columns;
}

EncodedKey position_key(std::uint64_t position) {
  data::Column column(data::Kind::uint64);
  column.push(position);
  EncodedKey key;
  data::append_ordered(column, 0, key.bytes);
  return key;
}

}  // namespace weir::flow::view::internal
