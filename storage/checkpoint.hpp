#pragma once

#include <coroutine>
#include <optional>
#include <string>
#include <utility>

#include <weir/runtime/result.hpp>
#include <weir/storage/internal/read.hpp>
#include <weir/storage/version.hpp>

namespace weir::storage {

/// How far a consumer of the change log has come.
struct Checkpoint {
  Version version;      // everything up to and with this one has been dealt with
  std::string payload;  // what the consumer wants to remember

  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// A checkpoint that is being read: like `Get`, for `co_await` or `blocking`.
class [[nodiscard]] GetCheckpoint {
 public:
  explicit GetCheckpoint(internal::PendingRead read) : read_(std::move(read)) {}

  bool await_ready() { return read_.await_ready(); }
  bool await_suspend(std::coroutine_handle<> handle) { return read_.await_suspend(handle); }
  Result<std::optional<Checkpoint>> await_resume() { return decode(read_.take()); }
  Result<std::optional<Checkpoint>> blocking() && { return decode(read_.take_blocking()); }

 private:
  static Result<std::optional<Checkpoint>> decode(Result<std::optional<std::string>> bytes);

  internal::ReadAwaiter read_;
};

}  // namespace weir::storage
