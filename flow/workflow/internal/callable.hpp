#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weir/flow/workflow/payload.hpp>
#include <weir/runtime/result.hpp>
#include <weir/runtime/task.hpp>

// What functions of users take and give, brought to one form.
namespace weir::flow::workflow::internal {

/// The parameters of a function, a lambda or an object that is called.
template <class F>
struct ParametersOf : ParametersOf<decltype(&F::operator())> {};
template <class R, class... Ps>
struct ParametersOf<R (*)(Ps...)> {
  using Types = std::tuple<std::remove_cvref_t<Ps>...>;
};
template <class R, class C, class... Ps>
struct ParametersOf<R (C::*)(Ps...)> : ParametersOf<R (*)(Ps...)> {};
template <class R, class C, class... Ps>
struct ParametersOf<R (C::*)(Ps...) const> : ParametersOf<R (*)(Ps...)> {};
template <class R, class C, class... Ps>
struct ParametersOf<R (C::*)(Ps...) noexcept> : ParametersOf<R (*)(Ps...)> {};
template <class R, class C, class... Ps>
struct ParametersOf<R (C::*)(Ps...) const noexcept> : ParametersOf<R (*)(Ps...)> {};
template <class R, class... Ps>
struct ParametersOf<R (*)(Ps...) noexcept> : ParametersOf<R (*)(Ps...)> {};

template <class F>
using Parameters = typename ParametersOf<std::decay_t<F>>::Types;

/// The value in the end: of `T`, `Result<T>`, `Task<T>` and `Task<Result<T>>` it is `T`.
template <class T>
struct ValueIn {
  using Type = T;
};
template <class T>
struct ValueIn<Result<T>> : ValueIn<T> {};
template <class T>
struct ValueIn<Task<T>> : ValueIn<T> {};
template <class T>
using ValueInside = typename ValueIn<T>::Type;

template <class>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<Task<T>> = true;
/// Calls it and waits for it. What it throws is thrown. What is passed by reference belongs to who
/// awaits it.
// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)
template <class Function, class... Args>
Task<Result<ValueInside<std::invoke_result_t<Function&, Args...>>>> settle(Function* function,
                                                                           Args... args) {
  using Returned = std::invoke_result_t<Function&, Args...>;
  if constexpr (is_task<Returned>) {
    using Inner = typename Returned::value_type;
    if constexpr (std::is_void_v<Inner>) {
      co_await (*function)(std::forward<Args>(args)...);
      co_return {};
    } else {
      co_return co_await (*function)(std::forward<Args>(args)...);
    }
  } else if constexpr (std::is_void_v<Returned>) {
    (*function)(std::forward<Args>(args)...);
    co_return {};
  } else {
    co_return (*function)(std::forward<Args>(args)...);
  }
}
// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

/// As bytes; none for what has no value.
template <class T>
std::string payload_of(const Result<T>& value) {
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return to_payload(*value);
  }
}

/// A thing to return where nothing is ever returned.
struct Never {
  template <class T>
  operator T() const {
    throw std::logic_error("weir: a coroutine that was let go went on");
  }
};

}  // namespace weir::flow::workflow::internal
