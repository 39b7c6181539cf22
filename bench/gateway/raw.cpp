#include <weir/bench/gateway/raw.hpp>

#include <memory>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>  // tidy: allow corners: the peer is Beast itself
#include <boost/beast/http.hpp>              // tidy: allow corners: the peer is Beast itself

namespace weir::bench::gateway {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(tcp::socket socket) : socket_(std::move(socket)) {
    socket_.set_option(tcp::no_delay(true));
  }

  void read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_,
                     [self = shared_from_this()](boost::system::error_code error, std::size_t) {
                       if (!error) self->write();
                     });
  }

 private:
  void write() {
    response_ = http::response<http::string_body>(http::status::ok, 11);
    response_.set(http::field::content_type, "application/json");
    response_.body() = R"({"version":12,"row":{"id":1,"item":"apples","cents":2000}})";
    response_.prepare_payload();
    http::async_write(socket_, response_,
                      [self = shared_from_this()](boost::system::error_code error, std::size_t) {
                        if (!error) self->read();
                      });
  }

  tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

}  // namespace

struct RawServer::State {
  asio::io_context context{1};
  tcp::acceptor acceptor{context, {asio::ip::address_v4::loopback(), 0}};
  std::thread thread;

  void accept() {
    acceptor.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (error) return;
      std::make_shared<Session>(std::move(socket))->read();
      accept();
    });
  }
};

RawServer::RawServer() : state_(std::make_unique<State>()) {
  state_->accept();
  state_->thread = std::thread([this] { state_->context.run(); });
}

RawServer::~RawServer() {
  state_->context.stop();
  state_->thread.join();
}

std::uint16_t RawServer::port() const { return state_->acceptor.local_endpoint().port(); }

}  // namespace weir::bench::gateway
