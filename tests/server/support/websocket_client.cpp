#include <weir/tests/server/support/websocket_client.hpp>

#include <gtest/gtest.h>

namespace weir::server::test {

int Frame::close_code() const {
  if (opcode != 8) return -1;
  if (payload.size() < 2) return 1005;
  return static_cast<unsigned char>(payload[0]) * 256 + static_cast<unsigned char>(payload[1]);
}

Message::Message(const std::string& text) {
  auto document = internal::JsonDocument::parse(text, 64);
  EXPECT_TRUE(document) << text;
  document_ = document ? *std::move(document) : *internal::JsonDocument::parse("null", 1);
}

std::string Message::text(std::string_view field) const {
  const auto value = root().optional(field);
  if (!value) return "";
  auto text = value->text();
  return text ? std::string(*text) : std::string(value->kind());
}

std::uint64_t Message::version() const {
  const auto value = root().optional("version");
  if (!value) return 0;
  const auto scalar = value->scalar();
  const auto* number = std::get_if<std::int64_t>(&scalar);
  return number ? static_cast<std::uint64_t>(*number) : 0;
}

bool Message::is_done() const {
  const auto value = root().optional("done");
  return value && std::get<bool>(value->scalar());
}

std::string client_frame(int first, std::string_view payload, bool is_masked) {
  const int mask_bit = is_masked ? 0x80 : 0;
  std::string frame(1, static_cast<char>(first));
  if (payload.size() < 126) {
    frame += static_cast<char>(mask_bit | static_cast<int>(payload.size()));
  } else {
    const int bytes = payload.size() < 65'536 ? 2 : 8;
    frame += static_cast<char>(mask_bit | (bytes == 2 ? 126 : 127));
    for (int byte = bytes - 1; byte >= 0; --byte)
      frame += static_cast<char>(payload.size() >> (8 * byte));
  }
  if (!is_masked) return frame += payload;
  const std::string mask = "\x37\xfa\x21\x3d";
  frame += mask;
  for (std::size_t at = 0; at < payload.size(); ++at)
    frame += static_cast<char>(payload[at] ^ mask[at % 4]);
  return frame;
}

WebSocketClient::WebSocketClient(std::uint16_t port, std::string_view target,
                                 std::string_view headers)
    : client_(port) {
  const std::string all = std::string(upgrade_headers) + std::string(headers);
  client_.send("GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n" + all + "\r\n");
  reply_ = client_.receive();
}

void WebSocketClient::grant(std::uint64_t messages) {
  send_text(R"({"type":"credit","messages":)" + std::to_string(messages) + "}");
}

Frame WebSocketClient::receive() {
  const std::string head = client_.receive_bytes(2);
  if (head.size() < 2) return {};
  EXPECT_EQ(head[0] & 0xf0, 0x80) << "not final, or a reserved bit";
  EXPECT_EQ(head[1] & 0x80, 0) << "servers do not mask";
  std::size_t size = static_cast<unsigned char>(head[1]);
  if (size >= 126) {
    const std::string bytes = client_.receive_bytes(size == 126 ? 2 : 8);
    size = 0;
    for (const char byte : bytes) size = size << 8 | static_cast<unsigned char>(byte);
  }
  return {.opcode = head[0] & 0x0f, .payload = client_.receive_bytes(size)};
}

Message WebSocketClient::next() {
  Frame frame = receive();
  while (frame.opcode == 9) {
    send_frame(0x8a, frame.payload);
    frame = receive();
  }
  EXPECT_TRUE(frame.is_text()) << "opcode " << frame.opcode << ": " << frame.payload;
  return Message(frame.is_text() ? frame.payload : "null");
}

Frame WebSocketClient::receive_close() {
  for (;;) {
    Frame frame = receive();
    if (frame.opcode == 8 || frame.opcode < 0) return frame;
  }
}

}  // namespace weir::server::test
