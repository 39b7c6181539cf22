#pragma once

namespace weir::internal {

/// Runs asynchronous I/O. What it is made of is known where Asio is.
///
/// A thread waits for what comes. While much comes, it stands back (`Core::io_to_poll` is set): to
/// hand each piece over would cost more than to look for it, so workers do that between actors.
class IoService {
 public:
  virtual ~IoService() = default;

  /// On a worker: deals with what has come. True if there was something.
  virtual bool poll() noexcept = 0;
  /// No worker is awake to look: the thread waits again.
  virtual void hand_over() noexcept = 0;
};

}  // namespace weir::internal
