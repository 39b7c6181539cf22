// The message names the field that is no key, not the struct around it.

#include <weir/storage/key.hpp>

struct Customer {
  std::string name;
  const char* city = nullptr;

  static auto weir_fields(auto& self) { return std::tie(self.name, self.city); }
};

auto write(const Customer& key) { return weir::storage::encode_key(key); }
