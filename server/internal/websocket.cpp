#include <weir/server/internal/websocket.hpp>

#include <openssl/evp.h>

#include <algorithm>
#include <utility>

#include <weir/flow/data/utf8.hpp>
#include <weir/runtime/check.hpp>
#include <weir/server/internal/base64.hpp>

namespace weir::server::internal {
namespace {

constexpr std::size_t control_bytes_max = 125;
constexpr std::size_t mask_bytes = 4;

std::uint64_t big_endian(std::string_view bytes) noexcept {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

/// Codes that stand for something on the wire.
bool is_close_code(std::uint16_t code) noexcept {
  const bool is_defined =
      code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
  return is_defined || (code >= 3000 && code <= 4999);
}

bool is_opcode(std::uint8_t bits) noexcept { return bits <= 2 || (bits >= 8 && bits <= 10); }

void append_big_endian(std::string& out, std::uint64_t number, int bytes) {
  for (int byte = bytes - 1; byte >= 0; --byte) out += static_cast<char>(number >> (8 * byte));
}

}  // namespace

std::optional<Incoming> FrameParser::next(std::string_view& bytes) {
  while (!violation_) {
    if (!has_header_) {
      if (!take_header(bytes)) break;
      begin_frame();
      if (violation_) break;
    }
    take_payload(bytes);
    if (left_ > 0) return std::nullopt;
    has_header_ = false;
    header_taken_ = 0;
    if (auto incoming = end_frame()) return incoming;
  }
  if (violation_) bytes = {};
  return std::nullopt;
}

/// With what is known of it so far.
std::size_t FrameParser::header_bytes() const noexcept {
  if (header_taken_ < 2) return 2;
  const int size = header_[1] & 0x7f;
  return 2 + (size == 126 ? 2 : size == 127 ? 8 : 0) + mask_bytes;
}

bool FrameParser::take_header(std::string_view& bytes) {
  while (header_taken_ < header_bytes() && !violation_) {
    if (bytes.empty()) return false;
    header_[header_taken_++] = bytes.front();
    bytes.remove_prefix(1);
    if (header_taken_ == 2) check_first_bytes();
  }
  return !violation_;
}

void FrameParser::check_first_bytes() {
  const auto first = static_cast<unsigned char>(header_[0]);
  const auto second = static_cast<unsigned char>(header_[1]);
  const std::uint8_t bits = first & 0x0f;
  if ((first & 0x70) != 0) return fail(close_code::protocol_error, "a reserved bit is set");
  if (!is_opcode(bits)) return fail(close_code::protocol_error, "there is no such opcode");
  if ((second & 0x80) == 0) return fail(close_code::protocol_error, "frames of clients are masked");
  is_final_ = (first & 0x80) != 0;
  opcode_ = static_cast<Opcode>(bits);
  if (is_control()) {
    if (!is_final_) fail(close_code::protocol_error, "a control frame is one frame");
    if ((second & 0x7f) > control_bytes_max)
      fail(close_code::protocol_error, "a control frame has at most 125 bytes");
  } else if (kind_.has_value() != (opcode_ == Opcode::continuation)) {
    fail(close_code::protocol_error, "a message goes on, or begins, in the wrong place");
  }
}

void FrameParser::begin_frame() {
  const std::size_t size_end = header_taken_ - mask_bytes;
  const std::string_view size(header_.data() + 2, size_end - 2);
  left_ = size.empty() ? static_cast<std::uint64_t>(header_[1] & 0x7f) : big_endian(size);
  mask_at_ = 0;
  has_header_ = true;
  if ((size.size() == 2 && left_ < 126) || (size.size() == 8 && left_ <= 0xffff) ||
      left_ > static_cast<std::uint64_t>(INT64_MAX))
    return fail(close_code::protocol_error, "a length is written in its shortest form");
  if (is_control()) return;
  if (!kind_) kind_ = opcode_;
  if (left_ > message_bytes_max_ - message_.size())
    fail(close_code::too_large, "the message is too long");
}

void FrameParser::take_payload(std::string_view& bytes) {
  std::string& payload = is_control() ? control_ : message_;
  const std::size_t count = std::min<std::uint64_t>(left_, bytes.size());
  const char* mask = header_.data() + header_taken_ - mask_bytes;
  const std::size_t begin = payload.size();
  payload.append(bytes.substr(0, count));
  for (std::size_t at = begin; at < payload.size(); ++at)
    payload[at] = static_cast<char>(payload[at] ^ mask[mask_at_++ % mask_bytes]);
  left_ -= count;
  bytes.remove_prefix(count);
}

std::optional<Incoming> FrameParser::end_frame() {
  if (opcode_ == Opcode::close) return end_close();
  if (is_control()) return Incoming{opcode_, std::exchange(control_, {})};
  if (!is_final_) return std::nullopt;
  Incoming incoming{*std::exchange(kind_, std::nullopt), std::exchange(message_, {})};
  if (incoming.kind == Opcode::text && !flow::data::is_utf8(incoming.payload)) {
    fail(close_code::invalid_data, "a text is UTF-8");
    return std::nullopt;
  }
  return incoming;
}

std::optional<Incoming> FrameParser::end_close() {
  const std::string payload = std::exchange(control_, {});
  if (payload.empty()) return Incoming{Opcode::close, "", close_code::none};
  const auto code = static_cast<std::uint16_t>(big_endian(payload.substr(0, 2)));
  if (payload.size() < 2 || !is_close_code(code)) {
    fail(close_code::protocol_error, "there is no such code to close with");
    return std::nullopt;
  }
  Incoming incoming{Opcode::close, payload.substr(2), code};
  if (!flow::data::is_utf8(incoming.payload)) {
    fail(close_code::invalid_data, "a reason is UTF-8");
    return std::nullopt;
  }
  return incoming;
}

void append_frame(std::string& out, Opcode opcode, std::string_view payload) {
  out += static_cast<char>(0x80 | static_cast<std::uint8_t>(opcode));
  if (payload.size() <= 125) {
    out += static_cast<char>(payload.size());
  } else if (payload.size() <= 0xffff) {
    out += static_cast<char>(126);
    append_big_endian(out, payload.size(), 2);
  } else {
    out += static_cast<char>(127);
    append_big_endian(out, payload.size(), 8);
  }
  out += payload;
}

void append_close(std::string& out, std::uint16_t code, std::string_view reason) {
  std::string payload;
  if (code != close_code::none) {
    append_big_endian(payload, code, 2);
    payload += reason.substr(0, control_bytes_max - payload.size());
  }
  append_frame(out, Opcode::close, payload);
}

bool is_websocket_key(std::string_view key) {
  const auto bytes = decode_base64(key, Base64::standard);
  return bytes && bytes->size() == 16;
}

std::string accept_websocket_key(std::string_view key) {
  std::string input(key);
  input += "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::string hash(20, '\0');
  unsigned size = 0;
  const int done =
      EVP_Digest(input.data(), input.size(), reinterpret_cast<unsigned char*>(hash.data()), &size,
                 EVP_sha1(), nullptr);
  check(done == 1 && size == hash.size(), "SHA-1 is there");
  return encode_base64(hash, Base64::standard);
}

}  // namespace weir::server::internal
