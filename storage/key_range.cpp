#include <weir/storage/key_range.hpp>

namespace weir::storage {

std::string prefix_end(std::string_view prefix) {
  const std::size_t last = prefix.find_last_not_of('\xFF');
  if (last == std::string_view::npos) return {};
  std::string end(prefix.substr(0, last + 1));
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

}  // namespace weir::storage
