#include <weir/server/internal/network.hpp>

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <optional>
#include <utility>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <weir/runtime/asio.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/try.hpp>
#include <weir/server/errc.hpp>

namespace weir::server::internal {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using SocketAcceptor = asio::basic_socket_acceptor<tcp, Executor>;
using TlsContext = asio::ssl::context;

constexpr Duration hang_up_period = std::chrono::milliseconds(500);
constexpr Duration arrival_period = std::chrono::milliseconds(5);

std::string print(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  const std::string host = endpoint.address().is_v6() ? "[" + address + "]" : address;
  return host + ":" + std::to_string(endpoint.port());
}

/// What plain connections and those with TLS share.
class SocketStream : public Stream {
 public:
  explicit SocketStream(Socket socket) : socket_(std::move(socket)) {
    ErrorCode ignored;
    const tcp::endpoint endpoint = socket_.remote_endpoint(ignored);
    if (!ignored) peer_ = print(endpoint);
    static_cast<void>(socket_.set_option(tcp::no_delay(true), ignored));
    static_cast<void>(socket_.non_blocking(true, ignored));
  }

  void cancel() noexcept override {
    ErrorCode ignored;
    static_cast<void>(socket_.cancel(ignored));
  }
  void close() noexcept override {
    ErrorCode ignored;
    static_cast<void>(socket_.close(ignored));
  }
  bool has_hung_up() noexcept override { return shows(POLLRDHUP); }
  /// Bytes that the other side has acknowledged are in its hands. Who has closed its socket
  /// acknowledges none: its system resets the connection.
  Task<Result<>> arrived(Duration time) override {
    for (Duration waited = {}; waited < time; waited += arrival_period) {
      int under_way = 0;
      const bool is_known = ::ioctl(socket_.native_handle(), SIOCOUTQ, &under_way) == 0;
      if (!is_known || shows(0)) break;
      if (under_way == 0) co_return {};
      WEIR_CO_TRY_VOID(co_await sleep_for(arrival_period));
    }
    co_return Error(std::make_error_code(std::errc::connection_reset));
  }
  /// The first bytes to come, or the end, wake it. What has come is not read here, and would wake
  /// it again and again: from then on it looks now and then.
  Task<Result<>> hung_up() override {
    WEIR_CO_TRY_VOID(co_await socket_.async_wait(tcp::socket::wait_read, use_task));
    while (!has_hung_up()) WEIR_CO_TRY_VOID(co_await sleep_for(hang_up_period));
    co_return {};
  }
  std::string peer() const override { return peer_; }

 protected:
  /// Whether something has happened to the socket: one of these events, or its end.
  bool shows(short events) noexcept {
    pollfd seen{.fd = socket_.native_handle(), .events = events, .revents = 0};
    return ::poll(&seen, 1, 0) > 0;
  }
  Result<> finish_socket() {
    ErrorCode error;
    static_cast<void>(socket_.shutdown(tcp::socket::shutdown_send, error));
    if (error) return Error(std::error_code(error));
    return {};
  }

  Socket socket_;
  std::string peer_;
};

class PlainStream final : public SocketStream {
 public:
  using SocketStream::SocketStream;

  Task<Result<>> open() override { co_return {}; }
  Task<Result<std::size_t>> read(char* data, std::size_t size) override {
    co_return co_await socket_.async_read_some(asio::buffer(data, size), use_task);
  }
  /// Most answers fit into what the system keeps for the client: nobody waits for those.
  Task<Result<>> write(std::string_view bytes) override {
    while (!bytes.empty()) {
      ErrorCode error;
      const auto rest = asio::buffer(bytes.data(), bytes.size());
      std::size_t count = socket_.write_some(rest, error);
      if (error == asio::error::would_block) {
        WEIR_CO_TRY(written, co_await socket_.async_write_some(rest, use_task));
        count = written;
      } else if (error) {
        co_return Error(std::error_code(error));
      }
      bytes.remove_prefix(count);
    }
    co_return {};
  }
  Task<Result<>> finish() override { co_return finish_socket(); }
};

class TlsStream final : public SocketStream {
 public:
  TlsStream(Socket socket, TlsContext& context)
      : SocketStream(std::move(socket)), stream_(socket_, context) {}

  Task<Result<>> open() override {
    co_return co_await stream_.async_handshake(asio::ssl::stream_base::server, use_task);
  }
  Task<Result<std::size_t>> read(char* data, std::size_t size) override {
    co_return co_await stream_.async_read_some(asio::buffer(data, size), use_task);
  }
  Task<Result<>> write(std::string_view bytes) override {
    while (!bytes.empty()) {
      WEIR_CO_TRY(count, co_await stream_.async_write_some(asio::buffer(bytes.data(), bytes.size()),
                                                           use_task));
      bytes.remove_prefix(count);
    }
    co_return {};
  }
  Task<Result<>> finish() override {
    WEIR_CO_TRY_VOID(co_await stream_.async_shutdown(use_task));
    co_return finish_socket();
  }

 private:
  asio::ssl::stream<Socket&> stream_;
};

class SocketListener final : public Acceptor {
 public:
  SocketListener(SocketAcceptor acceptor, std::optional<TlsContext> tls)
      : acceptor_(std::move(acceptor)), tls_(std::move(tls)) {}

  Task<Result<std::shared_ptr<Stream>>> accept() override {
    WEIR_CO_TRY(socket, co_await acceptor_.async_accept(use_task));
    if (tls_) co_return std::make_shared<TlsStream>(std::move(socket), *tls_);
    co_return std::make_shared<PlainStream>(std::move(socket));
  }
  void close() noexcept override {
    ErrorCode ignored;
    static_cast<void>(acceptor_.close(ignored));
  }
  std::uint16_t port() const override { return acceptor_.local_endpoint().port(); }

 private:
  SocketAcceptor acceptor_;
  std::optional<TlsContext> tls_;
};

Result<TlsContext> make_tls(const TlsOptions& options) {
  TlsContext context(TlsContext::tls_server);
  ErrorCode error;
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  // Buffers of connections that have nothing to say are let go.
  SSL_CTX_set_mode(context.native_handle(), SSL_MODE_RELEASE_BUFFERS);
  static_cast<void>(
      context.set_options(TlsContext::no_compression | SSL_OP_NO_RENEGOTIATION, error));
  static_cast<void>(context.use_certificate_chain_file(options.certificate_file, error));
  if (error) {
    return Error(Errc::bad_certificate,
                 "certificate '" + options.certificate_file + "': " + error.message());
  }
  static_cast<void>(context.use_private_key_file(options.key_file, TlsContext::pem, error));
  if (error)
    return Error(Errc::bad_certificate, "key '" + options.key_file + "': " + error.message());
  if (SSL_CTX_check_private_key(context.native_handle()) != 1) {
    return Error(Errc::bad_certificate, "key '" + options.key_file + "' does not belong to '" +
                                            options.certificate_file + "'");
  }
  return context;
}

Result<SocketAcceptor> make_acceptor(ActorSystem& system, const tcp::endpoint& endpoint) {
  SocketAcceptor acceptor(io_executor(system));
  ErrorCode error;
  static_cast<void>(acceptor.open(endpoint.protocol(), error));
  if (!error) static_cast<void>(acceptor.set_option(asio::socket_base::reuse_address(true), error));
  if (!error) static_cast<void>(acceptor.bind(endpoint, error));
  if (!error) static_cast<void>(acceptor.listen(asio::socket_base::max_listen_connections, error));
  if (error) return Error(Errc::cannot_listen, print(endpoint) + ": " + error.message());
  return acceptor;
}

Result<asio::ip::address> parse_address(const std::string& text) {
  ErrorCode error;
  auto address = asio::ip::make_address(text, error);
  if (error) return Error(Errc::invalid_argument, "'" + text + "' is no IPv4 or IPv6 address");
  return address;
}

}  // namespace

Result<bool> is_loopback_address(const std::string& address) {
  auto parsed = parse_address(address);
  if (!parsed) return std::move(parsed).error();
  return parsed->is_loopback();
}

Result<std::shared_ptr<Acceptor>> Acceptor::listen(ActorSystem& system,
                                                   const GatewayOptions& options) {
  auto address = parse_address(options.address);
  if (!address) return std::move(address).error();
  std::optional<TlsContext> tls;
  if (options.tls) {
    auto made = make_tls(*options.tls);
    if (!made) return std::move(made).error();
    tls = *std::move(made);
  }
  auto acceptor = make_acceptor(system, {*address, options.port});
  if (!acceptor) return std::move(acceptor).error();
  return std::shared_ptr<Acceptor>(
      std::make_shared<SocketListener>(*std::move(acceptor), std::move(tls)));
}

}  // namespace weir::server::internal
