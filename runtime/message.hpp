#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

namespace weir {

/// A message: a plain struct that can be moved into a mailbox.
template <class M>
concept Message = std::is_object_v<M> && std::move_constructible<M> && std::destructible<M> &&
                  !std::is_const_v<M> && !std::is_volatile_v<M>;

/// A message that names the type of its answer: `struct Balance { using Reply = std::int64_t; };`
template <class M>
concept Request = Message<M> && requires { typename M::Reply; };

template <Request M>
using ReplyOf = typename M::Reply;

/// The name of `T` as written in the source, for people: logs, introspection, dead letters.
template <class T>
constexpr std::string_view type_name() noexcept {
  // "... [T = bank::Deposit]" with clang, "... [with T = bank::Deposit; ...]" with GCC.
  constexpr std::string_view text = __PRETTY_FUNCTION__;
  constexpr std::size_t begin = text.find("T = ") + 4;
  constexpr std::size_t end = text.find_first_of(";]", begin);
  return text.substr(begin, end - begin);
}

}  // namespace weir
