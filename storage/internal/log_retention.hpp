#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <weir/storage/version.hpp>

namespace weir::storage::internal {

/// How far the consumers of the change log have come, and how long the log is.
///
/// Belongs to the commit actor; made from what is stored when the store is opened.
struct LogRetention {
  /// Checkpoints by name.
  std::map<std::string, Version, std::less<>> consumers;
  /// Bytes of all records so far.
  std::uint64_t total_bytes = 0;

  std::optional<Version> of(std::string_view name) const {
    const auto consumer = consumers.find(name);
    if (consumer == consumers.end()) return std::nullopt;
    return consumer->second;
  }
  /// The newest version that every consumer has passed.
  Version passed_by_all(Version newest) const {
    for (const auto& [name, version] : consumers) {
      if (version < newest) newest = version;
    }
    return newest;
  }
};

}  // namespace weir::storage::internal
