#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weir/flow/view/internal/append_format.hpp>
#include <weir/flow/view/internal/progress.hpp>
#include <weir/flow/view/internal/relation_entry.hpp>
#include <weir/flow/view/internal/relation_info.hpp>
#include <weir/runtime/task.hpp>
#include <weir/storage/store.hpp>

namespace weir::flow::view::internal {

/// The tables and views of a store, which are rows themselves: whoever makes, alters or drops one
/// commits a change of the catalog, and who wrote by what it was before meets a conflict.
///
///     weir.flow.relations   id -> RelationEntry
///     weir.flow.names       name -> id
///     weir.flow.counters    "relation" -> the greatest id that was given
///     weir.flow.appends     id of a ring buffer or series -> how far it has come
///     weir.flow.dropped     ids of relations whose key spaces are still to be dropped -> whether
///                           there is state
///     weir.flow.ready       id of a view that may be read -> 1; 0 -> the version of the tables
///     that
///                           views show. As of a version, like every row
///     weir.flow.progress    id of a view -> how far its flow has come
///     weir.flow.rows.<id>   the rows of a relation
///     weir.flow.state.<id>  the state of a view's flow
class Catalog {
 public:
  static Task<Result<Catalog>> open(std::shared_ptr<storage::Store> store);

  /// Of the catalog, and so of all who have it.
  storage::Store* store() const noexcept { return store_.get(); }

  /// What a transaction sees, so that it conflicts with changes of it. `unknown_relation`.
  Task<Result<std::uint64_t>> find(storage::Transaction& transaction, std::string name) const;
  Task<Result<RelationEntry>> read(storage::Transaction& transaction, std::uint64_t id) const;
  /// `already_exists`. Gives the id.
  Task<Result<std::uint64_t>> add(storage::Transaction& transaction, RelationEntry entry) const;
  void replace(storage::Transaction& transaction, std::uint64_t id,
               const RelationEntry& entry) const;
  void rename(storage::Transaction& transaction, std::uint64_t id, RelationEntry entry,
              std::string name) const;
  /// Its rows and state are for `sweep` to drop, once nobody writes there any more.
  void remove(storage::Transaction& transaction, std::uint64_t id, const std::string& name,
              RelationKind kind) const;
  /// Drops what all relations have left that were removed: for each one commit, however much that
  /// is. Before anyone else is there, as it does not know who still writes.
  Task<Result<>> sweep_all() const;
  /// The same for those of whom it is known that nobody writes them any more.
  Task<Result<>> sweep(std::vector<std::uint64_t> ids) const;
  /// Removes some rows and entries of state of a view that is to be built again; true if those were
  /// the last. The transaction outlives the task.
  Task<Result<bool>> clear_some(storage::Transaction* transaction,
                                std::shared_ptr<const RelationInfo> view) const;

  /// With the rows of the relation. `unknown_relation` if it went meanwhile, and what it had.
  Task<Result<std::shared_ptr<const RelationInfo>>> load(std::uint64_t id,
                                                         RelationEntry entry) const;

  /// Views that read a relation, or one of its columns: by name, in order.
  Task<Result<std::vector<std::string>>> readers(storage::Transaction& transaction,
                                                 std::uint64_t id,
                                                 std::optional<std::uint32_t> column) const;

  const storage::RowSpace<std::uint64_t, RelationEntry>& relations() const noexcept {
    return spaces_.relations;
  }
  const storage::RowSpace<std::uint64_t, std::uint64_t>& ready() const noexcept {
    return spaces_.ready;
  }
  const storage::StateSpace<std::uint64_t, AppendTotals>& appends() const noexcept {
    return spaces_.appends;
  }
  /// For what a flow that is behind still needs of the log.
  static std::string checkpoint_of(std::uint64_t view) {
    return "weir.flow." + std::to_string(view);
  }
  /// Its key among `ready`: no relation has the number 0.
  static constexpr std::uint64_t position_key = 0;
  const storage::StateSpace<std::uint64_t, Progress>& progress() const noexcept {
    return spaces_.progress;
  }

 private:
  struct Spaces {
    storage::RowSpace<std::uint64_t, RelationEntry> relations;
    storage::RowSpace<std::string, std::uint64_t> names;
    storage::StateSpace<std::string, std::uint64_t> counters;
    storage::StateSpace<std::uint64_t, AppendTotals> appends;
    storage::StateSpace<std::uint64_t, bool> dropped;
    storage::RowSpace<std::uint64_t, std::uint64_t> ready;
    storage::StateSpace<std::uint64_t, Progress> progress;
  };

  Catalog(std::shared_ptr<storage::Store> store, Spaces spaces)
      : store_(std::move(store)), spaces_(std::move(spaces)) {}

  Task<Result<EncodedRows>> open_rows(std::uint64_t id) const;
  Task<Result<FlowStateSpace>> open_state(std::uint64_t id) const;
  Task<Result<>> check_there(std::uint64_t id, bool has_state) const;
  Task<Result<>> drop_spaces(std::uint64_t id, bool has_state) const;

  std::shared_ptr<storage::Store> store_;
  Spaces spaces_;
};

}  // namespace weir::flow::view::internal
