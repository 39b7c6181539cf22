#pragma once

#include <memory>

#include <weir/runtime/actor_system.hpp>

namespace weir {

/// Waits on this thread until the process is told to end: SIGINT (Ctrl-C) or SIGTERM. Returns
/// which.
///
/// What the signals did before is restored on return, so that a second one ends the process at once
/// unless the program has said otherwise. Throws `std::logic_error` while another call or a
/// `StopOnSignal` waits for them.
int wait_for_signal();

/// Stops a system when the process is told to end, as a service does:
///
///     int main() {
///       weir::ActorSystem system;
///       weir::StopOnSignal stop_on_signal(system);
///       system.spawn<Server>();
///       stop_on_signal.wait();
///     }
///
/// The first SIGINT or SIGTERM stops the system as `options` say; a second one, while that goes on,
/// ends the process at once with status 128 + its number, even if every thread hangs. It works
/// whatever threads exist and whichever signals they block. One at a time in a process, and it must
/// not outlive the system. A program that wants to end itself the same way calls
/// `std::raise(SIGTERM)`.
class StopOnSignal {
 public:
  explicit StopOnSignal(ActorSystem& system, StopOptions options = {});
  /// Restores what the signals did before. If one has come, waits until the system has stopped.
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  /// Waits until a signal has come and the system has stopped. Returns the signal.
  int wait();

 private:
  class Watch;
  std::unique_ptr<Watch> watch_;
};

}  // namespace weir
