#pragma once

#include <optional>

#include <weir/runtime/semaphore.hpp>

namespace weir {

/// Keeps the tasks of one actor out of each other's way while they wait in between.
///
/// An actor needs no lock for its state; this is for the rare sequence of steps with a `co_await`
/// in the middle that must not interleave with another one. Confined to its actor; first come,
/// first served; not recursive: who holds the lock and waits for it again waits for itself.
class AsyncMutex {
 public:
  using Lock = Semaphore::Permit;

  /// `co_await mutex.lock()`: gives a `Result<Lock>`, which unlocks when it ends, or `cancelled`.
  [[nodiscard]] Semaphore::Acquire lock() noexcept { return semaphore_.acquire(); }

  std::optional<Lock> try_lock() noexcept { return semaphore_.try_acquire(); }
  bool is_locked() const noexcept { return semaphore_.available() == 0; }

 private:
  Semaphore semaphore_{1};
};

}  // namespace weir
