#include <weir/flow/workflow/postgres/internal/job.hpp>

#include <algorithm>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/commands.hpp>
#include <weir/flow/workflow/internal/limits.hpp>
#include <weir/flow/workflow/internal/schedule.hpp>

namespace weir::flow::workflow::postgres::internal {
namespace {

void note(const Missing& from, Missing& to) {
  from.each([&](const auto& list) {
    using Record = typename std::remove_cvref_t<decltype(list)>::Record;
    for (const auto& key : list.keys) to.add<Record>(key);
  });
}

/// Of one execution, and not of who asks.
bool is_broken(const Error& error) { return error == Errc::corruption || error == Errc::not_found; }
/// Whoever is offered instead is refused as well.
bool is_of_request(const Error& error) { return error != Errc::wrong_state && !is_broken(error); }

}  // namespace

void CommandJob::look(const WorkingSet& records, Time about_now, Missing& missing) {
  Draft draft(records, about_now, seed_);
  command_->run(draft);
  note(draft.missing(), missing);
}

bool CommandJob::run(WorkingSet& records, Time now, Missing& missing) {
  Draft draft(records, now, seed_);
  const bool is_kept = command_->run(draft);
  if (!draft.missing().is_empty()) {
    note(draft.missing(), missing);
    return false;
  }
  if (is_kept) draft.apply(records);
  return true;
}

void ClaimJob::look(const WorkingSet&, Time, Missing&) {}

bool ClaimJob::run(WorkingSet& records, Time now, Missing& missing) {
  bool is_done = true;
  for (Candidate& candidate : candidates_) {
    if (candidate.is_tried) continue;
    if (claimed() >= request_.executions_max) {
      candidate.is_tried = true;
      continue;
    }
    Draft draft(records, now, seed_ + candidate.id.uuid.bytes[15]);
    auto outcome = workflow::internal::claim(draft, candidate.id, request_);
    if (!draft.missing().is_empty()) {
      note(draft.missing(), missing);
      is_done = false;
      continue;
    }
    candidate.is_tried = true;
    if (!outcome) {
      candidate.refusal = outcome.error();
      continue;
    }
    draft.apply(records);
    candidate.claimed = *std::move(outcome);
    if (!candidate.claimed) note_refusal(records, now, candidate.id);
  }
  return is_done;
}

void ClaimJob::note_refusal(const WorkingSet& records, Time now, const ExecutionId& id) {
  Draft draft(records, now, seed_);
  const Execution* execution = draft.find<Execution>(id);
  if (execution == nullptr || execution->has_ended()) return;
  const Admission admission = workflow::internal::admission_of(draft, *execution);
  if (!admission.is_given() && !admission.key.empty()) closed_keys_.insert(admission.key);
  if (!admission.until || *admission.until <= now) return;
  const Duration wait = workflow::internal::Schedule::pause_before(*admission.until - now);
  wait_ = wait_ ? std::min(*wait_, wait) : wait;
}

std::vector<ExecutionId> ClaimJob::untried() const {
  std::vector<ExecutionId> untried;
  for (const Candidate& candidate : candidates_) {
    if (!candidate.is_tried) untried.push_back(candidate.id);
  }
  return untried;
}

Missing ClaimJob::missing_for(const ExecutionId& id, const WorkingSet& records, Time now) const {
  Draft draft(records, now, seed_);
  static_cast<void>(workflow::internal::claim(draft, id, request_));
  Missing missing;
  note(draft.missing(), missing);
  return missing;
}

std::size_t ClaimJob::claimed() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      candidates_, [](const Candidate& candidate) { return candidate.claimed.has_value(); }));
}

std::size_t ClaimJob::wanted() const {
  std::size_t wanted = request_.executions_max;
  for (const Candidate& candidate : candidates_) {
    // One that is refused for good is refused whoever is offered instead.
    if (candidate.refusal && is_of_request(*candidate.refusal)) return 0;
    if (wanted > 0 && (!candidate.is_tried || candidate.claimed)) --wanted;
  }
  return wanted;
}

std::vector<std::pair<ExecutionId, Error>> ClaimJob::broken() const {
  std::vector<std::pair<ExecutionId, Error>> found;
  for (const Candidate& candidate : candidates_) {
    if (candidate.refusal && is_broken(*candidate.refusal)) {
      found.emplace_back(candidate.id, *candidate.refusal);
    }
  }
  return found;
}

Result<std::vector<Claimed>> ClaimJob::take() {
  std::vector<Claimed> taken;
  for (Candidate& candidate : candidates_) {
    if (candidate.claimed) taken.push_back(*std::move(candidate.claimed));
  }
  if (!taken.empty()) return taken;
  for (const Candidate& candidate : candidates_) {
    if (candidate.refusal && is_of_request(*candidate.refusal)) return *candidate.refusal;
  }
  return taken;
}

}  // namespace weir::flow::workflow::postgres::internal
