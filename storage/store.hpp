#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/backup.hpp>
#include <weir/storage/change_log.hpp>
#include <weir/storage/current_state.hpp>
#include <weir/storage/options.hpp>
#include <weir/storage/read_transaction.hpp>
#include <weir/storage/space.hpp>
#include <weir/storage/transaction.hpp>

namespace weir::storage {

/// A versioned store of rows and state, with one log of all changes.
///
///     auto store = Store::open(system, {.directory = "/var/lib/shop"}).value();
///     ...
///     auto orders = (co_await store.open_rows<std::uint64_t, Order>("orders")).value();
///     auto transaction = store.begin();
///     transaction.put(orders, 7, order);
///     auto version = co_await transaction.commit();
///
/// Usable from any thread. Its actor system outlives it; transactions may outlive it, and keep its
/// files open until they end: until then it cannot be opened again.
class Store {
 public:
  /// Opens a directory, or a store in memory. Waits for the disk: inside an actor, call it through
  /// `on_blocking_pool`.
  static Result<Store> open(ActorSystem& system, StoreOptions options = {});

  Store(Store&&) noexcept;
  Store& operator=(Store&&) = delete;
  /// Closes it. Inside an actor it does not wait for that.
  ~Store();

  /// Another handle of it, for what may go on when this one has ended: an actor that could not be
  /// waited for. It gets `Errc::closed` for its commits then, and keeps the files open. Its end
  /// closes nothing.
  std::shared_ptr<Store> share() const;
  /// Whether both are handles of one store.
  friend bool operator==(const Store& a, const Store& b) noexcept { return a.core_ == b.core_; }

  /// Opens a key space, and makes it if it is not there. `wrong_type` if it holds other types.
  template <class K, class V>
  Task<Result<RowSpace<K, V>>> open_rows(std::string name) {
    return open_space<RowSpace<K, V>>(core_, std::move(name));
  }
  template <class K, class V>
  Task<Result<StateSpace<K, V>>> open_state(std::string name) {
    return open_space<StateSpace<K, V>>(core_, std::move(name));
  }
  /// Removes a key space with all that is in it, as `Transaction::drop` does. `not_found` if there
  /// is none.
  Task<Result<>> drop_space(std::string name);
  /// What is in the catalog at the newest version.
  Task<Result<std::vector<SpaceInfo>>> spaces() const;

  /// What tells it from all other stores: the same each time its directory is opened, another one
  /// of what was restored from a backup of it. Versions of two identities are not to be compared.
  std::uint64_t identity() const noexcept;
  /// The newest version that may be read.
  Version version() const noexcept;
  /// Why nothing more is committed, if so: it was closed, or a write or sync has failed. What is
  /// there may be readable even then.
  Result<> check_open() const;
  /// A read-write transaction at the newest version.
  Transaction begin() const;
  /// Reads the newest version.
  ReadTransaction read() const;
  /// Reads an older one: `version_collected` if it is not kept any more, `future_version` if it is
  /// not there yet.
  Result<ReadTransaction> read_at(Version version) const;
  ChangeLog log() const;
  /// For who alone writes some state, and has submitted more of it than can be seen.
  CurrentState current_state() const;

  /// Copies the store, as it is, into a new directory on the same file system; `restore_backup`
  /// makes a store of it again. Commits go on meanwhile.
  Task<Result<BackupInfo>> back_up(std::filesystem::path directory);
  /// The same by name, inside the store's directory. Letters, digits, `-`, `_` and `.` make a name.
  Task<Result<BackupInfo>> make_savepoint(std::string name);
  Task<Result<>> remove_savepoint(std::string name);
  /// Those that are whole, in order of their names.
  Task<Result<std::vector<BackupInfo>>> savepoints() const;

  /// Lets go what nobody needs any more, and rewrites files so that their space is free.
  Task<Result<>> collect();
  engine::Statistics statistics() const;
  /// About how many bytes the rows of a range take, if that is known without reading them. May wait
  /// for the disk.
  template <class K, class V>
  std::optional<std::uint64_t> approximate_bytes(
      const RowSpace<K, V>& space, const KeyRange<K>& range = KeyRange<K>::all()) const {
    return approximate_bytes(internal::space_range(space, range));
  }

  /// Ends committing: what has been accepted goes to disk, later commits get `Errc::closed`.
  Task<Result<>> close();

  /// The time by which commits are dated.
  std::chrono::sys_time<std::chrono::microseconds> time() const noexcept {
    return std::chrono::sys_time<std::chrono::microseconds>(
        std::chrono::microseconds(microseconds()));
  }
  ActorSystem& system() const noexcept { return *system_; }

 private:
  friend struct internal::StoreAccess;
  Store(ActorSystem& system, std::shared_ptr<internal::StoreCore> core,
        bool closes = true) noexcept;

  template <class Space>
  static Task<Result<Space>> open_space(std::shared_ptr<internal::StoreCore> core,
                                        std::string name) {
    SpaceInfo wanted{.kind = Space::kind,
                     .name = std::move(name),
                     .key_signature = KeyCodec<typename Space::KeyType>::signature(),
                     .value_signature = ValueCodec<typename Space::ValueType>::signature()};
    auto info = co_await find_or_make_space(core, std::move(wanted));
    if (!info) co_return std::move(info).error();
    co_return internal::SpaceAccess::make<Space>(*std::move(info), life_of(*core));
  }
  static Task<Result<std::shared_ptr<const SpaceInfo>>> find_or_make_space(
      std::shared_ptr<internal::StoreCore> core, SpaceInfo wanted);
  static Task<Result<>> learn_high_key(std::shared_ptr<internal::StoreCore> core, SpaceInfo info);
  std::uint64_t microseconds() const noexcept;
  std::optional<std::uint64_t> approximate_bytes(internal::RowCursor::Range range) const;
  static std::uint64_t life_of(const internal::StoreCore& core) noexcept;

  ActorSystem* system_;
  std::shared_ptr<internal::StoreCore> core_;  // null when moved from
  bool closes_;                                // when it ends
};

}  // namespace weir::storage
