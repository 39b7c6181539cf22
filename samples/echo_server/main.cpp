// An echo server: one actor listens, one actor for each connection, and Asio inside both.
//
//     weir_sample_echo_server            # asks itself something, and ends
//     weir_sample_echo_server 7000       # serves on 127.0.0.1:7000 until Ctrl-C: nc 127.0.0.1 7000

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/asio.hpp>
#include <weir/runtime/signals.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>

namespace asio = boost::asio;
using asio::ip::tcp;
using weir::Result;
using weir::Task;

// [connection]
/// Gives back what it gets, until the other side has said all. Owns its socket: nobody else touches
/// it, so there is no lock and no strand.
class Connection final : public weir::Actor<> {
 public:
  explicit Connection(tcp::socket socket) : socket_(std::move(socket)) {}

  void on_start() { work_.spawn(serve()); }

 private:
  Task<> serve() {
    std::array<char, 4096> buffer;
    for (;;) {
      const auto count = co_await socket_.async_read_some(asio::buffer(buffer), weir::use_task);
      if (!count) break;
      const auto answer = asio::buffer(buffer.data(), *count);
      if (!co_await asio::async_write(socket_, answer, weir::use_task)) break;
    }
    stop();
  }

  tcp::socket socket_;
  weir::TaskScope work_;  // goes before the socket that it uses
};
// [/connection]

struct Port {
  using Reply = int;
};

// [listener]
/// Accepts until it is stopped, which ends what it waits for. Its connections are its children, and
/// stop with it.
class Listener final : public weir::Actor<Port> {
 public:
  explicit Listener(int port)
      : acceptor_(weir::io_context(system()),
                  {asio::ip::address_v4::loopback(), static_cast<asio::ip::port_type>(port)}) {}

  void on_start() { work_.spawn(accept()); }
  int on(Port) const { return acceptor_.local_endpoint().port(); }

 private:
  Task<> accept() {
    for (;;) {
      auto socket = co_await acceptor_.async_accept(weir::use_task);
      if (!socket) co_return;
      spawn<Connection>({.name = "connection"}, *std::move(socket));
    }
  }

  tcp::acceptor acceptor_;
  weir::TaskScope work_;
};
// [/listener]

// [client]
/// Says something, and gives what comes back.
Task<Result<std::string>> say(weir::ActorSystem* system, int port, std::string text) {
  tcp::socket socket(weir::io_context(*system));
  const tcp::endpoint server(asio::ip::address_v4::loopback(),
                             static_cast<asio::ip::port_type>(port));
  WEIR_CO_TRY_VOID(co_await socket.async_connect(server, weir::use_task));
  WEIR_CO_TRY_VOID(co_await asio::async_write(socket, asio::buffer(text), weir::use_task));
  std::string answer(text.size(), ' ');
  WEIR_CO_TRY_VOID(co_await asio::async_read(socket, asio::buffer(answer), weir::use_task));
  co_return answer;
}
// [/client]

Task<Result<>> ask_itself(weir::ActorSystem* system, weir::ActorRef<Port> listener) {
  WEIR_CO_TRY(port, co_await listener.ask<Port>());
  for (const std::string text : {"hello", "is anybody there?"}) {
    WEIR_CO_TRY(answer, co_await say(system, port, text));
    std::printf("said '%s', heard '%s'\n", text.c_str(), answer.c_str());
    if (answer != text) co_return weir::Error(weir::Errc::failed, "that is no echo");
  }
  co_return {};
}

int main(int argc, char** argv) {
  const int port = argc > 1 ? std::atoi(argv[1]) : 0;
  if (argc > 2 || (argc > 1 && (port < 1 || port > 65535))) {
    std::printf("usage: %s [port]\nWithout a port it asks itself something, and ends.\n", argv[0]);
    return 2;
  }
  weir::ActorSystem system;
  try {
    auto listener = system.spawn<Listener>({.name = "listener"}, port);
    if (port == 0) {
      system.run(ask_itself(&system, listener)).value();
    } else {
      weir::StopOnSignal stop_on_signal(system);
      std::printf("serving on 127.0.0.1:%d; Ctrl-C ends it\n", port);
      stop_on_signal.wait();
    }
  } catch (const std::exception& error) {  // the port is taken
    std::fprintf(stderr, "echo_server: %s\n", error.what());
    return 1;
  }
}
