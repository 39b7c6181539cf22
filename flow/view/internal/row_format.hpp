#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/data/row_codec.hpp>
#include <weir/flow/data/schema.hpp>
#include <weir/flow/view/internal/relation_entry.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::view::internal {

/// Rows of a table or view as the keys and values of a store.
///
///     key     as of `data::RowCodec`
///     value   layout:varint, weight:varint if there is no primary key, then as of `data::RowCodec`
///
/// Rows that were written with an older layout are read with the columns of now.
class RowFormat {
 public:
  static Result<RowFormat> make(const RelationEntry& entry);

  const data::SchemaRef& schema() const noexcept { return codecs_.back().schema(); }
  bool has_key() const noexcept { return !schema()->primary_key().empty(); }

  void encode_key(const data::Columns& columns, std::size_t row, std::string& out) const {
    codecs_.back().encode_key(columns, row, out);
  }
  /// `weight` is how often the row is there; of rows with a primary key it is one.
  void encode_value(const data::Columns& columns, std::size_t row, data::Weight weight,
                    std::string& out) const;
  /// Adds the row to a batch of `schema`, with its weight times `sign`.
  Result<> decode(std::string_view key, std::string_view value, data::Weight sign,
                  data::BatchBuilder& out) const;

 private:
  /// Where a column of now is in an older layout, or what stands for it.
  struct Source {
    std::optional<std::size_t> column;
    std::string fill;  // ordered bytes; none: null
  };

  RowFormat() = default;
  Result<> decode_older(std::size_t layout, std::string_view key, std::string_view value,
                        data::Weight weight, data::BatchBuilder& out) const;

  std::vector<data::RowCodec> codecs_;  // one for each layout
  std::vector<std::vector<Source>>
      sources_;  // for each layout but the last, for each column of now
};

}  // namespace weir::flow::view::internal
