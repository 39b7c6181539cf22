#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <weir/runtime/task.hpp>
#include <weir/runtime/task_scope.hpp>

namespace weir {

namespace internal {

template <class T>
using ValueOf = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class T>
Task<> keep_value(Task<T> task, std::optional<ValueOf<T>>* value) {
  if constexpr (std::is_void_v<T>) {
    co_await std::move(task);
    value->emplace();
  } else {
    value->emplace(co_await std::move(task));
  }
}

}  // namespace internal

/// `auto [a, b] = co_await when_all(first(), second())`: runs tasks side by side and gives the
/// values of all of them, `std::monostate` for a task without one. When all have ended, rethrows
/// the first exception. For requests of different types to different actors.
template <class... Ts>
Task<std::tuple<internal::ValueOf<Ts>...>> when_all(Task<Ts>... tasks) {
  std::tuple<std::optional<internal::ValueOf<Ts>>...> values;
  TaskScope scope;
  std::apply(
      [&](auto&... value) { (scope.spawn(internal::keep_value(std::move(tasks), &value)), ...); },
      values);
  co_await scope.join();
  co_return std::apply(
      [](auto&... value) { return std::tuple<internal::ValueOf<Ts>...>(std::move(*value)...); },
      values);
}

}  // namespace weir
