#pragma once

#include <string>
#include <string_view>

#include <weir/storage/key.hpp>
#include <weir/storage/value.hpp>

namespace weir::flow::view::internal {

/// A key that is bytes already, in order, none beginning with another.
struct EncodedKey {
  std::string bytes;
  friend bool operator==(const EncodedKey&, const EncodedKey&) = default;
};

/// A value that is bytes already, at least one.
struct EncodedValue {
  std::string bytes;
  friend bool operator==(const EncodedValue&, const EncodedValue&) = default;
};

}  // namespace weir::flow::view::internal

template <>
struct weir::storage::KeyCodec<weir::flow::view::internal::EncodedKey> {
  using Key = weir::flow::view::internal::EncodedKey;
  static void encode(const Key& key, std::string& out) { out.append(key.bytes); }
  static bool decode(std::string_view& in, Key& key) {
    key.bytes.assign(in);
    in = {};
    return true;
  }
  static std::string signature() { return "row"; }
};

template <>
struct weir::storage::ValueCodec<weir::flow::view::internal::EncodedValue> {
  using Value = weir::flow::view::internal::EncodedValue;
  static void encode(const Value& value, std::string& out) { out.append(value.bytes); }
  static bool decode(std::string_view& in, Value& value) {
    value.bytes.assign(in);
    in = {};
    return true;
  }
  static std::string signature() { return "row"; }
};
