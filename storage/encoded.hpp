#pragma once

#include <compare>
#include <string>
#include <string_view>

#include <weir/runtime/task.hpp>
#include <weir/storage/key.hpp>
#include <weir/storage/store.hpp>
#include <weir/storage/value.hpp>

namespace weir::storage {

/// A key or a value as it is stored, for who has many kinds of them and reads and writes all of
/// them in the same way. Who uses it encodes with the codec of its type.
struct Encoded {
  /// For `Transaction::put`, which takes the bytes of such keys and values as they are.
  static constexpr bool is_encoded = true;

  std::string bytes = {};

  friend bool operator==(const Encoded&, const Encoded&) = default;
  friend auto operator<=>(const Encoded&, const Encoded&) = default;
};

template <>
struct KeyCodec<Encoded> {
  static void encode(const Encoded& key, std::string& out) { out.append(key.bytes); }
  static bool decode(std::string_view& in, Encoded& key) {
    key.bytes = in;
    in = {};
    return true;
  }
  static std::string signature() { return "encoded"; }
};

template <>
struct ValueCodec<Encoded> {
  static void encode(const Encoded& value, std::string& out) { out.append(value.bytes); }
  static bool decode(std::string_view& in, Encoded& value) {
    value.bytes = in;
    in = {};
    return true;
  }
  static std::string signature() { return "encoded"; }
};

using EncodedState = StateSpace<Encoded, Encoded>;

/// Opens a key space as `Store::open_state` does with the types whose codecs have these signatures:
/// both read what either writes. The store outlives the task.
Task<Result<EncodedState>> open_encoded_state(const Store* store, std::string name,
                                              std::string key_signature,
                                              std::string value_signature);

}  // namespace weir::storage
