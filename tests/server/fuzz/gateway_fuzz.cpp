// What a client may send: requests, WebSocket frames, JSON. The first byte of an input says what
// the rest of it is; see `make_seeds.py`. Nothing may stop the process, no answer may be a 500, and
// everything that is said must be HTTP, and frames behind a 101.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <weir/server/internal/json_reader.hpp>
#include <weir/server/internal/target.hpp>
#include <weir/server/internal/websocket.hpp>
#include <weir/tests/server/fuzz/harness.hpp>

namespace weir::server::fuzz {
namespace {

using internal::FrameParser;
using internal::Incoming;
using internal::Route;

[[noreturn]] void fail(const char* what, std::string_view bytes) {
  std::fprintf(stderr, "fuzz: %s: %.*s\n", what, static_cast<int>(bytes.size()), bytes.data());
  std::abort();
}

/// The frames of a server, all whole.
void check_frames(std::string_view bytes) {
  while (!bytes.empty()) {
    if (bytes.size() < 2 || (bytes[0] & 0x70) != 0 || (bytes[1] & 0x80) != 0)
      fail("no frame", bytes);
    const auto first = static_cast<unsigned char>(bytes[1]);
    const std::size_t head = first < 126 ? 2 : first == 126 ? 4 : 10;
    if (bytes.size() < head) fail("half a head", bytes);
    std::size_t size = first < 126 ? first : 0;
    for (std::size_t at = 2; at < head; ++at)
      size = size << 8 | static_cast<unsigned char>(bytes[at]);
    if (bytes.size() - head < size) fail("half a frame", bytes);
    const std::string_view payload = bytes.substr(head, size);
    if ((bytes[0] & 0x0f) == 1 && !internal::JsonDocument::parse(payload, 64))
      fail("a message that is no JSON", payload);
    bytes.remove_prefix(head + size);
  }
}

void check_answers(std::string_view said) {
  while (!said.empty()) {
    if (!said.starts_with("HTTP/1.")) fail("no HTTP", said);
    const std::size_t end = said.find("\r\n\r\n");
    if (end == std::string_view::npos) fail("half a header", said);
    const std::string_view status = said.substr(9, 3);
    if (status == "500") fail("a 500", said);
    const std::string_view head = said.substr(0, end);
    said.remove_prefix(end + 4);
    if (status == "101") return check_frames(said);
    const std::size_t length = head.find("Content-Length: ");
    if (length == std::string_view::npos) continue;
    const std::size_t size = std::strtoul(head.data() + length + 16, nullptr, 10);
    // Of a HEAD there is only the length.
    if (said.size() >= size && !said.starts_with("HTTP/1.")) said.remove_prefix(size);
  }
}

/// What the server has made names of that no input can guess: the newest of each.
struct Known {
  std::string execution = "1";
  std::string workflow = "1";
  std::string handle = "none";
};

Known& known() {
  static Known made;
  return made;
}

void remember(std::string& name, std::string_view said, std::string_view key) {
  const std::size_t at = said.find(key);
  if (at == std::string_view::npos) return;
  said.remove_prefix(at + key.size());
  name = said.substr(0, said.find('"'));
}

void remember_names(const Route& route, std::string_view said) {
  remember(known().handle, said, R"("handle":")");
  if (route.operation == "create_execution") remember(known().execution, said, R"("id":")");
  if (route.operation == "create_workflow") remember(known().workflow, said, R"("id":")");
}

/// `$E`, `$W` and `$H` are the names that are known.
std::string with_names(std::string_view text) {
  std::string with;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view mark = text.substr(at, 2);
    const std::string* name = mark == "$E"   ? &known().execution
                              : mark == "$W" ? &known().workflow
                              : mark == "$H" ? &known().handle
                                             : nullptr;
    if (name) ++at;
    with += name ? *name : std::string(1, text[at]);
  }
  return with;
}

Harness& harness() {
  // OpenSSL cleans up in reverse: if it began later it would not wait for the threads inside.
  static const std::string begun = internal::accept_websocket_key("");
  static Harness made;
  return made;
}

constexpr std::string_view upgrade =
    " HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// Up to the next zero, which is taken off too.
std::string_view take_part(std::string_view& input) {
  const std::string_view part = input.substr(0, input.find('\0'));
  input.remove_prefix(std::min(part.size() + 1, input.size()));
  return part;
}

void add_segment(std::string& target, std::string_view segment, std::string_view given) {
  target += '/';
  if (!internal::is_parameter(segment)) {
    target += segment;
  } else if (!given.empty()) {
    target += internal::encode_percent(given);
  } else {
    target += segment == "{table}"       ? "orders"
              : segment == "{view}"      ? "large"
              : segment == "{execution}" ? internal::encode_percent(known().execution)
              : segment == "{workflow}"  ? internal::encode_percent(known().workflow)
                                         : "1";
  }
}

const Route& take_route(std::string_view& input) {
  const auto& routes = harness().router().routes();
  const std::size_t number = input.empty() ? 0 : static_cast<unsigned char>(input[0]);
  input.remove_prefix(std::min<std::size_t>(1, input.size()));
  return routes[number % routes.size()];
}

/// Something for the parameters of the path, a query, and a body.
std::string print_request(const Route& route, std::string_view input) {
  const std::string_view given = take_part(input);
  const std::string_view query = take_part(input);
  std::string target;
  for (const std::string_view segment : internal::split_path(route.path))
    add_segment(target, segment, given);
  if (!query.empty()) target += "?" + std::string(query);
  std::string request =
      std::string(route.method) + " " + target + " HTTP/1.1\r\nHost: localhost\r\n";
  if (!route.request.empty()) {
    const std::string body = with_names(input);
    request += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
               "\r\n\r\n" + body;
    return request;
  }
  return request + "\r\n";
}

void ask(std::string_view input, std::size_t piece) {
  const Route& route = take_route(input);
  const std::string bytes = print_request(route, input);
  const std::string said = harness().talk({.bytes = bytes, .piece_bytes = piece});
  check_answers(said);
  remember_names(route, said);
}

std::vector<Incoming> parse_frames(std::string_view bytes, std::size_t piece, int* violation) {
  FrameParser parser(256);
  std::vector<Incoming> messages;
  while (!bytes.empty()) {
    std::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    while (auto message = parser.next(part)) messages.push_back(*std::move(message));
    if (!part.empty()) fail("bytes were left", part);
  }
  *violation = parser.violation() ? parser.violation()->code : 0;
  return messages;
}

/// However they are cut, the messages are the same.
void check_pieces(std::string_view bytes, std::size_t piece) {
  int whole_violation = 0;
  int violation = 0;
  const auto whole = parse_frames(bytes, bytes.size(), &whole_violation);
  const auto pieces = parse_frames(bytes, piece, &violation);
  if (whole != pieces || whole_violation != violation) fail("pieces differ", bytes);
}

void run(std::string_view input) {
  if (input.size() < 2) return;
  const int kind = static_cast<unsigned char>(input[0]) % 4;
  const std::size_t piece = 1 + static_cast<unsigned char>(input[1]);
  input.remove_prefix(2);
  if (kind == 2) return ask(input, piece);
  if (kind == 3) return check_pieces(input, piece);
  std::string bytes(input);
  if (kind == 1) {
    const std::string_view query = take_part(input);
    bytes = "GET /api/v1/views/large/subscribe?" + std::string(query) + std::string(upgrade) +
            std::string(input);
  }
  check_answers(harness().talk({.bytes = bytes, .piece_bytes = piece}));
}

}  // namespace
}  // namespace weir::server::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::server::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
