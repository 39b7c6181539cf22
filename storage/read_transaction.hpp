#pragma once

#include <string>
#include <utility>

#include <weir/storage/get.hpp>
#include <weir/storage/internal/pin.hpp>
#include <weir/storage/internal/space_key.hpp>
#include <weir/storage/key_range.hpp>
#include <weir/storage/scan.hpp>
#include <weir/storage/space.hpp>

namespace weir::storage {

/// Reads the store as it was at one version, which stays readable until this ends.
///
/// Usable from any thread; what it returns is confined to one.
class ReadTransaction {
 public:
  Version version() const noexcept { return pin_.version(); }

  /// `co_await transaction.get(accounts, 7)`: a `Result<std::optional<V>>`.
  template <class K, class V>
  Get<V> get(const RowSpace<K, V>& space, const std::type_identity_t<K>& key) const {
    return Get<V>(internal::read_at(pin_, space, internal::space_key(space, key)));
  }
  /// The rows of a range, all of the space by default.
  template <class K, class V>
  Scan<K, V> scan(const RowSpace<K, V>& space,
                  const KeyRange<K>& range = KeyRange<K>::all()) const {
    return Scan<K, V>(internal::scan_at(pin_, space, internal::space_range(space, range)));
  }

 private:
  friend class Store;
  explicit ReadTransaction(internal::Pin pin) noexcept : pin_(std::move(pin)) {}

  internal::Pin pin_;
};

}  // namespace weir::storage
