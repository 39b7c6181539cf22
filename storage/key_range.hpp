#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weir/runtime/check.hpp>
#include <weir/storage/key.hpp>

namespace weir::storage {

/// The smallest bytes that are greater than all that begin with `prefix`; empty if there are none,
/// as for "\xFF\xFF", which a range takes as unbounded.
std::string prefix_end(std::string_view prefix);

/// As the last argument of `KeyRange::prefix`: every text that begins with this one.
struct StartingWith {
  std::string_view text;
};

namespace internal {

template <class Part, class Component>
concept IsPartOf =
    std::same_as<Part, Component> ||
    (std::same_as<Component, std::string> && std::convertible_to<Part, std::string_view>) ||
    (Integer<Component> && Integer<Part>);

template <class Component, class Part>
void append_part(const Part& part, std::string& out) {
  if constexpr (std::same_as<Part, StartingWith>) {
    append_escaped_prefix(part.text, out);
  } else if constexpr (Integer<Component>) {
    check(std::in_range<Component>(part), "KeyRange::prefix: a number outside of the key's type");
    KeyCodec<Component>::encode(static_cast<Component>(part), out);
  } else {
    KeyCodec<Component>::encode(part, out);
  }
}

/// Whether `Parts` are, in order, some of the first of `Components`.
template <class Components, class... Parts>
struct IsLeading : std::bool_constant<sizeof...(Parts) == 0> {};
template <class Component, class... Components, class Part, class... Parts>
struct IsLeading<TypeList<Component, Components...>, Part, Parts...>
    : std::bool_constant<std::same_as<Part, StartingWith>
                             ? std::same_as<Component, std::string> && sizeof...(Parts) == 0
                             : IsPartOf<Part, Component> &&
                                   IsLeading<TypeList<Components...>, Parts...>::value> {};

template <class Component, class... Components, class Part, class... Parts>
void append_parts(TypeList<Component, Components...>, std::string& out, const Part& part,
                  const Parts&... parts) {
  append_part<Component>(part, out);
  if constexpr (sizeof...(Parts) > 0) append_parts(TypeList<Components...>(), out, parts...);
}

/// The components of a key, itself if it has none.
template <class K>
struct LeadingTypes {
  using type = TypeList<K>;
};
template <Composite K>
struct LeadingTypes<K> {
  using type = Components<K>;
};

}  // namespace internal

/// Keys from one, included, until another, not included, as bytes that a store can seek to.
///
/// It is empty if its end is not after its beginning.
template <class K>
class KeyRange {
 public:
  static KeyRange all() { return {}; }
  static KeyRange from(const K& first) { return {encode_key(first), {}}; }
  static KeyRange until(const K& end) { return {{}, encode_key(end)}; }
  static KeyRange between(const K& from, const K& until) {
    return {encode_key(from), encode_key(until)};
  }

  /// The keys whose first components are these: for `std::tuple<Tenant, Day, Number>` that is
  /// `prefix(tenant)` or `prefix(tenant, day)`. Text may be given as any kind of string, integers
  /// as any that the component's type holds, and the last one as `StartingWith`.
  template <class... Parts>
  static KeyRange prefix(const Parts&... parts) {
    static_assert(internal::IsLeading<Leading, std::decay_t<const Parts>...>::value,
                  "weir: KeyRange::prefix takes the first components of the key, in their order "
                  "and of their types");
    std::string begin;
    if constexpr (sizeof...(Parts) > 0 &&
                  internal::IsLeading<Leading, std::decay_t<const Parts>...>::value) {
      internal::append_parts(Leading(), begin, parts...);
    }
    std::string end = prefix_end(begin);
    return {std::move(begin), std::move(end)};
  }

  /// The bytes of the first key, or those before it; empty from the first of all keys on.
  const std::string& begin() const noexcept { return begin_; }
  /// The bytes after the last key; empty if it is the last of all keys.
  const std::string& end() const noexcept { return end_; }

  bool is_empty() const noexcept { return !end_.empty() && end_ <= begin_; }
  /// Whether the key that has these bytes, with or without others after them, is in the range.
  bool contains(std::string_view bytes) const noexcept {
    return bytes >= begin_ && (end_.empty() || bytes < end_);
  }

  friend bool operator==(const KeyRange&, const KeyRange&) = default;

 private:
  using Leading = typename internal::LeadingTypes<K>::type;

  KeyRange() = default;
  KeyRange(std::string begin, std::string end) : begin_(std::move(begin)), end_(std::move(end)) {}

  std::string begin_;
  std::string end_;
};

}  // namespace weir::storage
