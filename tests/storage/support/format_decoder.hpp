#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Reads stored bytes as docs/storage_format.md describes them, with nothing of the store's own
// code: what the two disagree on is wrong in one of them. Throws `std::runtime_error`.
namespace weir::storage::test {

/// What is stored, by the name of its family.
using StoredPairs = std::map<std::string, std::map<std::string, std::string>>;

/// One line per pair: comments begin with `#`; family, key and value, both in hexadecimal digits,
/// `-` for no bytes.
StoredPairs parse_pairs(std::string_view text);
std::string to_text(const StoredPairs& pairs);

/// What the pairs mean, one line each, in the order of families and keys.
std::vector<std::string> describe(const StoredPairs& pairs);

/// A manifest: its lines without `end`, whose checksum has been compared.
std::vector<std::string> read_manifest_lines(std::string_view text);
/// That of zip and PNG.
std::uint32_t crc32(std::string_view bytes);

}  // namespace weir::storage::test
