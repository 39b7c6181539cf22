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

}  // namespace weir::flow::workflow
