#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/result.hpp>
#include <weir/runtime/task.hpp>
#include <weir/server/gateway.hpp>

// The one corner that knows sockets: Asio and its TLS are behind these.
namespace weir::server::internal {

/// One connection, plain or with TLS. Confined to one actor.
class Stream {
 public:
  virtual ~Stream() = default;

  /// Shakes hands, if that is needed.
  virtual Task<Result<>> open() = 0;
  /// Waits for some bytes. An error at the end, too.
  virtual Task<Result<std::size_t>> read(char* data, std::size_t size) = 0;
  /// All of them.
  virtual Task<Result<>> write(std::string_view bytes) = 0;
  /// Tells the other side that nothing more comes.
  virtual Task<Result<>> finish() = 0;
  /// Ends what is waited for, with an error.
  virtual void cancel() noexcept = 0;
  virtual void close() noexcept = 0;
  /// Whether nothing more can come from the other side. It may still listen.
  virtual bool has_hung_up() noexcept = 0;
  /// Waits until the other side has taken all that was written. An error if it does not listen any
  /// more, or has not taken it in time.
  virtual Task<Result<>> arrived(Duration time) = 0;
  /// Waits for that, while nothing is read. An error if the wait is cancelled.
  virtual Task<Result<>> hung_up() = 0;
  /// `127.0.0.1:4711`.
  virtual std::string peer() const = 0;
};

/// Where connections come from.
class Acceptor {
 public:
  /// `cannot_listen`, `bad_certificate`, `invalid_argument`.
  static Result<std::shared_ptr<Acceptor>> listen(ActorSystem& system,
                                                  const GatewayOptions& options);
  virtual ~Acceptor() = default;

  virtual Task<Result<std::shared_ptr<Stream>>> accept() = 0;
  virtual void close() noexcept = 0;
  virtual std::uint16_t port() const = 0;
};

/// Whether only this machine can reach it. `invalid_argument` if it is no address.
Result<bool> is_loopback_address(const std::string& address);

}  // namespace weir::server::internal
