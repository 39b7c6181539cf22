#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::storage::test {

/// Bytes that are read from the front. Throws when there are too few.
class StoredBytes {
 public:
  explicit StoredBytes(std::string_view bytes) : rest_(bytes) {}

  std::string_view take(std::size_t count);
  unsigned byte() { return static_cast<unsigned char>(take(1).front()); }
  std::uint64_t big_endian(std::size_t count);
  std::uint64_t varint();
  std::string_view text() { return take(varint()); }

  std::string_view rest() const noexcept { return rest_; }
  void expect_end() const;

 private:
  std::string_view rest_;
};

/// A type by its signature, such as `(text,i64?)`.
struct StoredType {
  std::string name;               // of the others: `(`, `[`, `{`, `<`, `?`, `desc`
  std::size_t count = 0;          // of `bytes[N]`
  std::vector<StoredType> parts;  // of those that have some

  static StoredType parse(std::string_view signature);
};

/// A key or value as text: `("ann", -3, none)`.
std::string read_key(const StoredType& type, StoredBytes& bytes);
std::string read_value(const StoredType& type, StoredBytes& bytes);

std::string quoted(std::string_view text);
std::string hexadecimal(std::string_view bytes);

}  // namespace weir::storage::test
