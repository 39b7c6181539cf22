#include <weir/server/internal/handle_text.hpp>

#include <weir/flow/workflow/signature.hpp>
#include <weir/server/internal/base64.hpp>

namespace weir::server::internal {

using flow::workflow::Handle;

namespace {

constexpr char handle_version = 2;
constexpr std::size_t signature_bytes = 16;
constexpr std::size_t handle_bytes = 1 + 2 + 16 + 4 + 8 + 8 + signature_bytes;

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

std::string signature_of(std::string_view bytes, std::string_view secret) {
  return flow::workflow::sign(secret, bytes).substr(0, signature_bytes);
}

}  // namespace

std::string print_handle(const Handle& handle, std::string_view secret) {
  std::string bytes(1, handle_version);
  put(bytes, handle.execution.partition.number);
  for (const std::uint8_t byte : handle.execution.uuid.bytes) bytes += static_cast<char>(byte);
  put(bytes, handle.attempt);
  put(bytes, handle.epoch);
  put(bytes, handle.store);
  return encode_base64(bytes + signature_of(bytes, secret), Base64::url);
}

std::optional<Handle> parse_handle(std::string_view text, std::string_view secret) {
  const auto decoded = decode_base64(text, Base64::url);
  if (!decoded || decoded->size() != handle_bytes || decoded->front() != handle_version)
    return std::nullopt;
  std::string_view bytes(*decoded);
  const std::string_view signature = bytes.substr(bytes.size() - signature_bytes);
  bytes.remove_suffix(signature_bytes);
  if (!flow::workflow::are_same(signature_of(bytes, secret), signature)) return std::nullopt;
  bytes.remove_prefix(1);
  Handle handle;
  handle.execution.partition.number = take<std::uint16_t>(bytes);
  for (std::uint8_t& byte : handle.execution.uuid.bytes) byte = take<std::uint8_t>(bytes);
  handle.attempt = take<std::uint32_t>(bytes);
  handle.epoch = take<std::uint64_t>(bytes);
  handle.store = take<std::uint64_t>(bytes);
  return handle;
}

Refused read_json(const JsonReader& json, HandleField to) {
  auto text = json.text();
  if (!text) return std::move(text).error();
  const auto handle = parse_handle(*text, to.secret);
  if (!handle) return json.refuse("malformed_handle", "this is no handle that was given here");
  *to.handle = *handle;
  return std::nullopt;
}

}  // namespace weir::server::internal
