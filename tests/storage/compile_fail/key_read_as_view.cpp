// What is read needs a place of its own.

#include <weir/storage/key.hpp>

auto read(std::string_view bytes) {
  return weir::storage::decode_key<std::pair<std::string_view, int>>(bytes);
}
