#include <weir/flow/workflow/listing.hpp>

#include <algorithm>

#include <weir/flow/workflow/errc.hpp>

namespace weir::flow::workflow {

bool ExecutionFilter::admits(const Execution& execution) const {
  if (!states.empty() && std::ranges::find(states, execution.public_state()) == states.end()) {
    return false;
  }
  if (space && execution.space != *space) return false;
  if (lane && execution.lane != *lane) return false;
  if (workflow && execution.workflow != *workflow) return false;
  return std::ranges::all_of(tags, [&](const auto& tag) {
    const auto found = execution.tags.find(tag.first);
    return found != execution.tags.end() && found->second == tag.second;
  });
}

Result<> validate(const AuditSchedule& schedule) {
  if (schedule.period && *schedule.period <= Duration::zero()) {
    return Error(Errc::invalid_argument, "AuditSchedule::period must be positive");
  }
  if (schedule.workflows_max == 0) {
    return Error(Errc::invalid_argument, "AuditSchedule::workflows_max must be positive");
  }
  return {};
}

bool ExecutionFilter::is_of_live() const {
  return !states.empty() && std::ranges::none_of(states, is_terminal);
}

}  // namespace weir::flow::workflow
