#pragma once

#include <weir/runtime/clock.hpp>
#include <weir/runtime/internal/timer_entry.hpp>
#include <weir/runtime/internal/waiter.hpp>

namespace weir::internal {

/// The caller's side of a request. Lives in the caller's coroutine frame.
class ReplyWaiter : public Waiter, private TimerEntry {
 public:
  /// Sends `request` to `target` and waits. False if the outcome is known at once.
  bool ask(Cell* target, RequestNode* request, Duration timeout, std::coroutine_handle<> handle);

  void cancel() noexcept override;
  std::string describe() const override;

 protected:
  ReplyWaiter() noexcept = default;
  ~ReplyWaiter() override;

  // What came back: the request with its reply, or, without one, the error.
  RequestNode* returned_ = nullptr;
  Error error_;

 private:
  friend void receive_reply(Cell& home, RequestNode* request) noexcept;
  static void on_deadline(TimerEntry* entry) noexcept;
  static void on_deadline_signal(Signal* signal, Cell& home);

  bool refuse(RequestNode* request, Error error) noexcept;
  void end_deadline() noexcept;
  /// Gives the request up: its reply will be dropped when it comes.
  void abandon() noexcept;

  struct DeadlineSignal : RevocableSignal {
    explicit DeadlineSignal(ReplyWaiter* owner) noexcept
        : RevocableSignal(&ReplyWaiter::on_deadline_signal), waiter(owner) {}
    ReplyWaiter* waiter;
  };

  RequestNode* in_flight_ = nullptr;
  Cell* target_ = nullptr;  // not counted: checked against target_id_
  std::uint64_t target_id_ = 0;
  DeadlineSignal deadline_signal_{this};
};

/// On an activation of `home`: a request has come back.
void receive_reply(Cell& home, RequestNode* request) noexcept;

}  // namespace weir::internal
