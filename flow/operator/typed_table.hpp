#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <weir/flow/operator/errc.hpp>
#include <weir/flow/operator/state.hpp>
#include <weir/runtime/result.hpp>
#include <weir/storage/key.hpp>
#include <weir/storage/value.hpp>

namespace weir::flow::operators {

/// A `StateTable` whose keys and values have types: those of a `storage::StateSpace`, with the same
/// bytes.
///
///     void open(State& state) override { totals_ = state.add_table<std::string, Total>(); }
///
/// Each of its functions may have to read what is not in memory, and then gives `would_block`,
/// which the operator passes on. Cheap to copy; one that `add_table` did not give is only there to
/// be assigned to.
template <class K, class V>
class TypedTable {
 public:
  TypedTable() = default;
  explicit TypedTable(StateTable& table) noexcept : table_(&table) {}

  /// None if there is none. `corruption` if it is of another type.
  Result<std::optional<V>> get(const K& key) {
    auto slot = find(key);
    if (!slot) return std::move(slot).error();
    if (!slot->exists()) return std::optional<V>();
    std::optional<V> value(std::in_place);
    std::string_view bytes = slot->value();
    if (!storage::ValueCodec<V>::decode(bytes, *value) || !bytes.empty())
      return Error(Errc::corruption, "state: not a " + storage::ValueCodec<V>::signature());
    return value;
  }

  Result<> put(const K& key, const V& value) {
    auto slot = find(key);
    if (!slot) return std::move(slot).error();
    std::string& bytes = slot->edit();
    bytes.clear();
    storage::ValueCodec<V>::encode(value, bytes);
    return {};
  }

  /// Nothing happens if there is none.
  Result<> remove(const K& key) {
    auto slot = find(key);
    if (!slot) return std::move(slot).error();
    slot->remove();
    return {};
  }

 private:
  Result<StateTable::Slot> find(const K& key) {
    key_.clear();
    storage::KeyCodec<K>::encode(key, key_);
    return table_->find(key_);
  }

  StateTable* table_ = nullptr;
  std::string key_;  // to use its memory again
};

template <class K, class V>
TypedTable<K, V> State::add_table() {
  return TypedTable<K, V>(add_table());
}

}  // namespace weir::flow::operators
