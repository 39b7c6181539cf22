#include <weir/storage/engine/errc.hpp>

#include <string>

namespace weir::storage::engine {
namespace {

class StorageCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weir.storage"; }

  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::conflict: return "conflict with another transaction";
      case Errc::would_block: return "would wait for the disk";
      case Errc::closed: return "store closed";
      case Errc::failed: return "store failed earlier";
      case Errc::io_error: return "input or output failed";
      case Errc::no_space: return "disk full";
      case Errc::corruption: return "corruption";
      case Errc::locked: return "directory in use";
      case Errc::not_a_store: return "not a store";
      case Errc::unsupported_format: return "unsupported format";
      case Errc::read_only: return "cannot be written to";
      case Errc::too_large: return "too large";
      case Errc::future_version: return "version from the future";
      case Errc::version_collected: return "version no longer kept";
      case Errc::overtaken: return "change log no longer reaches back";
      case Errc::checkpoint_backwards: return "checkpoint moved backwards";
      case Errc::ended: return "transaction has ended";
      case Errc::unknown_space: return "unknown key space";
      case Errc::wrong_type: return "key space of other types";
      case Errc::already_exists: return "already exists";
      case Errc::not_found: return "not found";
      case Errc::invalid_argument: return "invalid argument";
    }
    return "unknown storage error";
  }
};

}  // namespace

const std::error_category& storage_category() noexcept {
  static const StorageCategory category;
  return category;
}

}  // namespace weir::storage::engine
