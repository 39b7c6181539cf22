#include <weir/tests/server/support/client.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <utility>

#include <weir/server/internal/json_reader.hpp>

namespace weir::server::test {

Client::Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval patience{.tv_sec = 60, .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int connected =
      ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  EXPECT_EQ(connected, 0) << "port " << port;
}

Client::~Client() {
  if (socket_ >= 0) ::close(socket_);
}

void Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void Client::finish() { ::shutdown(socket_, SHUT_WR); }

void Client::send_and_finish(std::string_view bytes) {
  hold_back(bytes);
  finish();
}

void Client::send_and_leave(std::string_view bytes) {
  hold_back(bytes);
  ::close(std::exchange(socket_, -1));
}

void Client::hold_back(std::string_view bytes) {
  const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_MORE);
  EXPECT_EQ(sent, static_cast<ssize_t>(bytes.size()));
}

bool Client::receive_more() {
  std::array<char, 16384> bytes;
  const auto count = ::recv(socket_, bytes.data(), bytes.size(), 0);
  EXPECT_FALSE(count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) << "nothing came";
  if (count <= 0) return false;
  received_.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

std::optional<std::string> Client::receive_until(std::string_view end) {
  std::size_t found = received_.find(end);
  while (found == std::string::npos) {
    if (!receive_more()) return std::nullopt;
    found = received_.find(end);
  }
  std::string text = received_.substr(0, found + end.size());
  received_.erase(0, found + end.size());
  return text;
}

Reply Client::receive(bool has_body) {
  const auto head = receive_until("\r\n\r\n");
  if (!head) return {};
  Reply reply{.status = std::atoi(head->c_str() + std::string_view("HTTP/1.1 ").size())};
  std::size_t at = head->find("\r\n") + 2;
  while (at + 2 < head->size()) {
    const std::size_t end = head->find("\r\n", at);
    const std::size_t colon = head->find(": ", at);
    std::string name = head->substr(at, colon - at);
    for (char& character : name) character = static_cast<char>(std::tolower(character));
    reply.headers[name] = head->substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  const std::size_t size =
      has_body ? std::strtoul(reply.headers["content-length"].c_str(), nullptr, 10) : 0;
  while (received_.size() < size && receive_more()) {
  }
  reply.body = received_.substr(0, size);
  received_.erase(0, size);
  return reply;
}

std::string Client::receive_all() {
  while (receive_more()) {
  }
  return std::exchange(received_, {});
}

std::string Client::receive_bytes(std::size_t count) {
  while (received_.size() < count && receive_more()) {
  }
  std::string bytes = received_.substr(0, count);
  received_.erase(0, count);
  return bytes;
}

Reply Client::request(std::string_view method, std::string_view target, std::string_view body,
                      std::string_view headers) {
  std::string text(method);
  text += ' ';
  text += target;
  text += " HTTP/1.1\r\nHost: localhost\r\n";
  text += headers;
  if (!body.empty()) {
    if (headers.find("Content-Type") == std::string_view::npos)
      text += "Content-Type: application/json\r\n";
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  }
  text += "\r\n";
  text += body;
  send(text);
  return receive(method != "HEAD");
}

namespace {

using internal::JsonReader;

std::string text_of_value(const JsonReader& value) {
  const auto scalar = value.scalar();
  if (const auto* text = std::get_if<std::string_view>(&scalar)) return std::string(*text);
  if (const auto* number = std::get_if<std::int64_t>(&scalar)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&scalar)) return std::to_string(*number);
  if (const auto* truth = std::get_if<bool>(&scalar)) return *truth ? "true" : "false";
  return std::string(value.kind());
}

std::optional<JsonReader> value_at(JsonReader value, std::string_view place) {
  while (!place.empty()) {
    place.remove_prefix(1);
    const std::string_view step = place.substr(0, place.find('/'));
    place.remove_prefix(step.size());
    std::optional<JsonReader> next = value.optional(step);
    if (value.kind() == "an array") {
      const auto items = *value.items();
      const std::size_t at = std::strtoul(std::string(step).c_str(), nullptr, 10);
      if (at < items.size()) next = items[at];
    }
    if (!next) return std::nullopt;
    value = *std::move(next);
  }
  return value;
}

}  // namespace

std::string text_at(const Reply& reply, std::string_view place) {
  auto document = internal::JsonDocument::parse(reply.body, 64);
  if (!document) return "no JSON: " + reply.body;
  const auto value = value_at(document->root(), place);
  return value ? text_of_value(*value) : "";
}

std::size_t size_at(const Reply& reply, std::string_view place) {
  auto document = internal::JsonDocument::parse(reply.body, 64);
  const auto value = document ? value_at(document->root(), place) : std::nullopt;
  const auto items = value ? value->items() : internal::Problem();
  return items ? (*value->items()).size() : 0;
}

std::string text_of(const Reply& reply, std::string_view field) {
  return text_at(reply, "/" + std::string(field));
}

}  // namespace weir::server::test
