#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

namespace weir::storage {

namespace internal {

template <class>
inline constexpr bool is_tie = false;
template <class... Ts>
inline constexpr bool is_tie<std::tuple<Ts&...>> = sizeof...(Ts) > 0;

}  // namespace internal

/// A struct that lists its fields, and so can be part of a row:
///
///     struct OrderKey {
///       std::string customer;
///       std::uint64_t number = 0;
///
///       static auto weir_fields(auto& self) { return std::tie(self.customer, self.number); }
///     };
///
/// It is stored as the tuple of these fields, in this order: their names are not stored, and a
/// tuple of the same types reads the same bytes. One template serves reading and writing, as `self`
/// is an `OrderKey` or a `const OrderKey`. A struct inside a function cannot have it (C++ allows no
/// templates there), nor can a type that contains itself.
template <class T>
concept HasFields = std::is_class_v<T> && requires(T& self, const T& constant) {
  requires internal::is_tie<decltype(T::weir_fields(self))>;
  requires internal::is_tie<decltype(T::weir_fields(constant))>;
};

namespace internal {

template <class... Ts>
struct TypeList {
  static constexpr std::size_t size = sizeof...(Ts);
};

template <class>
struct ComponentTypes;
template <class... Ts>
  requires(sizeof...(Ts) > 0)
struct ComponentTypes<std::tuple<Ts...>> {
  using type = TypeList<Ts...>;
};
template <class First, class Second>
struct ComponentTypes<std::pair<First, Second>> {
  using type = TypeList<First, Second>;
};
template <class>
struct TiedTypes;
template <class... Ts>
struct TiedTypes<std::tuple<Ts&...>> {
  using type = TypeList<Ts...>;
};
template <HasFields T>
struct ComponentTypes<T> : TiedTypes<decltype(T::weir_fields(std::declval<T&>()))> {};

/// The types of a tuple, a pair or a struct with fields, as a `TypeList`.
template <class T>
using Components = typename ComponentTypes<T>::type;

template <class T>
concept Composite = requires { typename Components<T>; };

/// Calls `function` with a reference to each component.
template <class Function, class T>
constexpr decltype(auto) apply_components(Function&& function, T& value) {
  if constexpr (HasFields<std::remove_const_t<T>>) {
    return std::apply(std::forward<Function>(function), std::remove_const_t<T>::weir_fields(value));
  } else {
    return std::apply(std::forward<Function>(function), value);
  }
}

}  // namespace internal
}  // namespace weir::storage
