#include <weir/storage/internal/varint.hpp>

namespace weir::storage::internal {

void append_varint(std::uint64_t number, std::string& out) {
  // Most numbers, and nearly all lengths, are small.
  if (number < 0x80) return out.push_back(static_cast<char>(number));
  char bytes[10];
  std::size_t size = 0;
  for (; number >= 0x80; number >>= 7) bytes[size++] = static_cast<char>(number | 0x80);
  bytes[size++] = static_cast<char>(number);
  out.append(bytes, size);
}

bool take_long_varint(std::string_view& in, std::uint64_t max, std::uint64_t& number) {
  std::uint64_t read = 0;
  for (std::size_t i = 0; i < in.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(in[i]);
    const std::uint64_t bits = byte & 0x7F;
    // The tenth byte has room for the last of 64 bits only.
    if (i == 9 && bits > 1) return false;
    read |= bits << (7 * i);
    if (byte >= 0x80) continue;
    if ((byte == 0 && i > 0) || read > max) return false;
    number = read;
    in.remove_prefix(i + 1);
    return true;
  }
  return false;
}

void append_sized(std::string_view bytes, std::string& out) {
  append_varint(bytes.size(), out);
  if (!bytes.empty()) out.append(bytes);
}

bool take_sized(std::string_view& in, std::string_view& bytes) {
  std::string_view rest = in;
  std::uint64_t size = 0;
  if (!take_count(rest, size)) return false;
  bytes = rest.substr(0, size);
  in = rest.substr(size);
  return true;
}

}  // namespace weir::storage::internal
