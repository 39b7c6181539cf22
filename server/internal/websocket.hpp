#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Frames of RFC 6455, from the side of a server, without extensions. Beast would send one message
// after the other, each framed anew for each connection; here many that were framed once leave in
// one write.
namespace weir::server::internal {

// Of the protocol: never renumber.
enum class Opcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};

/// Why a WebSocket is closed: RFC 6455, 7.4.1.
namespace close_code {
inline constexpr std::uint16_t normal = 1000;
inline constexpr std::uint16_t going_away = 1001;
inline constexpr std::uint16_t protocol_error = 1002;
inline constexpr std::uint16_t unsupported_data = 1003;
inline constexpr std::uint16_t none = 1005;  // never sent: the other side gave none
inline constexpr std::uint16_t invalid_data = 1007;
inline constexpr std::uint16_t too_large = 1009;
}  // namespace close_code

/// A whole message or a control frame of a client.
struct Incoming {
  Opcode kind = Opcode::text;
  std::string payload = {};  // of `close` its reason
  std::uint16_t code = 0;    // of `close`

  friend bool operator==(const Incoming&, const Incoming&) = default;
};

/// What a client did that it must not do, and the code to close with.
struct Violation {
  std::uint16_t code;
  std::string_view reason;  // of constants
};

/// Makes messages of bytes, strictly: what is not masked, not the shortest form of a length, not
/// UTF-8 where that is needed, or too long is a violation, as soon as that can be seen.
class FrameParser {
 public:
  explicit FrameParser(std::size_t message_bytes_max) noexcept
      : message_bytes_max_(message_bytes_max) {}

  /// Takes bytes off the front, up to the end of a message, and gives that. Nothing means that all
  /// were taken: more must come, or there is a violation.
  std::optional<Incoming> next(std::string_view& bytes);
  /// Null if all is well. Nothing is given any more after one.
  const Violation* violation() const noexcept { return violation_ ? &*violation_ : nullptr; }

 private:
  bool take_header(std::string_view& bytes);
  void begin_frame();
  void check_first_bytes();
  void take_payload(std::string_view& bytes);
  std::optional<Incoming> end_frame();
  std::optional<Incoming> end_close();
  void fail(std::uint16_t code, std::string_view reason) noexcept { violation_ = {code, reason}; }
  bool is_control() const noexcept { return static_cast<std::uint8_t>(opcode_) >= 8; }
  std::size_t header_bytes() const noexcept;

  const std::size_t message_bytes_max_;
  std::optional<Violation> violation_;

  // Of the frame that is under way.
  std::array<char, 14> header_{};
  std::size_t header_taken_ = 0;
  bool has_header_ = false;
  bool is_final_ = false;
  Opcode opcode_ = Opcode::text;
  std::uint64_t left_ = 0;
  std::size_t mask_at_ = 0;
  std::string control_;

  // Of the message that is under way.
  std::optional<Opcode> kind_;
  std::string message_;
};

/// A frame of a server, whole and without a mask.
void append_frame(std::string& out, Opcode opcode, std::string_view payload);
/// The reason is cut to what fits.
void append_close(std::string& out, std::uint16_t code, std::string_view reason);

/// Whether it is 16 bytes in base64, as a client sends in `Sec-WebSocket-Key`.
bool is_websocket_key(std::string_view key);
/// What is answered to it in `Sec-WebSocket-Accept`.
std::string accept_websocket_key(std::string_view key);

}  // namespace weir::server::internal
