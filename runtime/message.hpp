#pragma once

#include <string_view>
#include <type_traits>

namespace weir {

/// A message: a plain struct that can be moved into a mailbox.
///
/// An expression instead of the standard concepts: they instantiate a dozen templates per message.
template <class M>
concept Message = std::is_same_v<M, std::remove_cvref_t<M>> &&
                  requires(M& message) { M(static_cast<M&&>(message)); };

/// A message that names the type of its answer: `struct Balance { using Reply = std::int64_t; };`
template <class M>
concept Request = Message<M> && requires { typename M::Reply; };

template <Request M>
using ReplyOf = typename M::Reply;

/// A message that matters only to an actor that is still there, and so is no dead letter when it
/// comes too late: `struct Hurry { static constexpr bool is_notice = true; };`
template <class M>
concept Notice = Message<M> && !Request<M> && requires { requires M::is_notice; };

namespace internal {

/// "... [T = bank::Deposit]" with clang, "... [with T = bank::Deposit; ...]" with GCC.
template <class T>
constexpr const char* signature_with() noexcept {
  return __PRETTY_FUNCTION__;
}

constexpr std::string_view type_in(std::string_view signature) noexcept {
  const std::size_t begin = signature.find("T = ") + 4;
  return signature.substr(begin, signature.find_first_of(";]", begin) - begin);
}

}  // namespace internal

/// The name of `T` as written in the source, for people: logs, introspection, dead letters.
template <class T>
constexpr std::string_view type_name() noexcept {
  return internal::type_in(internal::signature_with<T>());
}

}  // namespace weir
