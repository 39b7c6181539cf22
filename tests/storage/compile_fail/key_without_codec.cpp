// A key is of a type whose bytes are known, and the message comes once, however often it is used.

#include <weir/storage/key.hpp>

struct Customer {
  std::string name;
};

auto write(const Customer& key) { return weir::storage::encode_key(key); }
auto read(std::string_view bytes) { return weir::storage::decode_key<Customer>(bytes); }
