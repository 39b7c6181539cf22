#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/internal/io_operation.hpp>
#include <weir/runtime/result.hpp>

// The only public header that includes Asio.
namespace weir {

/// Where the I/O objects of a system's actors live: `tcp::socket socket(io_context(system()))`. The
/// system runs it on a thread of its own, which it starts when first asked, and on its workers
/// while there is much to do: what is posted there must not block. It ends with the system: keep
/// I/O objects inside actors.
boost::asio::io_context& io_context(ActorSystem& system);
boost::asio::io_context::executor_type io_executor(ActorSystem& system);

/// Makes any asynchronous operation of Asio something to await in an actor.
///
///     auto count = co_await socket.async_read_some(buffer, weir::use_task);   // Result<size_t>
///
/// The operation starts when awaited, and the coroutine goes on in its actor. What the operation
/// passes to its handler becomes the value of a `Result`: nothing a `Result<>`, one value a
/// `Result<T>`, several a `Result<std::tuple<...>>`. An error code that comes first becomes its
/// error, an exception that comes first is thrown.
///
/// If the caller is cancelled the operation is, and the error is `Errc::cancelled`. If the actor is
/// killed the operation is cancelled too, at once: buffers may live in the coroutine that waits.
/// That needs operations that heed cancellation, as those of sockets, pipes and timers do; others
/// must own what they use. While an operation waits, do not destroy its I/O object in another task
/// of the actor; closing it is fine.
///
/// Steps of composed operations run on the actor too, so an I/O object that only one actor uses
/// needs no strand. There is no I/O under simulation: `Errc::unsupported`.
struct UseTask {};

inline constexpr UseTask use_task{};

/// `result.error() == boost::asio::error::eof`.
template <class Code>
  requires boost::system::is_error_code_enum<Code>::value
bool operator==(const Error& error, Code code) noexcept {
  return error.code() == std::error_code(boost::system::error_code(code));
}

namespace internal {

template <class... Ts>
struct IoValues {
  using Type = std::tuple<Ts...>;
};
template <class T>
struct IoValues<T> {
  using Type = T;
};
template <>
struct IoValues<> {
  using Type = void;
};

template <class T>
concept IoStatus =
    std::same_as<T, boost::system::error_code> || std::same_as<T, std::exception_ptr>;

template <class... Ts>
struct IoSignature : IoValues<Ts...> {};
template <IoStatus Status, class... Ts>
struct IoSignature<Status, Ts...> : IoValues<Ts...> {};

/// An operation whose handler takes `Ts`.
template <class... Ts>
class IoOperationOf final : public IoOperation, public Pooled {
 public:
  using Value = typename IoSignature<Ts...>::Type;

  using IoOperation::IoOperation;

  template <class... Args>
  void finish(Args&&... args) {
    if (is_abandoned()) return;
    store(std::forward<Args>(args)...);
    complete();
  }

  std::optional<Result<Value>> result;
  std::exception_ptr exception;

 private:
  template <class... Args>
  void store(boost::system::error_code error, Args&&... args) {
    if (error) {
      result.emplace(Error(std::error_code(error)));
    } else {
      store_values(std::forward<Args>(args)...);
    }
  }
  template <class... Args>
  void store(std::exception_ptr thrown, Args&&... args) {
    exception = std::move(thrown);
    if (!exception) store_values(std::forward<Args>(args)...);
  }
  template <class... Args>
  void store(Args&&... args) {
    store_values(std::forward<Args>(args)...);
  }
  template <class... Args>
  void store_values(Args&&... args) {
    if constexpr (sizeof...(Args) == 0) {
      result.emplace();
    } else {
      result.emplace(Value(std::forward<Args>(args)...));
    }
  }
};

/// What Asio calls when the operation is over.
template <class Operation>
class IoHandler {
 public:
  using executor_type = ActorExecutor;
  using immediate_executor_type = ImmediateExecutor;
  using cancellation_slot_type = boost::asio::cancellation_slot;

  explicit IoHandler(IoPointer<Operation> operation) noexcept : operation_(std::move(operation)) {}
  IoHandler(IoHandler&&) noexcept = default;
  ~IoHandler() {
    if (operation_) operation_->drop();
  }

  template <class... Args>
  void operator()(Args&&... args) {
    const IoPointer<Operation> operation = std::move(operation_);
    operation->finish(std::forward<Args>(args)...);
  }

  executor_type get_executor() const noexcept {
    return ActorExecutor(operation_.template as<IoOperation>());
  }
  immediate_executor_type get_immediate_executor() const noexcept { return {}; }
  cancellation_slot_type get_cancellation_slot() const noexcept { return operation_->slot(); }

 private:
  IoPointer<Operation> operation_;
};

template <class Signature, class Initiation, class... Args>
class IoAwaiter;

template <class... Ts, class Initiation, class... Args>
class [[nodiscard]] IoAwaiter<void(Ts...), Initiation, Args...> final : public IoWaiter {
 public:
  using Operation = IoOperationOf<std::decay_t<Ts>...>;

  template <class... Given>
  explicit IoAwaiter(Initiation initiation, Given&&... args)
      : initiation_(std::move(initiation)), args_(std::forward<Given>(args)...) {}

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) {
    Cell* actor = prepare();
    if (!actor) return false;
    operation_ = IoPointer<Operation>(new Operation(*actor));
    begin(*operation_.get(), handle);
    try {
      std::apply(
          [&](Args&... args) {
            std::move(initiation_)(IoHandler<Operation>(operation_), std::move(args)...);
          },
          args_);
    } catch (...) {
      end();
      operation_->release();
      throw;
    }
    return true;
  }
  Result<typename Operation::Value> await_resume() {
    if (error_.code()) return std::move(error_);
    if (operation_->exception) std::rethrow_exception(operation_->exception);
    if (is_cancelled_ && !*operation_->result) return Error(Errc::cancelled);
    return std::move(*operation_->result);
  }

 private:
  Initiation initiation_;
  std::tuple<Args...> args_;
  IoPointer<Operation> operation_{nullptr};
};

}  // namespace internal
}  // namespace weir

namespace boost::asio {

template <class... Ts>
class async_result<weir::UseTask, void(Ts...)> {
 public:
  template <class Initiation, class... Args>
  static auto initiate(Initiation&& initiation, weir::UseTask, Args&&... args) {
    using Awaiter =
        weir::internal::IoAwaiter<void(Ts...), std::decay_t<Initiation>, std::decay_t<Args>...>;
    return Awaiter(std::forward<Initiation>(initiation), std::forward<Args>(args)...);
  }
};

}  // namespace boost::asio
