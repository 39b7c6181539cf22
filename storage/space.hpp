#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <weir/runtime/result.hpp>
#include <weir/storage/change.hpp>
#include <weir/storage/key.hpp>
#include <weir/storage/value.hpp>

namespace weir::storage {

// Persisted: never renumber.
enum class SpaceKind : std::uint8_t { rows = 1, state = 2 };

/// What the catalog knows of a key space.
struct SpaceInfo {
  std::uint32_t id = 0;
  SpaceKind kind = SpaceKind::rows;
  std::string name = {};
  std::string key_signature = {};
  std::string value_signature = {};

  // The name is its key in the catalog.
  static auto weir_fields(auto& self) {
    return std::tie(self.id, self.kind, self.key_signature, self.value_signature);
  }
};

namespace internal {

/// A key space of one store; of any types.
class SpaceHandle {
 public:
  std::uint32_t id() const noexcept { return info_->id; }
  const std::string& name() const noexcept { return info_->name; }

 protected:
  SpaceHandle(std::shared_ptr<const SpaceInfo> info, std::uint64_t store) noexcept
      : info_(std::move(info)), store_(store) {}

 private:
  friend struct SpaceAccess;

  std::shared_ptr<const SpaceInfo> info_;
  std::uint64_t store_;  // the life of the store it belongs to
};

struct SpaceAccess {
  static std::uint64_t store(const SpaceHandle& space) noexcept { return space.store_; }
  template <class Space>
  static Space make(std::shared_ptr<const SpaceInfo> info, std::uint64_t store) {
    return Space(std::move(info), store);
  }
};

}  // namespace internal

/// What one commit did to one row, decoded.
template <class K, class V>
struct TypedChange {
  ChangeKind kind;
  K key;
  std::optional<V> before;
  std::optional<V> after;
};

/// Rows by key: every version is kept as long as someone may read it, and every change is in the
/// change log. Cheap to copy; opened by `Store::open_rows`.
template <Key K, class V>
class RowSpace : public internal::SpaceHandle {
 public:
  using KeyType = K;
  using ValueType = V;
  static constexpr SpaceKind kind = SpaceKind::rows;

  /// A change of this space, decoded.
  static Result<TypedChange<K, V>> decode(const Change& change) {
    auto key = decode_key<K>(change.key);
    if (!key) return key.error();
    TypedChange<K, V> typed{change.kind, *std::move(key), {}, {}};
    if (change.kind != ChangeKind::insert) {
      auto before = decode_value<V>(change.before);
      if (!before) return before.error();
      typed.before = *std::move(before);
    }
    if (change.kind != ChangeKind::remove) {
      auto after = decode_value<V>(change.after);
      if (!after) return after.error();
      typed.after = *std::move(after);
    }
    return typed;
  }

 private:
  friend struct internal::SpaceAccess;
  using SpaceHandle::SpaceHandle;
};

/// State by key: only the newest version is kept, and no change is in the change log. For what an
/// actor remembers between commits. Cheap to copy; opened by `Store::open_state`.
template <Key K, class V>
class StateSpace : public internal::SpaceHandle {
 public:
  using KeyType = K;
  using ValueType = V;
  static constexpr SpaceKind kind = SpaceKind::state;

 private:
  friend struct internal::SpaceAccess;
  using SpaceHandle::SpaceHandle;
};

}  // namespace weir::storage
