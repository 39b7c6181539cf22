#include <weir/storage/internal/codec.hpp>

#include <weir/storage/errc.hpp>

namespace weir::storage::internal {
namespace {

constexpr std::size_t shown_bytes_max = 32;

std::string hexadecimal(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text = "0x";
  for (const char byte : bytes.substr(0, shown_bytes_max)) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[static_cast<unsigned char>(byte) & 15];
  }
  if (bytes.size() > shown_bytes_max) text += "...";
  return text;
}

}  // namespace

Error corruption(const Undecoded& undecoded) {
  std::string detail = std::string(undecoded.what) + " of type " + undecoded.signature + ": ";
  if (undecoded.is_complete) {
    detail += std::to_string(undecoded.unread) + " bytes too many after byte ";
  } else {
    detail += "malformed or cut short after byte ";
  }
  detail += std::to_string(undecoded.bytes.size() - undecoded.unread) + " of the " +
            std::to_string(undecoded.bytes.size()) + " in " + hexadecimal(undecoded.bytes);
  return {Errc::corruption, std::move(detail)};
}

}  // namespace weir::storage::internal
