// Bytes that were tampered with must not decide how deep the stack goes.

#include <weir/storage/value.hpp>

struct Folder {
  std::string name;
  std::vector<Folder> folders;

  static auto weir_fields(auto& self) { return std::tie(self.name, self.folders); }
};

auto read(std::string_view bytes) { return weir::storage::decode_value<Folder>(bytes); }
