#pragma once

#include <string>

#include <weir/storage/internal/pin.hpp>
#include <weir/storage/internal/range_scan.hpp>
#include <weir/storage/internal/read.hpp>
#include <weir/storage/internal/row_format.hpp>
#include <weir/storage/key_range.hpp>
#include <weir/storage/space.hpp>

namespace weir::storage::internal {

// Persisted: the key space that describes the others.
inline constexpr std::uint32_t catalog_space = 1;

/// The key as it is stored: that of the space, then its own.
template <class Space>
void append_space_key(const Space& space, const typename Space::KeyType& key, std::string& out) {
  append_big_endian(space.id(), out);
  KeyCodec<typename Space::KeyType>::encode(key, out);
}
template <class Space>
std::string space_key(const Space& space, const typename Space::KeyType& key) {
  std::string out;
  append_space_key(space, key, out);
  return out;
}

template <class Space>
RowCursor::Range space_range(const Space& space, const KeyRange<typename Space::KeyType>& range) {
  return {row_key(space.id(), range.begin()),
          range.end().empty() ? space_end(space.id()) : row_key(space.id(), range.end())};
}

/// `unknown_space` unless it belongs to the store, and is there at `version`.
Result<> check_space(const StoreCore& core, const SpaceHandle& space, Version version);

PendingRead read_at(const Pin& pin, const SpaceHandle& space, std::string key);
RangeScan scan_at(const Pin& pin, const SpaceHandle& space, RowCursor::Range range);

/// State, whatever version it is of.
PendingRead read_current(std::shared_ptr<StoreCore> core, const SpaceHandle& space,
                         std::string key);
RangeScan scan_current(std::shared_ptr<StoreCore> core, const SpaceHandle& space,
                       RowCursor::Range range);

}  // namespace weir::storage::internal
