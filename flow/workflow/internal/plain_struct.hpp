#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weir::flow::workflow::internal {

/// Converts to whatever a field is, in questions that are never answered by running it.
struct AnyField {
  // Some constructors are instantiated for the question alone, and want a definition.
  template <class T>
  operator T&() const& noexcept {
    __builtin_unreachable();
  }
  template <class T>
  operator T&() const&& noexcept {
    __builtin_unreachable();
  }
};

template <class T, std::size_t... Is>
constexpr bool is_made_of(std::index_sequence<Is...>) {
  return requires { T{(static_cast<void>(Is), AnyField{})...}; };
}

inline constexpr std::size_t plain_fields_max = 16;

/// How many fields an aggregate has; zero if there are none or too many.
template <class T, std::size_t Count = plain_fields_max + 1>
constexpr std::size_t count_fields() {
  if constexpr (is_made_of<T>(std::make_index_sequence<Count>())) {
    return Count > plain_fields_max ? 0 : Count;
  } else if constexpr (Count > 1) {
    return count_fields<T, Count - 1>();
  } else {
    return 0;
  }
}

/// A struct of public fields, of which nothing needs to be said: they are found by the compiler.
template <class T>
concept PlainStruct = std::is_class_v<T> && std::is_aggregate_v<T> &&
                      !requires { sizeof(std::tuple_size<T>); } && count_fields<T>() > 0;

/// Calls `function` with a reference to each field, in order.
template <class Function, class T>
constexpr decltype(auto) apply_fields(Function&& function, T& value) {
  constexpr std::size_t count = count_fields<std::remove_const_t<T>>();
  // A pack of structured bindings is of a later C++.
  if constexpr (count == 1) {
    auto& [a] = value;
    return function(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = value;
    return function(a, b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = value;
    return function(a, b, c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = value;
    return function(a, b, c, d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = value;
    return function(a, b, c, d, e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = value;
    return function(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    return function(a, b, c, d, e, f, g);
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, f, g, h] = value;
    return function(a, b, c, d, e, f, g, h);
  } else if constexpr (count == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = value;
    return function(a, b, c, d, e, f, g, h, i);
  } else if constexpr (count == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = value;
    return function(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (count == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = value;
    return function(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (count == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = value;
    return function(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (count == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = value;
    return function(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (count == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = value;
    return function(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (count == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = value;
    return function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = value;
    return function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  }
}

}  // namespace weir::flow::workflow::internal
