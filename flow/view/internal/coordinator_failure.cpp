// What becomes of flows that fail: they stay behind, are tried again, and are quarantined.

#include <algorithm>
#include <string>
#include <utility>

#include <weir/flow/view/errc.hpp>
#include <weir/flow/view/internal/coordinator.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::view::internal {

/// Those that had failed try again, and so do those that could not be made and now can; whoever
/// reads one that does not move stays behind with it.
Task<Result<>> Coordinator::recover() {
  Cycle cycle{.position = position_};
  for (auto& [id, flow] : flows_) {
    const Progress& progress = flow.progress;
    if (progress.phase == ViewPhase::quarantined && !flow.is_placed) hold_readers(cycle, id);
    const bool lacks_source =
        std::ranges::any_of(flow.definition->sources(),
                            [this](const SourceEntry& source) { return is_lost(source.relation); });
    const bool could_not_be_made = progress.phase == ViewPhase::quarantined &&
                                   progress.failed_in == FailedWork::none && !lacks_source;
    if (!flow.is_placed || (progress.phase != ViewPhase::failing && !could_not_be_made)) continue;
    Progress again = progress;
    again.phase = ViewPhase::catching_up;
    if (could_not_be_made) again.forget_failure();
    cycle.progress.insert_or_assign(id, std::move(again));
  }
  if (!cycle.progress.empty()) co_return co_await commit_progress(std::move(cycle));
  co_return {};
}

void Coordinator::note_outcomes(Cycle& cycle, std::vector<FlowOutcome>& outcomes) {
  if (cycle.work == FailedWork::rows) size_pieces(cycle, outcomes);
  for (const FlowOutcome& outcome : outcomes) {
    const Progress& known = flows_.at(outcome.flow).progress;
    if (outcome.result) {
      // What failed before has succeeded: of changes, the cursor tells.
      const bool did_it = known.failed_in == cycle.work &&
                          (cycle.work == FailedWork::rows || cycle.ticks.contains(outcome.flow));
      if (did_it) cycle.progress.try_emplace(outcome.flow, known).first->second.forget_failure();
      continue;
    }
    // One whose source failed waits for that one.
    if (outcome.result.error() == weir::Errc::cancelled) continue;
    if (!skip(cycle, outcome.flow)) fail(cycle, outcome.flow, outcome.result.error());
  }
}

void Coordinator::fail(Cycle& cycle, std::uint64_t id, const Error& error) {
  Progress failed = flows_.at(id).progress;
  ++failed.failures;
  ++flows_.at(id).counts.failures;
  failed.phase =
      failed.failures >= options_.failures_max ? ViewPhase::quarantined : ViewPhase::failing;
  failed.failed_in = FailedWork::changes;
  if (cycle.ticks.contains(id)) failed.failed_in = FailedWork::tick;
  if (cycle.work == FailedWork::rows && !failed.has_all_rows()) failed.failed_in = FailedWork::rows;
  const auto missed = cycle.missed.find(id);
  failed.failed_until =
      missed == cycle.missed.end() ? cycle.position.number : missed->second.second;
  failed.error = error.message() + ", in " + describe_input(cycle, id, failed);
  if (!failed.behind) failed.behind = here();
  if (failed.phase == ViewPhase::failing) retry_later(id, failed.failures);
  cycle.progress.insert_or_assign(id, std::move(failed));
  hold_readers(cycle, id);
}

/// What a commit did to a relation cannot be read: whoever reads that cannot go on.
void Coordinator::fail_readers(Cycle& cycle, std::uint64_t relation, const Error& error) {
  const auto readers = readers_.find(relation);
  if (readers == readers_.end()) return;
  for (const std::uint64_t reader : readers->second)
    if (flows_.at(reader).is_running() && !cycle.holds(reader)) fail(cycle, reader, error);
}

std::string Coordinator::describe_input(const Cycle& cycle, std::uint64_t id,
                                        const Progress& failed) {
  const std::string version = " version " + std::to_string(failed.failed_until);
  if (failed.failed_in == FailedWork::rows)
    return "rows that were there before it, as of" + version;
  const auto missed = cycle.missed.find(id);
  const bool is_one =
      missed != cycle.missed.end() && missed->second.second == missed->second.first + 1;
  return (is_one ? "the input of" : "the input up to") + version;
}

/// Whether the flow was told to leave out what it has just failed with.
bool Coordinator::skip(Cycle& cycle, std::uint64_t id) {
  const auto missed = cycle.missed.find(id);
  if (!flows_.at(id).progress.skips_next || missed == cycle.missed.end()) return false;
  Progress& progress = cycle.progress.at(id);  // behind that version
  progress.skips_next = false;
  ++progress.skipped;
  progress.skipped_version = missed->second.second;
  progress.forget_failure();
  // Its worker has not run them.
  hold_readers(cycle, id);
  return true;
}

void Coordinator::retry_later(std::uint64_t id, unsigned failures) {
  const unsigned doublings = std::min(failures - 1, 20u);
  schedule_once<RetryFlow>(options_.retry_backoff * (1u << doublings), id);
}

Task<> Coordinator::on(RetryFlow retry) {
  const auto at = flows_.find(retry.flow);
  const bool is_failing = at != flows_.end() && at->second.progress.phase == ViewPhase::failing;
  if (is_failing && !is_closing_) static_cast<void>(fails(co_await try_again(retry.flow)));
}

/// Whether its worker has the flow, and whether others can be given to that.
void Coordinator::note_answer(FlowEntry& flow, const Result<FlowTraits>& placed) {
  flow.is_placed = placed.has_value();
  if (placed) flow.traits = *placed;
  if (!placed && placed.error() == weir::Errc::timed_out) {
    late_workers_.insert(flow.worker);
  } else {
    late_workers_.erase(flow.worker);
  }
}

/// Makes the flow again from its state, as nobody knows what its operators are like now, and lets
/// it take the input that it failed with.
Task<Result<>> Coordinator::try_again(std::uint64_t id) {
  FlowEntry& flow = flows_.at(id);
  const auto placed =
      co_await pool_.ask<PlaceFlow>(flow.worker, flow.definition, false).within(forever);
  note_answer(flow, placed);
  if (!placed) co_return co_await fail_to_place(id, placed.error());
  flow.progress.phase = ViewPhase::catching_up;
  publish_with_readers(id);
  board_->publish();
  static_cast<void>(self().send<Wake>());
  co_return {};
}

/// One whose worker is still busy with something else is tried again, as after any failure.
Task<Result<>> Coordinator::fail_to_place(std::uint64_t id, const Error& error) {
  if (error != weir::Errc::timed_out) co_return co_await quarantine(id, error.message());
  // Nobody needs its worker before its rows have gone: then it is placed anew.
  if (flows_.at(id).progress.is_wiping) co_return {};
  Cycle cycle{.position = position_};
  Progress failed = flows_.at(id).progress;
  ++failed.failures;
  ++flows_.at(id).counts.failures;
  failed.phase =
      failed.failures >= options_.failures_max ? ViewPhase::quarantined : ViewPhase::failing;
  if (failed.error.empty()) failed.error = "its worker does not answer: " + error.message();
  if (!failed.behind) failed.behind = here();
  // Not before it is asked again.
  if (failed.phase == ViewPhase::failing) schedule_once<RetryFlow>(2 * late_time, id);
  cycle.progress.insert_or_assign(id, std::move(failed));
  hold_readers(cycle, id);
  co_return co_await commit_progress(std::move(cycle));
}

Task<Result<bool>> Coordinator::on(ResumeFlow resume) {
  const auto at = flows_.find(resume.flow);
  if (at == flows_.end())
    co_return Error(Errc::unknown_relation, "view number " + std::to_string(resume.flow));
  Progress progress = at->second.progress;
  const std::string& name = relations_.at(resume.flow)->entry.name;
  const bool has_failed =
      progress.phase == ViewPhase::failing || progress.phase == ViewPhase::quarantined;
  if (!has_failed) {
    const std::uint64_t other = waits_for(resume.flow);
    if (other != resume.flow) {
      co_return Error(Errc::invalid_argument, "view '" + name + "' waits for '" +
                                                  relations_.at(other)->entry.name +
                                                  "': resume that one");
    }
    if (resume.skips) co_return Error(Errc::invalid_argument, "view '" + name + "' has not failed");
    co_return true;
  }
  if (resume.skips && progress.failed_in != FailedWork::changes) {
    co_return Error(Errc::invalid_argument, "view '" + name +
                                                "' did not fail with a change: there is no version "
                                                "to leave out");
  }
  progress.skips_next = resume.skips;
  progress.failures = 0;
  progress.phase = ViewPhase::failing;
  Cycle cycle{.position = position_};
  cycle.progress.insert_or_assign(resume.flow, std::move(progress));
  WEIR_CO_TRY_VOID(co_await commit_progress(std::move(cycle)));
  WEIR_CO_TRY_VOID(co_await try_again(resume.flow));
  co_return true;
}

/// A flow that cannot be made, for instance since its operator is not registered.
Task<Result<>> Coordinator::quarantine(std::uint64_t id, std::string error) {
  Cycle cycle{.position = position_};
  Progress progress = flows_.at(id).progress;
  progress.phase = ViewPhase::quarantined;
  progress.forget_failure();
  progress.error = std::move(error);
  if (!progress.behind && !progress.is_wiping) progress.behind = here();
  cycle.progress.insert_or_assign(id, std::move(progress));
  hold_readers(cycle, id);
  co_return co_await commit_progress(std::move(cycle));
}

/// Whoever reads a view that does not move cannot move either.
void Coordinator::hold_readers(Cycle& cycle, std::uint64_t id) {
  visit_readers(readers_, id, [&](std::uint64_t reader) {
    const auto changed = cycle.progress.find(reader);
    const bool has_failed_too = changed != cycle.progress.end() && changed->second.behind;
    Progress held = has_failed_too ? changed->second : flows_.at(reader).progress;
    // One that begins anew takes what there is then.
    if (held.is_wiping) return false;
    if (!held.behind) held.behind = here();
    if (held.phase == ViewPhase::live || held.phase == ViewPhase::backfilling)
      held.phase = ViewPhase::catching_up;
    cycle.progress.insert_or_assign(reader, std::move(held));
    return true;
  });
}

/// Where flows are that have taken part in every commit of the coordinator so far.
LogCursor Coordinator::here() const { return {position_.number, store_->version().number}; }

std::uint64_t Coordinator::waits_for(std::uint64_t id) const {
  for (const SourceEntry& source : flows_.at(id).definition->sources()) {
    const auto flow = flows_.find(source.relation);
    if (flow != flows_.end() && !flow->second.is_running()) return waits_for(source.relation);
  }
  return id;
}

}  // namespace weir::flow::view::internal
