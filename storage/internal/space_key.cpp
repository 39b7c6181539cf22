#include <weir/storage/internal/space_key.hpp>

#include <utility>

#include <weir/storage/errc.hpp>

namespace weir::storage::internal {

Result<> check_space(const StoreCore& core, const SpaceHandle& space) {
  if (SpaceAccess::store(space) == core.life) return {};
  return Error(Errc::unknown_space, "key space \"" + space.name() + "\" belongs to another store");
}

PendingRead read_at(const Pin& pin, const SpaceHandle& space, std::string key) {
  if (auto known = check_space(*pin.core(), space); !known)
    return Result<PendingRead::Bytes>(known.error());
  return PendingRead(PointRead{pin.core(), engine::Family::rows, std::move(key), pin.version()});
}

RangeScan scan_at(const Pin& pin, const SpaceHandle& space, RowCursor::Range range) {
  if (auto known = check_space(*pin.core(), space); !known) return RangeScan(known.error());
  return RangeScan(pin.core(), engine::Family::rows, std::move(range), pin.version(), nullptr);
}

}  // namespace weir::storage::internal
