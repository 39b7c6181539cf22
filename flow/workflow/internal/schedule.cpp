#include <weir/flow/workflow/internal/schedule.hpp>

#include <algorithm>

namespace weir::flow::workflow::internal {
namespace {

bool has_all(const std::vector<std::string>& capabilities, const std::vector<std::string>& needed) {
  return std::ranges::all_of(needed, [&](const std::string& capability) {
    return std::ranges::find(capabilities, capability) != capabilities.end();
  });
}

}  // namespace

bool Schedule::is_ready(const Execution& execution) {
  if (execution.state.phase == Phase::active) {
    return execution.state.ownership != Ownership::leased;
  }
  return execution.state.eligibility == Eligibility::eligible_now;
}

std::optional<Time> Schedule::due_of(const Execution& execution) {
  if (execution.has_ended()) return std::nullopt;
  std::optional<Time> due = execution.deadline;
  const auto or_earlier = [&](Time time) { due = due ? std::min(*due, time) : time; };
  if (execution.lease) or_earlier(execution.lease->expires_at);
  if (execution.attempt_deadline) or_earlier(*execution.attempt_deadline);
  if (execution.suspended_until) or_earlier(*execution.suspended_until);
  if (execution.state.eligibility == Eligibility::not_eligible_until_time) {
    or_earlier(execution.eligible_at);
  }
  return due;
}

bool Schedule::update(const ExecutionId& id, const Execution* before, const Execution* after) {
  const auto place = [&](const Execution& execution) {
    return Place{-execution.priority, execution.eligible_at, id};
  };
  const bool was_ready = before != nullptr && is_ready(*before);
  const bool becomes_ready = after != nullptr && is_ready(*after);
  if (was_ready) {
    auto& queues = ready_[before->lane];
    const auto queue = queues.find(before->capabilities);
    if (queue != queues.end()) {
      queue->second.erase(place(*before));
      if (queue->second.empty()) queues.erase(queue);
    }
  }
  if (becomes_ready) {
    ready_[after->lane][after->capabilities].insert(place(*after));
  }
  const auto due_before = before != nullptr ? due_of(*before) : std::nullopt;
  const auto due_after = after != nullptr ? due_of(*after) : std::nullopt;
  if (due_before != due_after) {
    if (due_before) due_.erase({*due_before, id});
    if (due_after) due_.insert({*due_after, id});
  }
  return becomes_ready && !was_ready;
}

std::optional<ExecutionId> Schedule::next_ready(
    const std::string& lane, const std::vector<std::string>& capabilities) const {
  const auto queues = ready_.find(lane);
  if (queues == ready_.end()) return std::nullopt;
  const Place* next = nullptr;
  for (const auto& [needed, queue] : queues->second) {
    if (!has_all(capabilities, needed)) continue;
    const Place& first = *queue.begin();
    if (next == nullptr || first < *next) next = &first;
  }
  if (next == nullptr) return std::nullopt;
  return next->id;
}

std::size_t Schedule::ready(const std::string& lane) const {
  const auto queues = ready_.find(lane);
  if (queues == ready_.end()) return 0;
  std::size_t count = 0;
  for (const auto& [needed, queue] : queues->second) count += queue.size();
  return count;
}

std::optional<Time> Schedule::next_due() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

std::vector<ExecutionId> Schedule::due(Time now, std::size_t executions_max) const {
  std::vector<ExecutionId> found;
  for (const auto& [time, id] : due_) {
    if (time > now || found.size() >= executions_max) break;
    found.push_back(id);
  }
  return found;
}

}  // namespace weir::flow::workflow::internal
