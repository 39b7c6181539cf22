#include <weir/bench/gateway/client.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string_view>

namespace weir::bench::gateway {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "bench: %s\n", what);
  std::exit(1);
}

/// One connection and what is under way on it.
struct Connection {
  int socket = -1;
  std::string received;
  std::deque<Clock::time_point> asked;
};

/// Takes one answer off what was received, if it is all there.
bool take_answer(std::string& received) {
  const std::size_t head = received.find("\r\n\r\n");
  if (head == std::string::npos) return false;
  if (!received.starts_with("HTTP/1.1 200")) fail(received.c_str());
  const std::size_t field = received.find("Content-Length: ");
  if (field > head) fail("no length");
  const std::size_t size = std::strtoul(received.c_str() + field + 16, nullptr, 10);
  if (received.size() < head + 4 + size) return false;
  received.erase(0, head + 4 + size);
  return true;
}

class Run {
 public:
  explicit Run(const Asking& asking)
      : request_("GET " + asking.target + " HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        left_(asking.requests),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        connections_(static_cast<std::size_t>(asking.connections)) {
    for (std::size_t index = 0; index < connections_.size(); ++index) {
      connections_[index].socket = connect_to(asking.port);
      epoll_event event{.events = EPOLLIN, .data = {.u64 = index}};
      ::epoll_ctl(epoll_, EPOLL_CTL_ADD, connections_[index].socket, &event);
    }
    under_way_ = asking.under_way;
  }
  ~Run() {
    for (const Connection& connection : connections_) ::close(connection.socket);
    ::close(epoll_);
  }

  Asked run() {
    const auto begun = Clock::now();
    const std::int64_t wanted = left_;
    for (Connection& connection : connections_) send(connection, under_way_);
    std::array<epoll_event, 64> events;
    while (std::ssize(micros_) < wanted) {
      const int count = ::epoll_wait(epoll_, events.data(), events.size(), 10'000);
      if (count <= 0) fail("nothing came");
      for (int index = 0; index < count; ++index)
        receive(connections_[events[static_cast<std::size_t>(index)].data.u64]);
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    const auto p99 = micros_.begin() + static_cast<std::ptrdiff_t>(micros_.size() * 99 / 100);
    std::nth_element(micros_.begin(), p99, micros_.end());
    return {static_cast<double>(wanted) / seconds, *p99};
  }

 private:
  void send(Connection& connection, int count) {
    std::string bytes;
    for (; count > 0 && left_ > 0; --count, --left_) {
      bytes += request_;
      connection.asked.push_back(Clock::now());
    }
    if (bytes.empty()) return;
    if (::send(connection.socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) != std::ssize(bytes))
      fail("cannot send");
  }
  void receive(Connection& connection) {
    std::array<char, 65'536> bytes;
    const auto size = ::recv(connection.socket, bytes.data(), bytes.size(), 0);
    if (size <= 0) fail("the server has hung up");
    connection.received.append(bytes.data(), static_cast<std::size_t>(size));
    int answered = 0;
    while (take_answer(connection.received)) {
      const auto taken = Clock::now() - connection.asked.front();
      micros_.push_back(std::chrono::duration<double, std::micro>(taken).count());
      connection.asked.pop_front();
      ++answered;
    }
    send(connection, answered);
  }

  const std::string request_;
  std::int64_t left_;
  int epoll_;
  int under_way_ = 1;
  std::vector<Connection> connections_;
  std::vector<double> micros_;
};

}  // namespace

int connect_to(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fail("cannot connect");
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

Asked ask(const Asking& asking) { return Run(asking).run(); }

Sockets::~Sockets() {
  for (const int socket : sockets_) ::close(socket);
}

void Sockets::add(std::uint16_t port, const std::string& bytes, bool awaits_answer) {
  const int socket = connect_to(port);
  sockets_.push_back(socket);
  if (::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) != std::ssize(bytes))
    fail("cannot send");
  std::string received;
  while (awaits_answer && !take_answer(received)) {
    std::array<char, 4096> taken;
    const auto size = ::recv(socket, taken.data(), taken.size(), 0);
    if (size <= 0) fail("the server has hung up");
    received.append(taken.data(), static_cast<std::size_t>(size));
  }
}

void Sockets::send_byte(char byte) {
  for (const int socket : sockets_) static_cast<void>(::send(socket, &byte, 1, MSG_NOSIGNAL));
}

}  // namespace weir::bench::gateway
