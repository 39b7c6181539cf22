#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <exception>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include <weir/bench/actors/measure.hpp>

namespace weir::bench::actors::peers {

namespace asio = boost::asio;
using boost::system::error_code;

inline constexpr std::size_t small_mailbox = 16;
inline constexpr std::size_t unbounded_mailbox = std::numeric_limits<std::size_t>::max();

/// Makes a failed coroutine end the program.
struct Rethrow {
  void operator()(std::exception_ptr failure) const {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
};

/// An io_context with THREADS threads: all there is of a runtime.
class Scheduler {
 public:
  Scheduler() : context_(threads()) {}

  asio::io_context& context() { return context_; }

  void spawn(asio::awaitable<void> body) { asio::co_spawn(context_, std::move(body), Rethrow{}); }

  /// Returns when every coroutine has ended, or after `stop`.
  void run() {
    std::vector<std::thread> helpers;
    for (int i = 1; i < threads(); ++i) {
      helpers.emplace_back([this] { context_.run(); });
    }
    context_.run();
    for (std::thread& helper : helpers) {
      helper.join();
    }
  }

  void stop() { context_.stop(); }

 private:
  asio::io_context context_;
};

/// A concurrent channel with both ways in and out: the `try_` forms complete at once or not at all,
/// and are what one writes first once a profile shows the price of suspending.
template <class Message>
class Mailbox {
 public:
  Mailbox(Scheduler& scheduler, std::size_t capacity) : channel_(scheduler.context(), capacity) {}

  bool try_send(const Message& message) { return channel_.try_send(error_code{}, message); }

  bool try_receive(Message& message) {
    return channel_.try_receive(
        [&message](error_code, Message received) { message = std::move(received); });
  }

  auto send(const Message& message) {
    return channel_.async_send(error_code{}, message, asio::deferred);
  }

  auto receive() { return channel_.async_receive(asio::deferred); }

  template <class Token>
  auto receive(Token token) {
    return channel_.async_receive(token);
  }

 private:
  asio::experimental::concurrent_channel<void(error_code, Message)> channel_;
};

}  // namespace weir::bench::actors::peers
