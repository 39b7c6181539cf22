#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <weir/flow/view/internal/catalog.hpp>
#include <weir/flow/view/internal/flow_board.hpp>
#include <weir/flow/view/internal/flow_run.hpp>
#include <weir/flow/view/internal/piece_size.hpp>
#include <weir/flow/view/internal/progress.hpp>
#include <weir/runtime/actor.hpp>
#include <weir/runtime/departure.hpp>
#include <weir/storage/store.hpp>

namespace weir::flow::view::internal {

struct TransactionalOptions {
  FlowOptions flow = {};
  /// Rows of one source that a view takes at once while it is backfilling.
  std::size_t backfill_rows = 2'048;
  /// A view that fails while it is backfilling is built again after this time, twice that the next
  /// time, and so on.
  Duration retry_backoff = std::chrono::milliseconds(100);
  unsigned failures_max = 5;
};

/// Finds the transactional views of the catalog.
struct LoadViews {
  using Reply = bool;
};

/// Commits a transaction with what it makes of transactional views. Gives its version, which is
/// certain but may not be seen yet.
struct CommitWithViews {
  using Reply = storage::Version;
  storage::Transaction transaction;
  std::vector<RelationChanges> changes;  // of tables, by this transaction
};

/// Makes or drops views: while that is committed nobody else commits here, so that each commit to a
/// table is either before it or knows of it.
struct ChangeViews {
  using Reply = storage::Version;
  std::function<Task<Result<storage::Version>>()> change;
};

/// Some view is to be wiped or filled, a bit at a time.
struct AdvanceViews {};

struct RetryView {
  std::uint64_t view;
};
struct RebuildView {
  using Reply = bool;
  std::uint64_t view;
};

/// Keeps transactional views, and commits what changes the tables that they read.
///
///     writer ──changes──> flows in order of dependency ──> the writer's own transaction ──> commit
///
/// One commit after the other: each is judged before the next is run, so that flows always run over
/// what the commits before have made. It does not wait until a commit can be seen: the state that
/// it made is remembered until then (`FlowStateReader`), so that many commits share a sync.
///
/// Who writes a table reads in its entry that someone follows it, and comes here; who has read that
/// nobody does conflicts with whoever makes the first such view. So nothing passes by.
class TransactionalFlows final
    : public Actor<LoadViews, CommitWithViews, ChangeViews, AdvanceViews, RetryView, RebuildView> {
 public:
  TransactionalFlows(std::shared_ptr<const Catalog> catalog, std::shared_ptr<FlowBoard> board,
                     std::shared_ptr<SequenceBarrier> gone, TransactionalOptions options);

  Task<Result<bool>> on(LoadViews);
  Task<Result<storage::Version>> on(CommitWithViews commit);
  Task<Result<storage::Version>> on(ChangeViews change);
  Task<> on(AdvanceViews);
  Task<> on(RetryView retry);
  Task<Result<bool>> on(RebuildView rebuild);

 private:
  struct View {
    FlowDefinitionRef definition;
    Progress progress = {};
    ViewCounts counts = {};
    PieceSize piece_size = {};
    std::unique_ptr<Flow> flow = {};  // none: it cannot be made, or is being wiped
    bool is_running() const noexcept {
      return flow && !progress.is_wiping &&
             (progress.phase == ViewPhase::live || progress.phase == ViewPhase::backfilling);
    }
  };
  using ProgressMap = std::map<std::uint64_t, Progress>;

  /// What is run together: changes of tables, or a piece of one view's rows.
  struct Pass {
    std::vector<RelationChanges> changes = {};
    std::optional<FlowTask> piece = {};
    std::vector<RelationChanges> produced = {};
    std::vector<FlowOutcome> outcomes = {};
    std::optional<std::uint64_t> failed = {};  // which view
  };

  // Running.
  Task<Result<>> run(Pass* pass);
  Task<Result<>> run_view(Pass* pass, std::uint64_t id);
  std::set<std::uint64_t> touched_by(const Pass& pass) const;
  void write(storage::Transaction& transaction, const Pass& pass) const;
  void end(Pass& pass, std::optional<storage::Version> version);
  Task<Result<>> reach_last();

  // Which views there are.
  Task<Result<>> load();
  Task<Result<>> add(std::uint64_t id, RelationEntry entry);
  void remove(std::uint64_t id);
  Result<> make_flow(View& view, bool is_new);
  Task<Result<>> recover();

  // Backfill and failure.
  Task<Result<bool>> wipe_some(std::uint64_t id);
  Task<Result<bool>> fill_some(std::uint64_t id);
  Task<Result<std::optional<FlowTask>>> read_piece(std::uint64_t id, Progress* progress);
  Task<Result<std::shared_ptr<const RelationInfo>>> source(std::uint64_t id);
  bool waits(const View& view) const;
  Task<Result<>> fail(std::uint64_t id, Error error);
  Task<Result<>> quarantine(std::uint64_t id, Error error);
  void hold_readers(ProgressMap& progress, std::uint64_t id) const;
  Task<Result<>> begin_anew(std::uint64_t id);
  void add_anew(ProgressMap& progress, std::uint64_t id) const;
  Task<Result<>> commit_progress(ProgressMap progress);
  void put_progress(storage::Transaction& transaction, std::uint64_t id,
                    const Progress& progress) const;
  void take(const ProgressMap& progress);
  void advance_soon();
  bool breaks(const Result<>& result);

  const Departure departure_;
  const std::shared_ptr<const Catalog> catalog_;
  const storage::Store* const store_;  // of the catalog
  std::shared_ptr<FlowBoard> board_;
  TransactionalOptions options_;

  std::map<std::uint64_t, View> views_;
  std::map<std::uint64_t, std::set<std::uint64_t>> readers_;  // of a relation
  std::map<std::uint64_t, std::shared_ptr<const RelationInfo>> sources_;
  storage::Version last_;        // the newest commit that was made here
  std::optional<Error> broken_;  // what there is in memory may not be true: nothing is committed
  bool is_advance_due_ = false;
};

/// Commits a transaction that has written tables which transactional views follow.
Task<Result<storage::Version>> commit_with_views(
    TransactionalFlows::Ref flows, storage::ChangeLog log, storage::Transaction transaction,
    std::vector<std::shared_ptr<const RelationInfo>> tables);

}  // namespace weir::flow::view::internal
