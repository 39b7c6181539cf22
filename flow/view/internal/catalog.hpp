#pragma once

#include <cstdint>
#include <memory>
#include <string>

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
///     weir.flow.dropped     ids of relations whose rows are still to be removed
class Catalog {
 public:
  static Task<Result<Catalog>> open(storage::Store* store);

  /// What a transaction sees, so that it conflicts with changes of it. `unknown_relation`.
  Task<Result<std::uint64_t>> find(storage::Transaction& transaction, std::string name) const;
  Task<Result<RelationEntry>> read(storage::Transaction& transaction, std::uint64_t id) const;
  /// `already_exists`. Gives the id.
  Task<Result<std::uint64_t>> add(storage::Transaction& transaction, RelationEntry entry) const;
  void replace(storage::Transaction& transaction, std::uint64_t id,
               const RelationEntry& entry) const;
  /// Its rows are for `sweep` to remove.
  void remove(storage::Transaction& transaction, std::uint64_t id, const std::string& name) const;
  /// Removes the rows of relations that were dropped, some at a time.
  Task<Result<>> sweep() const;

  /// With the rows of the relation.
  Task<Result<std::shared_ptr<const RelationInfo>>> load(std::uint64_t id,
                                                         RelationEntry entry) const;

  const storage::RowSpace<std::uint64_t, RelationEntry>& relations() const noexcept {
    return relations_;
  }

 private:
  Catalog(storage::Store* store, storage::RowSpace<std::uint64_t, RelationEntry> relations,
          storage::RowSpace<std::string, std::uint64_t> names,
          storage::StateSpace<std::string, std::uint64_t> counters,
          storage::StateSpace<std::uint64_t, bool> dropped)
      : store_(store),
        relations_(std::move(relations)),
        names_(std::move(names)),
        counters_(std::move(counters)),
        dropped_(std::move(dropped)) {}

  Task<Result<EncodedRows>> open_rows(std::uint64_t id) const;
  Task<Result<bool>> sweep_some(EncodedRows rows, std::uint64_t id) const;

  storage::Store* store_;
  storage::RowSpace<std::uint64_t, RelationEntry> relations_;
  storage::RowSpace<std::string, std::uint64_t> names_;
  storage::StateSpace<std::string, std::uint64_t> counters_;
  storage::StateSpace<std::uint64_t, bool> dropped_;
};

}  // namespace weir::flow::view::internal
