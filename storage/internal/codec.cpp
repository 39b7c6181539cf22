#include <weir/storage/internal/codec.hpp>

#include <weir/storage/errc.hpp>
#include <weir/storage/internal/printable.hpp>

namespace weir::storage::internal {

Error corruption(const Undecoded& undecoded) {
  std::string detail = std::string(undecoded.what) + " of type " + undecoded.signature + ": ";
  if (undecoded.is_complete) {
    detail += std::to_string(undecoded.unread) + " bytes too many after byte ";
  } else {
    detail += "malformed or cut short after byte ";
  }
  detail += std::to_string(undecoded.bytes.size() - undecoded.unread) + " of the " +
            std::to_string(undecoded.bytes.size()) + " in " + printable(undecoded.bytes);
  return {Errc::corruption, std::move(detail)};
}

}  // namespace weir::storage::internal
