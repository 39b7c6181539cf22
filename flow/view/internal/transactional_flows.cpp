#include <weir/flow/view/internal/transactional_flows.hpp>

#include <algorithm>
#include <utility>

#include <weir/flow/view/errc.hpp>
#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view::internal {

TransactionalFlows::TransactionalFlows(std::shared_ptr<const Catalog> catalog,
                                       std::shared_ptr<FlowBoard> board,
                                       std::shared_ptr<SequenceBarrier> gone,
                                       TransactionalOptions options)
    : departure_(std::move(gone)),
      catalog_(std::move(catalog)),
      store_(catalog_->store()),
      board_(std::move(board)),
      options_(std::move(options)) {}

Task<Result<storage::Version>> TransactionalFlows::on(CommitWithViews commit) {
  if (broken_) co_return *broken_;
  // What the writer decided to do is done or not, whether or not it waits for the answer.
  const CancellationShield shield;
  auto committing = span("flow.transactional.commit",
                         {{"flow.tables", static_cast<std::int64_t>(commit.changes.size())}});
  // Flows are not shown changes of rows that have changed since: they would fail for no reason.
  if (commit.transaction.version() < last_) {
    WEIR_CO_TRY_VOID(co_await commit.transaction.validate());
  }
  Pass pass{.changes = std::move(commit.changes)};
  WEIR_CO_TRY_VOID(co_await run(&pass));
  write(commit.transaction, pass);
  committing.set({"flow.views", static_cast<std::int64_t>(pass.outcomes.size())});
  auto version = co_await commit.transaction.submit();
  end(pass, version ? std::optional(*version) : std::nullopt);
  if (version) last_ = std::max(last_, *version);
  co_return version;
}

/// Runs all views that are touched, sources before those who read them. After an error none of them
/// has moved.
Task<Result<>> TransactionalFlows::run(Pass* pass) {
  // Ids grow, so whatever a view reads comes before it.
  std::set<std::uint64_t> touched = touched_by(*pass);
  for (auto at = touched.begin(); at != touched.end(); ++at) {
    if (!views_.at(*at).is_running()) continue;
    const std::size_t produced = pass->produced.size();
    if (auto ran = co_await run_view(pass, *at); !ran) {
      pass->failed = *at;
      end(*pass, std::nullopt);
      co_return Error(ran.error().code(), "view '" + views_.at(*at).definition->view->entry.name +
                                              "': " + ran.error().detail());
    }
    const auto readers = readers_.find(*at);
    if (pass->produced.size() > produced && readers != readers_.end())
      touched.insert(readers->second.begin(), readers->second.end());
  }
  co_return {};
}

std::set<std::uint64_t> TransactionalFlows::touched_by(const Pass& pass) const {
  std::set<std::uint64_t> touched;
  for (const auto& [relation, batch] : pass.changes)
    if (const auto readers = readers_.find(relation->id); readers != readers_.end())
      touched.insert(readers->second.begin(), readers->second.end());
  if (pass.piece) touched.insert(pass.piece->flow);
  return touched;
}

Task<Result<>> TransactionalFlows::run_view(Pass* pass, std::uint64_t id) {
  View& view = views_.at(id);
  FlowTask task{.flow = id, .backfill = view.progress.backfill};
  if (view.progress.phase == ViewPhase::backfilling) task.filling = Flow::Filling::begun;
  if (pass->piece && pass->piece->flow == id) task = *pass->piece;
  WEIR_CO_TRY(inputs, inputs_of(*view.flow, task, pass->changes, pass->produced));
  if (inputs.empty() && task.filling != Flow::Filling::ended) co_return {};
  WEIR_CO_TRY(result,
              co_await run_flow(view.flow.get(), {std::move(inputs), std::nullopt, task.filling}));
  if (!result.changes.is_empty()) pass->produced.push_back({view.definition->view, result.changes});
  pass->outcomes.push_back({id, std::move(result)});
  co_return {};
}

void TransactionalFlows::write(storage::Transaction& transaction, const Pass& pass) const {
  for (const FlowOutcome& outcome : pass.outcomes)
    write_result(transaction, *views_.at(outcome.flow).definition, *outcome.result);
}

/// What was run is part of a commit, or forgotten.
void TransactionalFlows::end(Pass& pass, std::optional<storage::Version> version) {
  for (FlowOutcome& outcome : pass.outcomes) {
    View& view = views_.at(outcome.flow);
    Flow& flow = *view.flow;
    if (version) {
      add_result(view.counts, *outcome.result);
      board_->set_counts(outcome.flow, view.counts);
      flow.commit(*version, std::move(outcome.result->state));
    } else {
      flow.roll_back();
    }
  }
}

/// Waits until everything that was committed here can be seen.
Task<Result<>> TransactionalFlows::reach_last() {
  if (last_ <= store_->version()) co_return {};
  WEIR_CO_TRY_VOID(co_await store_->log().wait_past({last_.number - 1}));
  co_return {};
}

Task<Result<storage::Version>> commit_with_views(
    TransactionalFlows::Ref flows, storage::ChangeLog log, storage::Transaction transaction,
    std::vector<std::shared_ptr<const RelationInfo>> tables) {
  std::vector<RelationChanges> changes;
  for (const auto& table : tables) {
    WEIR_CO_TRY(found, co_await transaction.changes(table->rows));
    data::BatchBuilder builder(table->format.schema());
    for (const storage::Change& change : found)
      WEIR_CO_TRY_VOID(decode_change(*table, change, builder));
    if (builder.size() > 0) changes.push_back({table, builder.finish()});
  }
  if (changes.empty()) co_return co_await transaction.commit();
  const CancellationShield shield;
  auto version = co_await flows.ask<CommitWithViews>(std::move(transaction), std::move(changes))
                     .within(forever);
  if (!version) co_return version.error();
  WEIR_CO_TRY_VOID(co_await log.wait_past({version->number - 1}));
  co_return *version;
}

}  // namespace weir::flow::view::internal
