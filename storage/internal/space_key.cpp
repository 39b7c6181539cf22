#include <weir/storage/internal/space_key.hpp>

#include <cstdint>
#include <limits>
#include <utility>

#include <weir/storage/errc.hpp>

namespace weir::storage::internal {
namespace {

constexpr Version any_version{std::numeric_limits<std::uint64_t>::max()};

}  // namespace

Result<> check_space(const StoreCore& core, const SpaceHandle& space, Version version) {
  if (SpaceAccess::store(space) != core.life) {
    return Error(Errc::unknown_space,
                 "key space \"" + space.name() + "\" belongs to another store");
  }
  const auto dropped = core.dropped.since(space.id());
  if (!dropped || *dropped > version) return {};
  return Error(Errc::unknown_space,
               "key space \"" + space.name() + "\" was dropped at version " + to_string(*dropped));
}

PendingRead read_at(const Pin& pin, const SpaceHandle& space, std::string key) {
  if (auto known = check_space(*pin.core(), space, pin.version()); !known) {
    return Result<PendingRead::Bytes>(known.error());
  }
  return PendingRead(PointRead{pin.core(), engine::Family::rows, std::move(key), pin.version()});
}

RangeScan scan_at(const Pin& pin, const SpaceHandle& space, RowCursor::Range range) {
  if (auto known = check_space(*pin.core(), space, pin.version()); !known) {
    return RangeScan(known.error());
  }
  return RangeScan(pin.core(), engine::Family::rows, std::move(range), pin.version(), nullptr);
}

PendingRead read_current(std::shared_ptr<StoreCore> core, const SpaceHandle& space,
                         std::string key) {
  if (auto known = check_space(*core, space, any_version); !known)
    return Result<PendingRead::Bytes>(known.error());
  return PendingRead(
      PointRead{std::move(core), engine::Family::state, std::move(key), any_version});
}

RangeScan scan_current(std::shared_ptr<StoreCore> core, const SpaceHandle& space,
                       RowCursor::Range range) {
  if (auto known = check_space(*core, space, any_version); !known) return RangeScan(known.error());
  return RangeScan(std::move(core), engine::Family::state, std::move(range), any_version, nullptr);
}

}  // namespace weir::storage::internal
