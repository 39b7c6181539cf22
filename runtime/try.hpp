#pragma once

#include <utility>

#include <weir/runtime/result.hpp>

#define WEIR_TRY_JOIN_NAMES(a, b) a##b
#define WEIR_TRY_NAME(a, b) WEIR_TRY_JOIN_NAMES(a, b)

#define WEIR_CO_TRY_NAMED(result, name, ...)        \
  auto result = (__VA_ARGS__);                      \
  if (!result) co_return std::move(result).error(); \
  auto name = *std::move(result) /* the user's ';' */

/// `WEIR_CO_TRY(cents, co_await account.ask<Balance>());` declares `cents` with the value of a
/// `Result`, or ends the coroutine with its error: `co_return` of the `Error`. For coroutines that
/// give a `Result` of any type.
#define WEIR_CO_TRY(name, ...) \
  WEIR_CO_TRY_NAMED(WEIR_TRY_NAME(weir_result_, __LINE__), name, __VA_ARGS__)

/// The same for a `Result` whose value does not matter: `WEIR_CO_TRY_VOID(co_await sleep_for(1s));`
#define WEIR_CO_TRY_VOID(...)                             \
  do {                                                    \
    if (auto weir_result = (__VA_ARGS__); !weir_result) { \
      co_return std::move(weir_result).error();           \
    }                                                     \
  } while (false)
