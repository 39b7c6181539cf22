#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weir/flow/data/schema.hpp>
#include <weir/flow/operator/operator_spec.hpp>
#include <weir/flow/operator/plan.hpp>
#include <weir/flow/view/relation.hpp>
#include <weir/flow/view/snapshot.hpp>
#include <weir/flow/view/subscription.hpp>
#include <weir/flow/view/transaction.hpp>
#include <weir/flow/view/view_options.hpp>
#include <weir/flow/view/view_status.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/change_log.hpp>
#include <weir/storage/store.hpp>

namespace weir::flow::view {

namespace internal {
struct DatabaseCore;
}

/// How the views of a database are run.
struct DatabaseOptions {
  /// Actors that run flows; those that do not read each other's views run side by side.
  std::size_t workers = 2;
  /// State of each flow that is kept in memory; the rest is read when it is needed.
  std::size_t state_memory_max = std::size_t{64} << 20;
  /// What becomes of rows that cannot be computed, where a view does not say so itself.
  operators::RowErrorPolicy row_errors = operators::RowErrorPolicy::fail;
  /// Functions and operators of yours. They outlive the database.
  operators::Library library = {};
  /// Checks each row that a view with a primary key gives against those it has. Views with
  /// operators of yours are always checked.
  bool verifies_rows = false;
  /// The most, about, that a batch of rows to be written may have, all that a transaction writes to
  /// one relation, and what an operator may give in one cycle.
  std::size_t batch_bytes_max = std::size_t{128} << 20;
  /// Rows that a new view takes at once; fewer if they make more than it may give. While there are
  /// changes that others follow, fewer: as many as keep those waiting for about `backfill_step`
  /// longer than two cycles of their own.
  std::size_t backfill_rows = 131'072;
  Duration backfill_step = std::chrono::microseconds(100);
  /// Changes that are taken at once.
  storage::ReadLimits cycle = {};
  /// A view that failed is tried again after this time, with the same input, after twice that the
  /// next time, and so on, until it has failed `failures_max` times in a row.
  Duration retry_backoff = std::chrono::milliseconds(100);
  unsigned failures_max = 5;
  /// Views that a worker has not run in this time have failed.
  Duration cycle_deadline = std::chrono::minutes(1);
};

/// A column to be added to a table.
struct NewColumn {
  std::string name;
  data::DataType type;
  /// What the rows have that are there already; null by default.
  data::Value fill = {};
  bool is_nullable = true;
};

/// Tables of typed rows, and views that follow them, in a store.
///
///     auto database = (co_await Database::open(&store)).value();
///     auto orders = (co_await database.create_table("orders", schema)).value();
///     auto transaction = database.begin();
///
/// Making, altering and dropping are changes of the catalog, which is part of the store: they are
/// there after a restart, and a transaction that meets them is a conflict. Usable from any actor.
/// It is closed before the store.
class Database {
 public:
  /// Finds all tables and views, and lets the views go on where they were.
  static Task<Result<Database>> open(storage::Store* store, DatabaseOptions options = {});

  Database(Database&&) noexcept;
  Database& operator=(Database&&) = delete;
  /// Closes it; inside an actor it does not wait for that.
  ~Database();
  /// Views stop where they are. The store is closed after it.
  Task<Result<>> close();
  /// Another handle of it, for what may go on when this one has ended, as `storage::Store::share`.
  std::shared_ptr<Database> share() const;

  /// The schema must have a primary key. `already_exists`.
  Task<Result<Relation>> create_table(std::string name, data::SchemaRef schema);
  /// The same, or the table that is there. `already_exists` if that has other columns, or is none.
  Task<Result<Relation>> create_or_open_table(std::string name, data::SchemaRef schema);
  /// Keeps the last `capacity` rows that are appended to it, each with a position in a new first
  /// column, which is the primary key. The schema has none.
  Task<Result<Relation>> create_ring_buffer(std::string name, data::SchemaRef schema,
                                            std::uint64_t capacity,
                                            operators::RingBufferOptions options = {});
  /// Keeps rows that are appended to it in order of the column `key`, an integer, a timestamp or a
  /// date. A new last column numbers them; both are the primary key. The schema has none.
  Task<Result<Relation>> create_series(std::string name, data::SchemaRef schema, std::string key,
                                       operators::SeriesOptions options = {});
  /// `unknown_relation`.
  Task<Result<Relation>> relation(std::string name) const;
  /// In order of their names.
  Task<Result<std::vector<Relation>>> relations() const;

  /// A view that follows a query over tables and other views: `from(orders).filter(...)`. The rows
  /// that are there already are taken bit by bit; `fresh` waits for that. Errors name the path to
  /// what is wrong.
  Task<Result<Relation>> create_view(std::string name, operators::Plan plan,
                                     ViewOptions options = {});
  /// The same, or the view that is there, for programs that are started again. `already_exists` if
  /// that has another query or other options: then it is for `replace_view`.
  Task<Result<Relation>> create_or_open_view(std::string name, operators::Plan plan,
                                             ViewOptions options = {});
  /// Another query under the name of a view that is there. Both are there until the new one is
  /// ready; then it takes the place of the old one, in one commit, and so do new copies of those
  /// who read it: nobody sees something in between. Handles of all of them are stale then. `in_use`
  /// if one of them would not fit, with why. If the new one fails, the old one stays.
  Task<Result<Relation>> replace_view(std::string name, operators::Plan plan,
                                      ViewOptions options = {});
  /// `in_use` lists the views that read it.
  Task<Result<>> drop_view(std::string name);
  /// Waits until the view shows the tables as of `version` or later, and gives the version that it
  /// shows. `quarantined` with its error if it, or one that it reads, will not get there.
  Task<Result<storage::Version>> fresh(Relation view, storage::Version version) const;
  /// None if it has just been made or dropped.
  std::optional<ViewStatus> status(const Relation& view) const;
  /// Changes of its rows since the database was opened, as far as views have followed the log. An
  /// update is two: the row that goes and the one that comes.
  std::uint64_t rows_changed(const Relation& relation) const;
  /// What it does not show yet of the tables that it is made of, through however many views. None
  /// if they have not changed since. Reads the log from there.
  Task<Result<ViewLag>> lag(Relation view) const;
  /// Lets a view that failed go on where it stopped, with the input that it failed with: for when
  /// the cause is gone. Those who read it follow by themselves.
  Task<Result<>> resume(Relation view);
  /// The same, but the first version whose changes fail is left out. From then on the view may
  /// differ from its query: `ViewStatus::is_exact`. What was left out may be missed by changes that
  /// come later; they may fail too.
  Task<Result<>> skip(Relation view);
  /// Builds it again from its sources, with those who read it. It is exact then.
  Task<Result<>> rebuild(Relation view);

  // Altering gives the table, ring buffer or series as it is then. Handles opened before are stale.
  Task<Result<Relation>> add_column(std::string table, NewColumn column);
  Task<Result<Relation>> rename_column(std::string table, std::string column, std::string name);
  /// Not one of the primary key, nor one that a view reads.
  Task<Result<Relation>> drop_column(std::string table, std::string column);
  /// With all its rows; also a ring buffer or series. `in_use` lists the views that read it.
  Task<Result<>> drop_table(std::string name);

  /// Every change from now on, from a version on, or all rows and then every change.
  Result<Subscription> subscribe(const Relation& relation, SubscribeOptions options = {}) const;

  /// Who meets others lets `storage::transact(&database, ...)` begin it, again and again.
  Transaction begin() const;
  /// The newest version.
  Snapshot read() const;
  /// An older one, as of `storage::Store::read_at`.
  Result<Snapshot> read_at(storage::Version version) const;

  ActorSystem& system() const noexcept;

 private:
  Database(std::shared_ptr<internal::DatabaseCore> core, bool closes) noexcept;

  std::shared_ptr<internal::DatabaseCore> core_;  // null when moved from
  bool closes_;                                   // when it ends
};

/// The rows of a table or view, to make a query of.
operators::Plan from(const Relation& relation);

}  // namespace weir::flow::view
