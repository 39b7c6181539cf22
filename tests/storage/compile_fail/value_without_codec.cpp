// A value is of a type whose bytes are known.

#include <weir/storage/value.hpp>

struct Customer {
  std::string name;
};

auto write(const std::vector<Customer>& value) { return weir::storage::encode_value(value); }
auto read(std::string_view bytes) { return weir::storage::decode_value<Customer>(bytes); }
