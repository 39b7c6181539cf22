#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weir/server/internal/json_reader.hpp>
#include <weir/tests/server/support/client.hpp>

namespace weir::server::test {

/// A frame as a server sends it.
struct Frame {
  int opcode = -1;  // -1: the server has hung up
  std::string payload = {};

  bool is_text() const { return opcode == 1; }
  /// Of a close; 1005 if there is none.
  int close_code() const;
};

/// A text message.
class Message {
 public:
  explicit Message(const std::string& text);

  std::string text(std::string_view field) const;
  std::string type() const { return text("type"); }
  std::uint64_t version() const;
  bool is_done() const;
  /// The root; of a message that is none, null.
  internal::JsonReader root() const { return document_->root(); }

 private:
  std::optional<internal::JsonDocument> document_;
};

/// One frame as a client sends it, with a mask unless asked otherwise. `first` is its first byte:
/// 0x81 for a whole text.
std::string client_frame(int first, std::string_view payload, bool is_masked = true);

/// A WebSocket of a client that can do what it must not.
class WebSocketClient {
 public:
  WebSocketClient(std::uint16_t port, std::string_view target, std::string_view headers = {});

  /// The answer to the upgrade.
  const Reply& reply() const { return reply_; }
  bool is_open() const { return reply_.status == 101; }

  void send_bytes(std::string_view bytes) { client_.send(bytes); }
  void send_frame(int first, std::string_view payload) { send_bytes(client_frame(first, payload)); }
  void send_text(std::string_view text) { send_frame(0x81, text); }
  void grant(std::uint64_t messages);
  /// Nothing more comes from here, without a word.
  void finish() { client_.finish(); }

  Frame receive();
  /// The next text; pings are answered, and the test fails if something else comes.
  Message next();
  /// The close that comes, whatever comes before.
  Frame receive_close();

 private:
  Client client_;
  Reply reply_;
};

/// The headers of an upgrade; the answer's `Sec-WebSocket-Accept` is that of RFC 6455, 1.3.
inline constexpr std::string_view upgrade_headers =
    "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

}  // namespace weir::server::test
