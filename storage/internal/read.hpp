#pragma once

#include <coroutine>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/result.hpp>
#include <weir/storage/engine/engine.hpp>
#include <weir/storage/internal/store_core.hpp>

namespace weir::storage::internal {

/// One key to be read at one version. Owns what it needs: the call may outlive its caller.
struct PointRead {
  std::shared_ptr<StoreCore> core;
  engine::Family family;
  std::string key;
  Version version;

  /// What is stored there, nothing if nothing is.
  Result<std::optional<std::string>> read(engine::Wait wait) const;
  Result<std::optional<std::string>> operator()() const { return read(engine::Wait::allowed); }
};

/// A read that has still to be made, or whose outcome is known already.
struct PendingRead {
  using Bytes = std::optional<std::string>;

  PendingRead(PointRead point) : read(std::move(point)) {}
  PendingRead(Result<Bytes> outcome) : known(std::move(outcome)) {}

  PointRead read{};
  std::optional<Result<Bytes>> known = {};
};

/// Awaits what a call that waits for the disk gives, if it has to be made at all.
///
/// First tries without waiting, on the actor's thread: most of what is read is in memory.
template <class Call, class Value>
class DiskAwaiter {
 public:
  /// `attempt()` gives the outcome, or `would_block`.
  template <class Attempt>
  bool try_now(Attempt&& attempt) {
    outcome_.emplace(attempt());
    return *outcome_ || !(outcome_->error() == engine::Errc::would_block);
  }
  bool wait(Call call, std::coroutine_handle<> handle) {
    slow_.emplace(Making{std::move(call)});
    return slow_->await_suspend(handle);
  }
  Result<Value> take() {
    if (slow_) return slow_->await_resume();
    return std::move(*outcome_);
  }

 private:
  using Slow = decltype(on_blocking_pool(std::declval<Call>()));
  // An awaiter cannot be moved into place, so it is made there.
  struct Making {
    Call call;
    operator Slow() && { return on_blocking_pool(std::move(call)); }
  };

  std::optional<Result<Value>> outcome_;
  std::optional<Slow> slow_;
};

/// Reads one key, on the actor's thread if that needs no disk.
class ReadAwaiter {
 public:
  using Bytes = PendingRead::Bytes;

  explicit ReadAwaiter(PendingRead read) : read_(std::move(read)) {}

  bool await_ready() {
    return read_.known || awaiter_.try_now([&] { return read_.read.read(engine::Wait::never); });
  }
  bool await_suspend(std::coroutine_handle<> handle) {
    return awaiter_.wait(std::move(read_.read), handle);
  }
  Result<Bytes> take() { return read_.known ? *std::move(read_.known) : awaiter_.take(); }
  /// For threads that may wait.
  Result<Bytes> take_blocking() { return read_.known ? *std::move(read_.known) : read_.read(); }

 private:
  PendingRead read_;
  DiskAwaiter<PointRead, Bytes> awaiter_;
};

}  // namespace weir::storage::internal
