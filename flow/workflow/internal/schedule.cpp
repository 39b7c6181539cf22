#include <weir/flow/workflow/internal/schedule.hpp>

#include <algorithm>

namespace weir::flow::workflow::internal {
namespace {

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

bool has_all(const std::vector<std::string>& capabilities, const std::vector<std::string>& needed) {
  return std::ranges::all_of(
      needed, [&](const std::string& capability) { return contains(capabilities, capability); });
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

Duration Schedule::pause_before(Time::duration away) {
  constexpr Time::duration longest = std::chrono::years(100);
  return std::clamp(away, Time::duration::zero(), longest);
}

template <class Change>
void Schedule::with_head(LaneQueues& lane, Queues::iterator at, Change change) {
  Queue& queue = at->second;
  const auto head = [&]() -> std::optional<Place> {
    if (!queue.parked_under.empty() || queue.places.empty()) return std::nullopt;
    return *queue.places.begin();
  };
  const auto ready = [&] { return queue.parked_under.empty() ? queue.places.size() : 0; };
  const auto before = head();
  lane.ready -= ready();
  change(queue);
  lane.ready += ready();
  const auto after = head();
  if (before == after) return;
  if (before && after) {
    auto listed = lane.heads.extract(*before);
    listed.key() = *after;
    lane.heads.insert(std::move(listed));
  } else if (before) {
    lane.heads.erase(*before);
  } else {
    lane.heads.insert({*after, at});
  }
}

void Schedule::add(const Execution& execution, LaneQueues& lane, const Place& place) {
  auto at = lane.queues.find(execution);
  if (at == lane.queues.end()) {
    Kind kind{execution.space, execution.capabilities, execution.limit_keys};
    at = lane.queues.try_emplace(std::move(kind)).first;
  }
  with_head(lane, at, [&](Queue& queue) { queue.places.insert(place); });
}

void Schedule::remove(const Execution& execution, LaneQueues& lane, const Place& place) {
  const auto at = lane.queues.find(execution);
  if (at == lane.queues.end()) return;
  with_head(lane, at, [&](Queue& queue) { queue.places.erase(place); });
  if (!at->second.places.empty()) return;
  if (const auto parked = parked_.find(at->second.parked_under); parked != parked_.end()) {
    parked->second.erase({execution.lane, at->first});
    if (parked->second.empty()) parked_.erase(parked);
  }
  lane.queues.erase(at);
}

void Schedule::count(const Execution& execution, LaneQueues& lane, bool comes) {
  if (execution.has_ended()) return;
  const PublicState state = execution.public_state();
  const std::uint64_t change = comes ? 1 : ~std::uint64_t{0};
  lane.counts[state] += change;
  totals_[state] += change;
}

bool Schedule::update(const ExecutionId& id, const Execution* before, const Execution* after) {
  const auto place = [&](const Execution& execution) {
    return Place{-execution.priority, execution.eligible_at, id};
  };
  const bool was_ready = before != nullptr && is_ready(*before);
  const bool becomes_ready = after != nullptr && is_ready(*after);
  if (before != nullptr) {
    LaneQueues& lane = lanes_[before->lane];
    count(*before, lane, false);
    if (was_ready) remove(*before, lane, place(*before));
  }
  if (after != nullptr) {
    LaneQueues& lane = lanes_[after->lane];
    count(*after, lane, true);
    if (becomes_ready) add(*after, lane, place(*after));
  }
  const auto due_before = before != nullptr ? due_of(*before) : std::nullopt;
  const auto due_after = after != nullptr ? due_of(*after) : std::nullopt;
  if (due_before != due_after) {
    if (due_before) due_.erase({*due_before, id});
    if (due_after) due_.insert({*due_after, id});
  }
  return becomes_ready && !was_ready;
}

void Schedule::set_aside(const ExecutionId& id, const Execution& execution) {
  if (is_ready(execution)) {
    remove(execution, lanes_[execution.lane], {-execution.priority, execution.eligible_at, id});
  }
  if (const auto due = due_of(execution)) due_.erase({*due, id});
}

std::optional<ExecutionId> Schedule::next_ready(const ClaimRequest& request) const {
  const auto found = lanes_.find(request.lane);
  if (found == lanes_.end()) return std::nullopt;
  for (const auto& [place, queue] : found->second.heads) {
    const Kind& kind = queue->first;
    if (!request.spaces.empty() && !contains(request.spaces, kind.space)) continue;
    if (has_all(request.capabilities, kind.capabilities)) return place.id;
  }
  return std::nullopt;
}

std::size_t Schedule::ready(const std::string& lane) const {
  const auto found = lanes_.find(lane);
  return found != lanes_.end() ? found->second.ready : 0;
}

void Schedule::park(const std::string& lane, const ExecutionId& first, const Admission& refused) {
  LaneQueues& queues = lanes_[lane];
  const auto head = std::ranges::find_if(
      queues.heads, [&](const auto& listed) { return listed.first.id == first; });
  if (head == queues.heads.end()) return;
  const Queues::iterator at = head->second;
  with_head(queues, at, [&](Queue& queue) { queue.parked_under = refused.key; });
  parked_[refused.key].insert({lane, at->first});
  if (refused.until) wakes_.insert({*refused.until, {true, refused.key}});
}

std::vector<std::string> Schedule::unpark(const std::string& key) {
  std::vector<std::string> lanes;
  const auto parked = parked_.find(key);
  if (parked == parked_.end()) return lanes;
  for (const auto& [name, kind] : parked->second) {
    LaneQueues& lane = lanes_[name];
    const auto at = lane.queues.find(kind);
    if (at == lane.queues.end()) continue;
    with_head(lane, at, [](Queue& queue) { queue.parked_under.clear(); });
    lanes.push_back(name);
  }
  parked_.erase(parked);
  return lanes;
}

std::vector<std::string> Schedule::unpark_all() {
  std::vector<std::string> lanes;
  while (!parked_.empty()) {
    const std::string key = parked_.begin()->first;
    const auto more = unpark(key);
    lanes.insert(lanes.end(), more.begin(), more.end());
  }
  return lanes;
}

std::vector<std::string> Schedule::take_wakes(Time now) {
  std::vector<std::string> lanes;
  while (!wakes_.empty() && wakes_.begin()->first <= now) {
    const auto [is_limit, name] = wakes_.begin()->second;
    wakes_.erase(wakes_.begin());
    if (!is_limit) {
      lanes.push_back(name);
      continue;
    }
    const auto more = unpark(name);
    lanes.insert(lanes.end(), more.begin(), more.end());
  }
  return lanes;
}

std::optional<Time> Schedule::next_due() const {
  std::optional<Time> due;
  if (!due_.empty()) due = due_.begin()->first;
  if (!wakes_.empty()) {
    const Time wake = wakes_.begin()->first;
    due = due ? std::min(*due, wake) : wake;
  }
  return due;
}

std::vector<ExecutionId> Schedule::due(Time now, std::size_t executions_max) const {
  std::vector<ExecutionId> found;
  for (const auto& [time, id] : due_) {
    if (time > now || found.size() >= executions_max) break;
    found.push_back(id);
  }
  return found;
}

std::vector<WaitingSeen> Schedule::waiting(const std::string& lane,
                                           std::size_t executions_max) const {
  std::vector<WaitingSeen> found;
  const auto queues = lanes_.find(lane);
  if (queues == lanes_.end()) return found;
  std::set<std::pair<bool, Place>> order;
  for (const auto& [kind, queue] : queues->second.queues) {
    std::size_t left = executions_max;
    for (const Place& place : queue.places) {
      if (left-- == 0) break;
      order.insert({!queue.parked_under.empty(), place});
      if (order.size() > executions_max) order.erase(std::prev(order.end()));
    }
  }
  for (const auto& [is_parked, place] : order) found.push_back({place.id, place.since});
  return found;
}

StateCounts Schedule::counts(const std::string& lane) const {
  const auto found = lanes_.find(lane);
  return found != lanes_.end() ? found->second.counts : StateCounts();
}

}  // namespace weir::flow::workflow::internal
