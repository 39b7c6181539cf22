#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace weir::storage {

/// The number of a commit. Dense: the first commit of a store is 1, the next one 2, and a reader
/// that has seen version n has seen all before it. Zero is the empty store.
struct Version {
  std::uint64_t number = 0;

  Version next() const noexcept { return {number + 1}; }
  friend auto operator<=>(const Version&, const Version&) = default;
};

inline std::string to_string(Version version) { return std::to_string(version.number); }

}  // namespace weir::storage

template <>
struct std::hash<weir::storage::Version> {
  std::size_t operator()(weir::storage::Version version) const noexcept {
    return std::hash<std::uint64_t>()(version.number);
  }
};
