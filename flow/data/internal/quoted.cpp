#include <weir/flow/data/internal/quoted.hpp>

#include <cstddef>

namespace weir::flow::data::internal {

std::string quoted(std::string_view text) {
  static constexpr std::size_t shown_max = 48;
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out = "'";
  for (const char character : text.substr(0, shown_max)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x20 && byte < 0x7F) {
      out.push_back(character);
    } else {
      out.append({'\\', 'x', digits[byte >> 4u], digits[byte & 0x0Fu]});
    }
  }
  out.append(text.size() > shown_max ? "...'" : "'");
  return out;
}

}  // namespace weir::flow::data::internal
