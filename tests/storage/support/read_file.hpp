#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace weir::storage::test {

/// All bytes of a file; empty if there is none. In one piece: byte by byte it takes a tenth of the
/// tests that crash everywhere.
inline std::string read_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  std::string bytes(error ? 0 : size, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

}  // namespace weir::storage::test
