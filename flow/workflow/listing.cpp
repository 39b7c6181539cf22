#include <weir/flow/workflow/listing.hpp>

#include <algorithm>

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

bool ExecutionFilter::is_of_live() const {
  return !states.empty() && std::ranges::none_of(states, is_terminal);
}

}  // namespace weir::flow::workflow
