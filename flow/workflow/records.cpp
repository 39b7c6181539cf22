#include <weir/flow/workflow/records.hpp>

#include <numeric>

namespace weir::flow::workflow {

std::uint64_t StateCounts::total() const {
  return std::accumulate(by_state.begin(), by_state.end(), std::uint64_t{0});
}

std::uint64_t StateCounts::terminal() const {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < by_state.size(); ++i) {
    if (is_terminal(static_cast<PublicState>(i + 1))) count += by_state[i];
  }
  return count;
}

WorkflowProgress Workflow::progress() const {
  switch (state) {
    case WorkflowState::completed: return WorkflowProgress::completed;
    case WorkflowState::failed: return WorkflowProgress::failed;
    case WorkflowState::cancelled: return WorkflowProgress::cancelled;
    case WorkflowState::open: break;
  }
  if (counts[PublicState::active] > 0) return WorkflowProgress::running;
  const std::uint64_t waiting = counts[PublicState::suspended] + counts[PublicState::delayed] +
                                counts[PublicState::rate_limited] +
                                counts[PublicState::waiting_children];
  return waiting > 0 ? WorkflowProgress::blocked : WorkflowProgress::open;
}

}  // namespace weir::flow::workflow
