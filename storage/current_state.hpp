#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <weir/storage/get.hpp>
#include <weir/storage/internal/space_key.hpp>
#include <weir/storage/key_range.hpp>
#include <weir/storage/scan.hpp>
#include <weir/storage/space.hpp>

namespace weir::storage {

/// Reads state as it was last written, also what others cannot see yet.
///
/// For the one who writes that state: nothing tells whether someone else has. What was submitted
/// may not be written yet; what the store's `version` has is. Usable from any thread; what it
/// returns is confined to one.
class CurrentState {
 public:
  template <class K, class V>
  Get<V> get(const StateSpace<K, V>& space, const std::type_identity_t<K>& key) const {
    return Get<V>(internal::read_current(core_, space, internal::space_key(space, key)));
  }
  template <class K, class V>
  Scan<K, V> scan(const StateSpace<K, V>& space,
                  const KeyRange<K>& range = KeyRange<K>::all()) const {
    return Scan<K, V>(internal::scan_current(core_, space, internal::space_range(space, range)));
  }

 private:
  friend class Store;
  explicit CurrentState(std::shared_ptr<internal::StoreCore> core) noexcept
      : core_(std::move(core)) {}

  std::shared_ptr<internal::StoreCore> core_;
};

}  // namespace weir::storage
