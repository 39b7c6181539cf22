#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/data/change_batch.hpp>
#include <weir/flow/data/row_codec.hpp>
#include <weir/flow/operator/errc.hpp>
#include <weir/runtime/result.hpp>

// Persisted, as the keys and values of state tables: never change. docs/storage_format.md has the
// bytes.
namespace weir::flow::operators::internal {

/// The values of some columns of a row, one behind the other, in an order: nulls first.
inline void append_columns(const data::Columns& columns, std::span<const std::size_t> which,
                           std::size_t row, std::string& out) {
  for (const std::size_t index : which) data::append_ordered(*columns[index], row, out);
}
inline void append_columns(std::span<const data::ColumnRef> columns, std::size_t row,
                           std::string& out) {
  for (const data::ColumnRef& column : columns) data::append_ordered(*column, row, out);
}

/// Takes a value for each column of the builder. False if there is something else.
inline bool take_row(std::string_view& in, std::size_t columns, data::BatchBuilder& out) {
  for (std::size_t index = 0; index < columns; ++index)
    if (!data::take_ordered(in, out.column(index))) return false;
  return true;
}

/// A weight that is not negative: seven bits a byte, the lowest first, the eighth says that there
/// are more.
inline void append_weight(data::Weight weight, std::string& out) {
  auto rest = static_cast<std::uint64_t>(weight);
  for (; rest >= 0x80; rest >>= 7) out.push_back(static_cast<char>(rest | 0x80));
  out.push_back(static_cast<char>(rest));
}
inline bool take_weight(std::string_view& in, data::Weight& weight) noexcept {
  if (!in.empty() && static_cast<std::uint8_t>(in.front()) < 0x80) {  // as most are
    weight = in.front();
    in.remove_prefix(1);
    return true;
  }
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 63; shift += 7) {
    if (in.empty()) return false;
    const auto byte = static_cast<std::uint8_t>(in.front());
    in.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) {
      weight = static_cast<data::Weight>(value);
      return true;
    }
  }
  return false;
}

/// A value that is nothing but a weight; `corruption` if it is not. None: zero.
inline Result<data::Weight> weight_of(std::string_view value) {
  data::Weight weight = 0;
  if (!value.empty() && (!take_weight(value, weight) || !value.empty()))
    return Error(Errc::corruption, "state: a weight");
  return weight;
}

}  // namespace weir::flow::operators::internal
