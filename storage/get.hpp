#pragma once

#include <coroutine>
#include <optional>
#include <utility>

#include <weir/runtime/result.hpp>
#include <weir/storage/internal/read.hpp>
#include <weir/storage/value.hpp>

namespace weir::storage {

/// A value that is being read.
///
/// `co_await` it in an actor: it is read on the actor's thread if that needs no disk, and otherwise
/// on one that may wait. Gives a `Result<std::optional<V>>`, nothing if the key is not there.
template <class V>
class [[nodiscard]] Get {
 public:
  explicit Get(internal::PendingRead read) : read_(std::move(read)) {}

  bool await_ready() { return read_.await_ready(); }
  bool await_suspend(std::coroutine_handle<> handle) { return read_.await_suspend(handle); }
  Result<std::optional<V>> await_resume() { return decode(read_.take()); }

  /// The same on a thread that may wait.
  Result<std::optional<V>> blocking() && { return decode(read_.take_blocking()); }

 private:
  static Result<std::optional<V>> decode(Result<std::optional<std::string>> bytes) {
    if (!bytes) return std::move(bytes).error();
    if (!*bytes) return std::optional<V>();
    auto value = decode_value<V>(**bytes);
    if (!value) return std::move(value).error();
    return std::optional<V>(*std::move(value));
  }

  internal::ReadAwaiter read_;
};

}  // namespace weir::storage
