#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <string>

#include <weir/runtime/error.hpp>
#include <weir/runtime/internal/local_waiter.hpp>
#include <weir/runtime/internal/waiter.hpp>

namespace weir::internal {

class BlockingWaiter;

/// A call that leaves its actor for a thread of the pool and comes back. It belongs to the pool
/// until it is home, and keeps the memory of its actor until then.
struct BlockingCall : Signal {
  enum class Progress : std::uint8_t { queued, begun, refused };

  using Step = void (*)(BlockingCall*) noexcept;

  /// `invoke` runs the call and keeps its outcome; `destroy` frees it.
  BlockingCall(Cell& actor, Step invoke, Step destroy) noexcept;

  /// Hands it to the pool. False if no thread will take it; it is the caller's then.
  [[nodiscard]] bool submit();
  /// On a thread of the pool: runs it, unless it was refused, and sends it home.
  static void perform(void* call) noexcept;
  /// Sends it home.
  void finish() noexcept;
  void end_call_span() noexcept;
  /// True if the call had not begun, and so never will.
  bool refuse() noexcept;

  std::atomic<Progress> progress{Progress::queued};
  Cell* home;                        // counted until it is home
  std::uintptr_t trace;              // its span, from here to the end of the call, if it has one
  BlockingWaiter* waiter = nullptr;  // touched by the home only; null when nobody waits any more
  Step invoke;
  Step destroy;
};

/// A coroutine that waits for a blocking call.
class BlockingWaiter : public Waiter {
 public:
  void cancel() noexcept override;
  std::string describe() const override { return "a blocking call"; }

 protected:
  BlockingWaiter() noexcept = default;
  ~BlockingWaiter() override;

  /// Hands `call` to the pool. False if the outcome is known at once; the call is the waiter's
  /// then.
  bool wait(BlockingCall* call, std::coroutine_handle<> handle);

  BlockingCall* call_ = nullptr;  // ours when it has come home
  Error error_;                   // why it was not run

 private:
  friend struct BlockingCall;
  static void on_home(Signal* signal, Cell& home);

  bool is_away_ = false;
};

}  // namespace weir::internal
