#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/plain_struct.hpp>
#include <weir/runtime/result.hpp>
#include <weir/storage/value.hpp>

// Persisted: never change an encoding in this file.
namespace weir::flow::workflow {

/// How what is passed to steps and comes from them becomes bytes: as the values of a store do.
///
/// Besides those: structs of at most 16 public fields without base classes, of which nothing needs
/// to be said, and vectors and optionals of such. Fields are written one after the other, and their
/// names are not: what is in a journal can only be read by a struct that has fields of the same
/// types in the same order.
///
///     struct Order {
///       std::string item;
///       std::int64_t cents = 0;
///     };
template <class T>
struct PayloadCodec {
  static_assert(storage::Value<T>,
                "weir: this cannot be passed to a step: use a struct of at most 16 public fields "
                "that can, or list its fields with weir_fields");
  static void encode(const T& value, std::string& out) {
    storage::ValueCodec<T>::encode(value, out);
  }
  static bool decode(std::string_view& in, T& value) {
    return storage::ValueCodec<T>::decode(in, value);
  }
};

template <class T>
  requires(internal::PlainStruct<T> && !storage::Value<T>)
struct PayloadCodec<T> {
  static void encode(const T& value, std::string& out) {
    internal::apply_fields(
        [&]<class... Ts>(const Ts&... fields) { (PayloadCodec<Ts>::encode(fields, out), ...); },
        value);
  }
  static bool decode(std::string_view& in, T& value) {
    return internal::apply_fields(
        [&]<class... Ts>(Ts&... fields) { return (PayloadCodec<Ts>::decode(in, fields) && ...); },
        value);
  }
};

template <class T>
  requires(!storage::Value<std::vector<T>>)
struct PayloadCodec<std::vector<T>> {
  static void encode(const std::vector<T>& value, std::string& out) {
    storage::ValueCodec<std::uint64_t>::encode(value.size(), out);
    for (const T& item : value) PayloadCodec<T>::encode(item, out);
  }
  static bool decode(std::string_view& in, std::vector<T>& value) {
    std::uint64_t count = 0;
    if (!storage::ValueCodec<std::uint64_t>::decode(in, count)) return false;
    value.clear();
    for (; count > 0; --count) {
      // Every item has a byte at least, so that a wrong count ends here.
      if (!PayloadCodec<T>::decode(in, value.emplace_back())) return false;
    }
    return true;
  }
};

template <class T>
  requires(!storage::Value<std::optional<T>>)
struct PayloadCodec<std::optional<T>> {
  static void encode(const std::optional<T>& value, std::string& out) {
    storage::ValueCodec<bool>::encode(value.has_value(), out);
    if (value) PayloadCodec<T>::encode(*value, out);
  }
  static bool decode(std::string_view& in, std::optional<T>& value) {
    bool has_value = false;
    if (!storage::ValueCodec<bool>::decode(in, has_value)) return false;
    value.reset();
    return !has_value || PayloadCodec<T>::decode(in, value.emplace());
  }
};

/// As the payload of an execution, a step or a signal. Text is its own payload.
template <class T>
std::string to_payload(const T& value) {
  std::string bytes;
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    bytes = std::string_view(value);
  } else {
    PayloadCodec<T>::encode(value, bytes);
  }
  return bytes;
}

/// `corruption` if these are not the bytes of a `T`, all of them.
template <class T>
Result<T> from_payload(std::string_view bytes) {
  if constexpr (std::is_same_v<T, std::string>) {
    return std::string(bytes);
  } else {
    Result<T> value;
    std::string_view rest = bytes;
    if (PayloadCodec<T>::decode(rest, *value) && rest.empty()) return value;
    return Error(Errc::corruption, "a payload of " + std::to_string(bytes.size()) +
                                       " bytes is not what is expected here, from byte " +
                                       std::to_string(bytes.size() - rest.size()) + " on");
  }
}

}  // namespace weir::flow::workflow
