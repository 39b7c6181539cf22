#include <weir/tests/flow/workflow/support/model.hpp>

#include <algorithm>

namespace weir::flow::workflow::testing {

std::size_t Model::add_node(EdgePolicy policy, bool is_later) {
  nodes_.push_back({.policy = policy, .is_later = is_later});
  return nodes_.size() - 1;
}

void Model::apply(const std::vector<std::size_t>& nodes) {
  for (const std::size_t i : nodes) {
    Node& node = nodes_[i];
    if (node.is_submitted) {
      node.is_submitted = false;
      node.state = count_links(i) > 0 ? PublicState::waiting_children
                   : node.is_later    ? PublicState::delayed
                                      : PublicState::waiting;
    }
    for (Link& link : links_) link.is_applied = link.is_applied || link.to == i;
  }
  settle();
}

void Model::claim(std::size_t node) {
  nodes_[node].state = PublicState::active;
  nodes_[node].is_leased = true;
  ++nodes_[node].attempts;
}

void Model::give_back(std::size_t node, bool is_later) {
  nodes_[node].is_leased = false;
  nodes_[node].state = is_later ? PublicState::delayed : PublicState::waiting;
}

void Model::come_due(std::size_t node) { nodes_[node].state = PublicState::waiting; }

void Model::end_alone(std::size_t i, PublicState as) {
  Node& node = nodes_[i];
  node.state = as;
  node.is_submitted = false;
  node.is_leased = false;
  node.mailbox.clear();
  ++node.ends;
  const bool has_group = count_links(i) > 0 || node.policy != EdgePolicy();
  if (has_group && node.group == EdgeState::pending) node.group = EdgeState::cancelled;
  const bool is_failure = as == PublicState::failed || as == PublicState::expired;
  if (is_failure && on_failure_ == FailurePolicy::fail_fast && state_ == WorkflowState::open) {
    state_ = WorkflowState::failed;
    cancelling_ = CancelPolicy::cancel_all;
  }
}

void Model::end(std::size_t node, PublicState as) {
  end_alone(node, as);
  settle();
}

void Model::replay(std::size_t node) {
  nodes_[node].state = PublicState::waiting;
  nodes_[node].is_sibling = false;
  state_ = WorkflowState::open;
}

void Model::cancel_workflow(CancelPolicy policy) {
  if (state_ != WorkflowState::open) return;
  state_ = WorkflowState::cancelled;
  if (policy != CancelPolicy::cancel_workflow_only) cancelling_ = policy;
}

std::vector<std::size_t> Model::cancel_members(const std::vector<std::size_t>& members,
                                               bool is_last) {
  std::vector<std::size_t> cancelled;
  for (const std::size_t i : members) {
    if (!is_concerned(i)) continue;
    end_alone(i, PublicState::cancelled);
    cancelled.push_back(i);
  }
  settle();
  if (is_last) cancelling_.reset();
  return cancelled;
}

std::vector<std::size_t> Model::cancel_siblings(std::size_t node,
                                                const std::vector<std::size_t>& siblings) {
  std::vector<std::size_t> cancelled;
  for (const std::size_t i : siblings) {
    nodes_[node].remaining.erase(i);
    if (has_ended(i) || !is_awaited(i, node) || is_needed_beside(i, node)) continue;
    end_alone(i, PublicState::cancelled);
    nodes_[i].is_sibling = true;
    cancelled.push_back(i);
  }
  settle();
  return cancelled;
}

bool Model::is_claimable(std::size_t i) const {
  const bool is_ready = nodes_[i].state == PublicState::waiting && !nodes_[i].is_submitted;
  const bool is_lost = nodes_[i].state == PublicState::active && !nodes_[i].is_leased;
  return is_ready || is_lost;
}

bool Model::is_concerned(std::size_t i) const {
  if (!cancelling_ || has_ended(i)) return false;
  return *cancelling_ == CancelPolicy::cancel_all || nodes_[i].attempts == 0;
}

bool Model::may_replay(std::size_t i) const {
  const Node& node = nodes_[i];
  std::size_t succeeded = 0;
  for (const Link& link : links_) {
    const bool has_succeeded = nodes_[link.from].state == PublicState::completed;
    succeeded += link.to == i && has_succeeded ? 1 : 0;
  }
  const std::size_t needed = node.policy.kind == EdgePolicy::Kind::all_of   ? count_links(i)
                             : node.policy.kind == EdgePolicy::Kind::any_of ? 1
                                                                            : node.policy.k;
  return count_links(i) == 0 || node.group == EdgeState::satisfied || succeeded >= needed;
}

bool Model::is_needed_beside(std::size_t i, std::size_t by_no_longer) const {
  return std::ranges::any_of(links_, [&](const Link& link) {
    return link.from == i && link.to != by_no_longer && nodes_[link.to].group == EdgeState::pending;
  });
}

bool Model::is_awaited(std::size_t i, std::size_t by) const {
  return std::ranges::any_of(links_, [&](const Link& link) {
    return link.from == i && link.to == by && link.is_applied && link.state == EdgeState::pending;
  });
}

std::size_t Model::count(PublicState state) const {
  return static_cast<std::size_t>(std::ranges::count(nodes_, state, &Node::state));
}

std::size_t Model::count_links(std::size_t to, EdgeState state,
                               std::optional<bool> was_skipped) const {
  return static_cast<std::size_t>(std::ranges::count_if(links_, [&](const Link& link) {
    return link.to == to && link.state == state &&
           (!was_skipped || link.was_skipped == *was_skipped);
  }));
}

std::size_t Model::count_links(std::size_t to) const {
  return static_cast<std::size_t>(std::ranges::count(links_, to, &Link::to));
}

bool Model::settle_link(Link& link) {
  if (!link.is_applied || link.state != EdgeState::pending || !has_ended(link.from)) return false;
  const PublicState ended = nodes_[link.from].state;
  link.state = ended == PublicState::completed ? EdgeState::satisfied : EdgeState::impossible;
  link.was_skipped = ended == PublicState::skipped;
  return true;
}

bool Model::settle_group(std::size_t i) {
  Node& node = nodes_[i];
  const std::size_t edges = count_links(i);
  if (node.group != EdgeState::pending || edges == 0) return false;
  const std::size_t succeeded = count_links(i, EdgeState::satisfied, {});
  const std::size_t possible = edges - count_links(i, EdgeState::impossible, {});
  const std::size_t needed = node.policy.kind == EdgePolicy::Kind::all_of   ? edges
                             : node.policy.kind == EdgePolicy::Kind::any_of ? 1
                                                                            : node.policy.k;
  if (needed > edges) return false;
  if (succeeded >= needed) {
    node.group = EdgeState::satisfied;
  } else if (possible < needed) {
    node.group = EdgeState::impossible;
  } else {
    return false;
  }
  if (node.state != PublicState::waiting_children) return true;
  if (node.group == EdgeState::satisfied) {
    node.state = node.is_later ? PublicState::delayed : PublicState::waiting;
  } else if (!is_concerned(i)) {
    end_alone(i, PublicState::skipped);
  }
  return true;
}

void Model::settle() {
  std::set<std::size_t> fired;
  bool is_settled = false;
  while (!is_settled) {
    is_settled = true;
    for (Link& link : links_) is_settled = !settle_link(link) && is_settled;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!settle_group(i)) continue;
      is_settled = false;
      fired.insert(i);
    }
  }
  for (const std::size_t i : fired) {
    const bool cancels = nodes_[i].policy.kind != EdgePolicy::Kind::all_of &&
                         nodes_[i].policy.on_satisfied == OnSatisfied::cancel_remaining;
    for (const Link& link : links_) {
      const bool is_open = link.is_applied && link.state == EdgeState::pending;
      if (cancels && link.to == i && is_open) nodes_[i].remaining.insert(link.from);
    }
  }
  settle_workflow();
}

void Model::settle_workflow() {
  if (state_ != WorkflowState::open || nodes_.empty()) return;
  bool has_failed = false;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!has_ended(i)) return;
    const PublicState state = nodes_[i].state;
    has_failed = has_failed || state == PublicState::failed || state == PublicState::expired ||
                 (state == PublicState::cancelled && !nodes_[i].is_sibling);
  }
  const bool fails = has_failed && on_failure_ != FailurePolicy::collect;
  state_ = fails ? WorkflowState::failed : WorkflowState::completed;
}

}  // namespace weir::flow::workflow::testing
