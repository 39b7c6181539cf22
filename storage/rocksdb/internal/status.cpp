#include <weir/storage/rocksdb/internal/status.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace weir::storage::rocksdb::internal {
namespace {

using engine::Errc;
using ::rocksdb::Status;

/// RocksDB keeps the number of a system error in some statuses only; its text is in all of them.
bool says(const std::string& text, int number) {
  return text.find(std::generic_category().message(number)) != std::string::npos;
}

Errc code_of_io_error(const Status& status, const std::string& text) {
  if (status.IsNoSpace()) return Errc::no_space;
  if (says(text, EROFS) || says(text, EACCES) || says(text, EPERM)) return Errc::read_only;
  return Errc::io_error;
}

Errc code_of(const Status& status, const std::string& text) {
  switch (status.code()) {
    case Status::kCorruption: return Errc::corruption;
    case Status::kNotSupported: return Errc::unsupported_format;
    case Status::kInvalidArgument: return Errc::invalid_argument;
    case Status::kIncomplete: return Errc::would_block;
    case Status::kShutdownInProgress: return Errc::closed;
    default: return code_of_io_error(status, text);
  }
}

}  // namespace

Error to_error(const Status& status, std::string_view directory, std::string_view place) {
  std::string text = status.ToString();
  const Errc code = code_of(status, text);
  if (text.find(directory) == std::string::npos) {
    std::string where(directory);
    if (!place.empty()) where.append(": ").append(place);
    text = where + ": " + text;
  }
  return Error(code, std::move(text));
}

std::string describe_key(engine::Family family, std::string_view key) {
  static constexpr std::size_t shown_max = 64;
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "family '" + std::string(engine::to_string(family)) + "', key 0x";
  for (const char byte : key.substr(0, std::min(key.size(), shown_max))) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[static_cast<unsigned char>(byte) & 15];
  }
  if (key.size() > shown_max) text += "... of " + std::to_string(key.size()) + " bytes";
  return text;
}

}  // namespace weir::storage::rocksdb::internal
