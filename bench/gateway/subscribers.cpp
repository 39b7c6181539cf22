#include <weir/bench/gateway/subscribers.hpp>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <weir/bench/actors/measure.hpp>
#include <weir/bench/gateway/client.hpp>
#include <weir/bench/gateway/server.hpp>

namespace weir::bench::gateway {
namespace {

constexpr std::string_view upgrade =
    "GET /api/v1/views/large/subscribe?snapshot=false HTTP/1.1\r\nHost: localhost\r\n"
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
constexpr std::string_view end = R"({"type":"end")";
constexpr std::string_view mark = R"("cents":)";

struct Subscriber {
  int socket = -1;
  std::int64_t rows = 0;
  std::string rest = {};  // the begin of a frame
};

/// The length of a frame of a server with its head; zero if that is not known yet.
std::size_t frame_bytes(std::string_view bytes, std::size_t* head) {
  if (bytes.size() < 2) return 0;
  const auto first = static_cast<unsigned char>(bytes[1]);
  *head = first < 126 ? 2 : first == 126 ? 4 : 10;
  if (bytes.size() < *head) return 0;
  std::size_t size = first < 126 ? first : 0;
  for (std::size_t at = 2; at < *head; ++at)
    size = size << 8 | static_cast<unsigned char>(bytes[at]);
  return *head + size;
}

}  // namespace

struct Subscribers::State {
  int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<Subscriber> subscribers = {};
  std::int64_t wanted = 0;
  std::size_t unfinished = 0;
  actors::LatencyHistogram latencies = {};
  std::array<char, 262'144> buffer = {};

  void open(Subscriber& subscriber, std::uint16_t port) {
    subscriber.socket = connect_to(port);
    actors::verify(::send(subscriber.socket, upgrade.data(), upgrade.size(), MSG_NOSIGNAL) ==
                       std::ssize(upgrade),
                   "the request was sent");
    std::string received;
    while (received.find("\r\n\r\n") == std::string::npos) {
      const auto size = ::recv(subscriber.socket, buffer.data(), buffer.size(), 0);
      actors::verify(size > 0, "the server answered");
      received.append(buffer.data(), static_cast<std::size_t>(size));
    }
    actors::verify(received.starts_with("HTTP/1.1 101 "), "it is a WebSocket");
    subscriber.rest = received.substr(received.find("\r\n\r\n") + 4);
  }

  void read(Subscriber& subscriber) {
    const std::size_t kept = subscriber.rest.copy(buffer.data(), subscriber.rest.size());
    const auto size = ::recv(subscriber.socket, buffer.data() + kept, buffer.size() - kept, 0);
    actors::verify(size > 0, "the server did not hang up");
    std::string_view bytes(buffer.data(), kept + static_cast<std::size_t>(size));
    const std::int64_t now = now_us();
    const std::int64_t before = subscriber.rows;
    for (;;) {
      std::size_t head = 0;
      const std::size_t frame = frame_bytes(bytes, &head);
      if (frame == 0 || frame > bytes.size()) break;
      take(subscriber, bytes.substr(head, frame - head), now);
      bytes.remove_prefix(frame);
    }
    subscriber.rest = std::string(bytes);
    if (before < wanted && subscriber.rows >= wanted) --unfinished;
  }

  void take(Subscriber& subscriber, std::string_view message, std::int64_t now) {
    if (message.starts_with(end)) actors::verify(false, std::string(message).c_str());
    for (std::size_t at = message.find(mark); at != std::string_view::npos;
         at = message.find(mark, at + 1)) {
      const std::int64_t begun = std::strtoll(message.data() + at + mark.size(), nullptr, 10);
      latencies.record(static_cast<std::uint64_t>(now - begun) * 1000);
      ++subscriber.rows;
    }
  }
};

Subscribers::Subscribers(std::uint16_t port, int count) : state_(std::make_unique<State>()) {
  state_->subscribers.resize(static_cast<std::size_t>(count));
  for (std::size_t index = 0; index < state_->subscribers.size(); ++index) {
    state_->open(state_->subscribers[index], port);
    epoll_event event{.events = EPOLLIN, .data = {.u64 = index}};
    ::epoll_ctl(state_->epoll, EPOLL_CTL_ADD, state_->subscribers[index].socket, &event);
  }
}

Subscribers::~Subscribers() {
  for (const Subscriber& subscriber : state_->subscribers) ::close(subscriber.socket);
  ::close(state_->epoll);
}

void Subscribers::receive(std::int64_t rows_each) {
  state_->wanted = rows_each;
  state_->unfinished = state_->subscribers.size();
  std::array<epoll_event, 256> events;
  while (state_->unfinished > 0) {
    const int count = ::epoll_wait(state_->epoll, events.data(), events.size(), 10'000);
    actors::verify(count > 0, "something came");
    for (int index = 0; index < count; ++index)
      state_->read(state_->subscribers[events[static_cast<std::size_t>(index)].data.u64]);
  }
  for (const Subscriber& subscriber : state_->subscribers)
    actors::verify(subscriber.rows == rows_each, "each row came once");
}

double Subscribers::latency_ms(double fraction) const {
  return state_->latencies.quantile(fraction) / 1e6;
}

}  // namespace weir::bench::gateway
