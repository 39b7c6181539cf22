#include <weir/flow/view/internal/row_format.hpp>

#include <algorithm>

#include <weir/flow/view/errc.hpp>
#include <weir/storage/value.hpp>

namespace weir::flow::view::internal {
namespace {

using Varint = storage::ValueCodec<std::uint64_t>;

}  // namespace

Result<RowFormat> RowFormat::make(const RelationEntry& entry) {
  if (entry.layouts.empty()) return Error(Errc::corruption, "catalog: '" + entry.name + "'");
  RowFormat format;
  for (std::size_t layout = 0; layout < entry.layouts.size(); ++layout) {
    auto schema = schema_of(entry, layout);
    if (!schema) return std::move(schema).error();
    format.codecs_.emplace_back(*std::move(schema));
    if (layout + 1 == entry.layouts.size()) break;
    const auto& older = entry.layouts[layout];
    std::vector<Source> sources;
    for (const ColumnEntry& column : entry.layouts.back()) {
      const auto at = std::ranges::find(older, column.id, &ColumnEntry::id);
      Source source{.column = std::nullopt, .fill = column.fill.value_or("")};
      if (at != older.end()) source.column = static_cast<std::size_t>(at - older.begin());
      sources.push_back(std::move(source));
    }
    format.sources_.push_back(std::move(sources));
  }
  return format;
}

void RowFormat::encode_value(const data::Columns& columns, std::size_t row, data::Weight weight,
                             std::string& out) const {
  Varint::encode(codecs_.size() - 1, out);
  if (!has_key()) Varint::encode(static_cast<std::uint64_t>(weight), out);
  codecs_.back().encode_value(columns, row, out);
}

Result<> RowFormat::decode(std::string_view key, std::string_view value, data::Weight sign,
                           data::BatchBuilder& out) const {
  std::uint64_t layout = 0;
  std::uint64_t weight = 1;
  const bool is_whole = Varint::decode(value, layout) && layout < codecs_.size() &&
                        (has_key() || Varint::decode(value, weight));
  if (!is_whole) return Error(Errc::corruption, "a row");
  const data::Weight signed_weight = sign * static_cast<data::Weight>(weight);
  if (layout + 1 == codecs_.size()) return codecs_.back().decode(key, value, signed_weight, out);
  return decode_older(layout, key, value, signed_weight, out);
}

Result<> RowFormat::decode_older(std::size_t layout, std::string_view key, std::string_view value,
                                 data::Weight weight, data::BatchBuilder& out) const {
  data::BatchBuilder builder(codecs_[layout].schema());
  if (auto decoded = codecs_[layout].decode(key, value, weight, builder); !decoded) return decoded;
  const data::ChangeBatch row = builder.finish();
  for (std::size_t index = 0; index < schema()->size(); ++index) {
    const Source& source = sources_[layout][index];
    std::string_view fill = source.fill;
    if (source.column) {
      out.column(index).append_from(row.column(*source.column), 0);
    } else if (fill.empty()) {
      out.column(index).append_null();
    } else if (!data::take_ordered(fill, out.column(index))) {
      return Error(Errc::corruption, "what stands for '" + (*schema())[index].name + "'");
    }
  }
  out.add_weight(weight);
  return {};
}

}  // namespace weir::flow::view::internal
