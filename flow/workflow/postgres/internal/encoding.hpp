#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <weir/runtime/result.hpp>
#include <weir/storage/key.hpp>
#include <weir/storage/postgres/rows.hpp>
#include <weir/storage/value.hpp>

// Keys and records as bytes, the same that the embedded store has: keys are in order.
namespace weir::flow::workflow::postgres::internal {

template <class K>
storage::postgres::Bytes encode_key(const K& key) {
  storage::postgres::Bytes bytes;
  storage::KeyCodec<K>::encode(key, bytes.value);
  return bytes;
}

template <class V>
storage::postgres::Bytes encode_value(const V& value) {
  storage::postgres::Bytes bytes;
  storage::ValueCodec<V>::encode(value, bytes.value);
  return bytes;
}

/// The key in a column; `corruption` with table and column if it is none.
template <class K>
Result<K> key_in(const storage::postgres::Row& row, std::string_view column = "key") {
  auto bytes = row.get<storage::postgres::Bytes>(column);
  if (!bytes) return bytes.error();
  std::string_view rest = bytes->value;
  K key{};
  if (!storage::KeyCodec<K>::decode(rest, key) || !rest.empty()) {
    return row.corrupt(column, "not a key");
  }
  return key;
}

template <class V>
Result<V> value_in(const storage::postgres::Row& row, std::string_view column = "record") {
  auto bytes = row.get<storage::postgres::Bytes>(column);
  if (!bytes) return bytes.error();
  std::string_view rest = bytes->value;
  V value{};
  if (!storage::ValueCodec<V>::decode(rest, value) || !rest.empty()) {
    return row.corrupt(column, "not a record of this table");
  }
  return value;
}

}  // namespace weir::flow::workflow::postgres::internal
