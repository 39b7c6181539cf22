#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/runtime/task.hpp>
#include <weir/storage/change.hpp>
#include <weir/storage/checkpoint.hpp>
#include <weir/storage/get.hpp>
#include <weir/storage/internal/space_key.hpp>
#include <weir/storage/internal/transaction_state.hpp>
#include <weir/storage/key_range.hpp>
#include <weir/storage/scan.hpp>
#include <weir/storage/space.hpp>

namespace weir::storage {

/// Reads the store as of one version and collects writes, which `commit` makes true together, or
/// not at all.
///
/// Serializable: the outcome is as if it had run alone at the moment of its commit. If others have
/// since written what it read, `commit` gives `Errc::conflict`, and it has to be run again:
/// `transact` does that. It sees its own writes.
///
/// Confined to one actor. Letting it go without `commit` changes nothing.
class Transaction {
 public:
  /// What it reads; in commits of others since, only conflicts are seen.
  Version version() const noexcept { return version_; }

  template <class K, class V>
  Get<V> get(const RowSpace<K, V>& space, const std::type_identity_t<K>& key) {
    return Get<V>(read(space, engine::Family::rows, internal::space_key(space, key)));
  }
  template <class K, class V>
  Get<V> get(const StateSpace<K, V>& space, const std::type_identity_t<K>& key) {
    return Get<V>(read(space, engine::Family::state, internal::space_key(space, key)));
  }
  template <class K, class V>
  Scan<K, V> scan(const RowSpace<K, V>& space, const KeyRange<K>& range = KeyRange<K>::all()) {
    return Scan<K, V>(scan(space, engine::Family::rows, internal::space_range(space, range)));
  }
  template <class K, class V>
  Scan<K, V> scan(const StateSpace<K, V>& space, const KeyRange<K>& range = KeyRange<K>::all()) {
    return Scan<K, V>(scan(space, engine::Family::state, internal::space_range(space, range)));
  }

  /// Inserts or replaces. Mistakes, such as a value above its limit, are told by `commit`.
  template <class K, class V>
  void put(const RowSpace<K, V>& space, const std::type_identity_t<K>& key,
           const std::type_identity_t<V>& value) {
    put_encoded(space, internal::WriteKind::row, key, value);
  }
  template <class K, class V>
  void put(const StateSpace<K, V>& space, const std::type_identity_t<K>& key,
           const std::type_identity_t<V>& value) {
    put_encoded(space, internal::WriteKind::state, key, value);
  }
  /// The same for keys and values that are bytes already: `encoded.hpp`.
  template <class K, class V>
    requires(K::is_encoded && V::is_encoded)
  void put(const StateSpace<K, V>& space, std::string_view key, std::string_view value) {
    assign_key(space, key);
    write(space, internal::WriteKind::state, key_, value);
  }
  template <class K, class V>
    requires(K::is_encoded && V::is_encoded)
  void remove(const StateSpace<K, V>& space, std::string_view key) {
    assign_key(space, key);
    write(space, internal::WriteKind::state, key_, std::nullopt);
  }
  /// Removing what is not there is no mistake, and no change.
  template <class K, class V>
  void remove(const RowSpace<K, V>& space, const std::type_identity_t<K>& key) {
    encode(space, key);
    write(space, internal::WriteKind::row, key_, std::nullopt);
  }
  template <class K, class V>
  void remove(const StateSpace<K, V>& space, const std::type_identity_t<K>& key) {
    encode(space, key);
    write(space, internal::WriteKind::state, key_, std::nullopt);
  }

  /// Removes a key space with all that is in it, what this transaction has written included. Its
  /// name is free again; its number is never given to another. Older versions can be read as long
  /// as they are kept; then its rows go without a trace of each in the change log, which has the
  /// change of the catalog only. At the commit and later the handles of it are `unknown_space`.
  template <class K, class V>
  void drop(const RowSpace<K, V>& space) {
    drop_space(space);
  }
  template <class K, class V>
  void drop(const StateSpace<K, V>& space) {
    drop_space(space);
  }

  /// How far the consumer `name` has come, if it has come anywhere.
  GetCheckpoint checkpoint(std::string_view name);
  /// The consumer has dealt with everything up to `version`: the change log need not be kept for
  /// it. Only forwards; a new consumer begins wherever the log still reaches. The payload is its
  /// own.
  void set_checkpoint(std::string_view name, Version version, std::string_view payload = {});
  /// There is no such consumer any more.
  void forget_checkpoint(std::string_view name);

  /// Who commits, for those who read the change log.
  void set_origin(std::string origin);

  /// What it does to the rows of a space, in order of keys; all that it writes there counts as
  /// read. The transaction outlives the task, and the views last until it is written or ends.
  template <class K, class V>
  Task<Result<std::vector<Change>>> changes(const RowSpace<K, V>& space) {
    return find_changes(space);
  }
  /// `conflict` if others have since written what it read. The transaction outlives the task.
  Task<Result<>> validate() const;

  /// Makes the writes true, all or none, and gives the version that has them. When it returns they
  /// are as durable as the store's options say, and visible to everyone. Without writes it gives
  /// the version that was read. Once it has begun it is not cancelled with its caller, since the
  /// outcome would not be known.
  ///
  /// `conflict`: run it again. `failed` and errors of the disk: nothing is committed until the
  /// store is reopened.
  Task<Result<Version>> commit();
  /// The same, but without waiting for that: it gives the version as soon as nothing but a failure
  /// of the store, after which nothing is committed, can keep it from becoming true. Others see it,
  /// and it is durable, once the store's `version` is there: `ChangeLog::wait_past` waits for it.
  Task<Result<Version>> submit();

 private:
  friend class Store;
  explicit Transaction(internal::Pin pin);

  Result<> check(const internal::SpaceHandle& space) const;
  void drop_space(const internal::SpaceHandle& space);
  internal::PendingRead read(const internal::SpaceHandle& space, engine::Family family,
                             std::string key);
  internal::RangeScan scan(const internal::SpaceHandle& space, engine::Family family,
                           internal::RowCursor::Range range);
  template <class Space>
  void encode(const Space& space, const typename Space::KeyType& key) {
    key_.clear();
    internal::append_space_key(space, key, key_);
  }
  void assign_key(const internal::SpaceHandle& space, std::string_view bytes) {
    key_.clear();
    internal::append_big_endian(space.id(), key_);
    key_.append(bytes);
  }
  template <class Space, class V>
  void put_encoded(const Space& space, internal::WriteKind kind, const typename Space::KeyType& key,
                   const V& value) {
    encode(space, key);
    value_.clear();
    append_value(value, value_);
    write(space, kind, key_, value_);
  }
  void write(const internal::SpaceHandle& space, internal::WriteKind kind, std::string_view key,
             std::optional<std::string_view> value);
  Task<Result<std::vector<Change>>> find_changes(const internal::SpaceHandle& space);

  Version version_;
  std::unique_ptr<internal::TransactionState> state_;  // null when it has ended
  // Of what is being written, to use their memory again.
  std::string key_;
  std::string value_;
};

}  // namespace weir::storage
