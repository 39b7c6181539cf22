#include <weir/server/internal/handle_text.hpp>

#include <algorithm>

#include <weir/server/internal/access.hpp>
#include <weir/server/internal/base64.hpp>

namespace weir::server::internal {

using flow::workflow::Handle;

namespace {

constexpr char handle_version = 1;
constexpr std::size_t checksum_bytes = 8;
constexpr std::size_t handle_bytes = 1 + 2 + 16 + 4 + 8 + 8 + checksum_bytes;

template <class T>
void put(std::string& bytes, T number) {
  for (std::size_t shift = sizeof(T) * 8; shift > 0; shift -= 8)
    bytes += static_cast<char>((number >> (shift - 8)) & 0xff);
}

template <class T>
T take(std::string_view& bytes) {
  T number = 0;
  for (const char byte : bytes.substr(0, sizeof(T)))
    number = static_cast<T>(static_cast<T>(number << 8) | static_cast<unsigned char>(byte));
  bytes.remove_prefix(sizeof(T));
  return number;
}

std::string checksum(std::string_view bytes) {
  return hash_secret("weir handle", bytes).substr(0, checksum_bytes);
}

}  // namespace

std::string print_handle(const Handle& handle) {
  std::string bytes(1, handle_version);
  put(bytes, handle.execution.partition.number);
  for (const std::uint8_t byte : handle.execution.uuid.bytes) bytes += static_cast<char>(byte);
  put(bytes, handle.attempt);
  put(bytes, handle.epoch);
  put(bytes, handle.store);
  return encode_base64(bytes + checksum(bytes), Base64::url);
}

std::optional<Handle> parse_handle(std::string_view text) {
  const auto decoded = decode_base64(text, Base64::url);
  if (!decoded || decoded->size() != handle_bytes || decoded->front() != handle_version)
    return std::nullopt;
  std::string_view bytes(*decoded);
  const std::string_view sum = bytes.substr(bytes.size() - checksum_bytes);
  bytes.remove_suffix(checksum_bytes);
  if (checksum(bytes) != sum) return std::nullopt;
  bytes.remove_prefix(1);
  Handle handle;
  handle.execution.partition.number = take<std::uint16_t>(bytes);
  for (std::uint8_t& byte : handle.execution.uuid.bytes) byte = take<std::uint8_t>(bytes);
  handle.attempt = take<std::uint32_t>(bytes);
  handle.epoch = take<std::uint64_t>(bytes);
  handle.store = take<std::uint64_t>(bytes);
  return handle;
}

Refused read_json(const JsonReader& json, Handle& to) {
  auto text = json.text();
  if (!text) return std::move(text).error();
  const auto handle = parse_handle(*text);
  if (!handle) return json.refuse("malformed_handle", "this is no handle that was given here");
  to = *handle;
  return std::nullopt;
}

}  // namespace weir::server::internal
