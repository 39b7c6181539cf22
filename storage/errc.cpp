#include <weir/storage/errc.hpp>

#include <string>

namespace weir::storage {
namespace {

class StorageCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weir.storage"; }

  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::conflict: return "conflict with another transaction";
      case Errc::closed: return "store closed";
      case Errc::failed: return "store failed";
      case Errc::io_error: return "input or output error";
      case Errc::corruption: return "corruption";
      case Errc::no_space: return "no space left";
      case Errc::not_a_store: return "not a store";
      case Errc::unsupported_format: return "unsupported format";
      case Errc::locked: return "store locked";
      case Errc::too_large: return "too large";
      case Errc::future_version: return "version not yet committed";
      case Errc::version_collected: return "version no longer kept";
      case Errc::overtaken: return "overtaken by retention";
      case Errc::checkpoint_backwards: return "checkpoint would move backwards";
      case Errc::ended: return "transaction ended";
      case Errc::unknown_space: return "unknown space";
      case Errc::wrong_type: return "space of other types";
      case Errc::would_block: return "would block";
      case Errc::invalid_argument: return "invalid argument";
      case Errc::not_found: return "not found";
      case Errc::already_exists: return "already exists";
    }
    return "unknown storage error";
  }
};

}  // namespace

const std::error_category& storage_category() noexcept {
  static const StorageCategory category;
  return category;
}

}  // namespace weir::storage
