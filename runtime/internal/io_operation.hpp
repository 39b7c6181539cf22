#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>

#include <weir/runtime/internal/pool.hpp>
#include <weir/runtime/internal/waiter.hpp>

// How an asynchronous operation of Asio comes back to its actor.
//
//     await_suspend ──initiation──> Asio, with an IoHandler
//     any thread    ──ActorExecutor::execute(f)──> IoJob in the actor's control lane
//     the actor       f(): a step of a composed operation, or the handler, which resumes the waiter
//
// Every step runs on the actor, as on a strand: its I/O objects need no other protection.
namespace weir::internal {

class IoWaiter;

/// One operation. Shared by the waiter, the handler and the executors that Asio has copied.
class IoOperation : private Signal {
 public:
  explicit IoOperation(Cell& actor) noexcept;
  virtual ~IoOperation();
  IoOperation(const IoOperation&) = delete;
  IoOperation& operator=(const IoOperation&) = delete;

  void add_ref() noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  Cell& home() const noexcept { return *home_; }

  // On the home only.
  void cancel() { signal_.emit(boost::asio::cancellation_type::terminal); }
  bool is_abandoned() const noexcept { return waiter_ == nullptr; }
  /// The result is there.
  void complete();

  /// On any thread: Asio has thrown the handler away.
  void drop() noexcept;

  boost::asio::cancellation_slot slot() noexcept { return signal_.slot(); }

 private:
  friend class IoWaiter;
  static void on_dropped(Signal* signal, Cell& home);

  std::atomic<std::uint32_t> refs_{1};
  Cell* const home_;            // counted
  IoWaiter* waiter_ = nullptr;  // touched by the home only
  boost::asio::cancellation_signal signal_;
};

/// A counted pointer to an operation.
template <class Operation>
class IoPointer {
 public:
  explicit IoPointer(Operation* counted) noexcept : operation_(counted) {}
  IoPointer(const IoPointer& other) noexcept : operation_(other.operation_) {
    if (operation_) operation_->add_ref();
  }
  IoPointer(IoPointer&& other) noexcept : operation_(std::exchange(other.operation_, nullptr)) {}
  IoPointer& operator=(IoPointer other) noexcept {
    std::swap(operation_, other.operation_);
    return *this;
  }
  ~IoPointer() {
    if (operation_) operation_->release();
  }

  Operation* get() const noexcept { return operation_; }
  Operation* operator->() const noexcept { return operation_; }
  explicit operator bool() const noexcept { return operation_ != nullptr; }
  template <class Base>
  IoPointer<Base> as() const noexcept {
    operation_->add_ref();
    return IoPointer<Base>(operation_);
  }

 private:
  Operation* operation_;
};

/// The coroutine that waits for an operation. Lives in its frame.
class IoWaiter : public Waiter {
 public:
  void cancel() noexcept override;
  std::string describe() const override { return "an I/O operation"; }

 protected:
  IoWaiter() noexcept = default;
  ~IoWaiter() override;

  /// The actor that is about to wait, or null: then `error_` says why it cannot.
  Cell* prepare();
  /// Registers the wait for `operation`, which the waiter shares from now on.
  void begin(IoOperation& operation, std::coroutine_handle<> handle);
  /// The initiation threw: there is no operation to wait for.
  void end() noexcept;

  Error error_;
  bool is_cancelled_ = false;

 private:
  friend class IoOperation;
  IoOperation* in_flight_ = nullptr;  // counted
};

/// A function on its way to the actor.
template <class F>
struct IoJob final : Signal, Pooled {
  IoJob(IoPointer<IoOperation> owner, F&& call)
      : Signal(&run), operation(std::move(owner)), function(std::move(call)) {}

  static void run(Signal* signal, Cell&) {
    auto* self = static_cast<IoJob*>(signal);
    const IoPointer<IoOperation> owner = std::move(self->operation);
    F call = std::move(self->function);
    delete self;
    // What is left of an operation that nobody waits for is thrown away: its I/O object may be
    // gone.
    if (!owner->is_abandoned()) std::move(call)();
  }

  IoPointer<IoOperation> operation;
  F function;
};

/// Runs functions on the actor that waits for an operation. Never at once.
class ActorExecutor {
 public:
  explicit ActorExecutor(IoPointer<IoOperation> operation) noexcept
      : operation_(std::move(operation)) {}

  boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept;
  static constexpr boost::asio::execution::blocking_t query(
      boost::asio::execution::blocking_t) noexcept {
    return boost::asio::execution::blocking_t::never;
  }
  ActorExecutor require(boost::asio::execution::blocking_t::never_t) const { return *this; }

  template <class F>
  void execute(F function) const {
    auto* job = new IoJob<F>(operation_, std::move(function));
    if (!operation_->home().push_control(job, Cell::signal_tag)) delete job;
  }

  friend bool operator==(const ActorExecutor& a, const ActorExecutor& b) noexcept {
    return a.operation_.get() == b.operation_.get();
  }
  friend bool operator!=(const ActorExecutor& a, const ActorExecutor& b) noexcept {
    return !(a == b);
  }

 private:
  IoPointer<IoOperation> operation_;
};

/// Lets an operation that is over at once hand its result to the `ActorExecutor` without a detour
/// over the I/O thread.
struct ImmediateExecutor {
  template <class F>
  void execute(F function) const {
    std::move(function)();
  }
  friend bool operator==(ImmediateExecutor, ImmediateExecutor) noexcept { return true; }
  friend bool operator!=(ImmediateExecutor, ImmediateExecutor) noexcept { return false; }
};

}  // namespace weir::internal
