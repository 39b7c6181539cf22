#pragma once

#include <span>
#include <string_view>

namespace weir::server::internal {

/// A file that is part of the library.
struct EmbeddedFile {
  std::string_view name;  // without its folder
  std::string_view tag;   // an `ETag`, another one whenever the file is
  std::span<const unsigned char> bytes;
};

/// What is in `server/console/`; the source is written when the library is built.
std::span<const EmbeddedFile> console_files() noexcept;

}  // namespace weir::server::internal
