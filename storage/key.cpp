#include <weir/storage/key.hpp>

namespace weir::storage::internal {
namespace {

// Persisted: never change. 0x00 0x00 stays unused, so that a range of zeros, as a disk may return
// for what it lost, is no text.
constexpr char escape = '\x00';
constexpr char escaped_zero = '\xFF';
constexpr char end_of_text = '\x01';

template <class Bytes>
bool take(std::string_view& in, Bytes& out) {
  using Byte = typename Bytes::value_type;
  std::string_view rest = in;
  out.clear();
  while (true) {
    const std::size_t at = rest.find(escape);
    if (at == std::string_view::npos || at + 1 == rest.size()) return false;
    const auto* first = reinterpret_cast<const Byte*>(rest.data());
    out.insert(out.end(), first, first + at);
    const char mark = rest[at + 1];
    rest.remove_prefix(at + 2);
    if (mark == end_of_text) {
      in = rest;
      return true;
    }
    if (mark != escaped_zero) return false;
    out.push_back(Byte{0});
  }
}

}  // namespace

void append_escaped_prefix(std::string_view bytes, std::string& out) {
  std::size_t at = bytes.find(escape);
  while (at != std::string_view::npos) {
    out.append(bytes.substr(0, at + 1));
    out.push_back(escaped_zero);
    bytes.remove_prefix(at + 1);
    at = bytes.find(escape);
  }
  out.append(bytes);
}

void append_escaped(std::string_view bytes, std::string& out) {
  append_escaped_prefix(bytes, out);
  static constexpr char end[] = {escape, end_of_text};
  out.append(end, sizeof(end));
}

bool take_escaped(std::string_view& in, std::string& out) { return take(in, out); }
bool take_escaped(std::string_view& in, std::vector<std::byte>& out) { return take(in, out); }

void complement(std::string& bytes, std::size_t from) {
  for (std::size_t i = from; i < bytes.size(); ++i) bytes[i] = static_cast<char>(~bytes[i]);
}

}  // namespace weir::storage::internal
