#include <algorithm>

#include <weir/tests/flow/workflow/support/random_run.hpp>

// Which of its steps a random run takes, and what is compared after each.
namespace weir::flow::workflow::testing {
namespace {

template <class Expected, class Actual>
std::string differs(const std::string& what, const Expected& expected, const Actual& actual) {
  if (expected == actual) return "";
  return what + " is " + std::to_string(actual) + " instead of " + std::to_string(expected) + "\n";
}

template <Worded E>
std::string differs(const std::string& what, E expected, E actual) {
  if (expected == actual) return "";
  return what + " is " + std::string(to_string(actual)) + " instead of " +
         std::string(to_string(expected)) + "\n";
}

std::size_t mailbox_size(const CommandBoard& board, const ExecutionId& id) {
  const Mailbox* mailbox = board.find<Mailbox>(id);
  return mailbox != nullptr ? mailbox->entries.size() : 0;
}

}  // namespace

std::string RandomRun::step() {
  const std::string problem = act();
  return problem.empty() ? check() : problem;
}

std::string RandomRun::act() {
  const auto leased = all_of([&](std::size_t i) { return model_.nodes()[i].is_leased; });
  switch (below(18)) {
    case 16:
    case 17: return act_on_signals();
    case 0: return act_on_graph();
    case 1: return end_something();
    case 2: return with_one(leased, [&](std::size_t i) { return delay(i); });
    case 3: return with_one(leased, [&](std::size_t i) { return revoke(i); });
    case 4: return ids_.empty() ? "" : try_to_claim(below(ids_.size()));
    case 5:
    case 6: return with_one(leased, [&](std::size_t i) { return fail(i); });
    case 7:
    case 8:
    case 9: return with_one(leased, [&](std::size_t i) { return complete(i); });
    default: return go_on();
  }
}

std::string RandomRun::act_on_graph() {
  const auto may_get_links = all_of([&](std::size_t i) {
    const Model::Node& node = model_.nodes()[i];
    const bool waits = node.is_submitted || node.state == PublicState::waiting_children;
    return i > 0 && waits && node.group == EdgeState::pending;
  });
  switch (below(5)) {
    case 0: return one_in(2) ? add_node() : "";
    case 1:
      if (model_.state() != WorkflowState::open) return "";
      return with_one(may_get_links, [&](std::size_t i) { return add_late_link(i); });
    default: return apply(all_of([&](std::size_t) { return one_in(2); }));
  }
}

std::string RandomRun::end_something() {
  const auto open = all_of([&](std::size_t i) { return !model_.has_ended(i); });
  const auto ended = all_of([&](std::size_t i) { return model_.has_ended(i); });
  const auto dated = all_of(
      [&](std::size_t i) { return !model_.has_ended(i) && traits_[i].deadline.has_value(); });
  switch (below(16)) {
    case 0: return cancel_workflow();
    case 1:
    case 2:
    case 3:
    case 4: return with_one(ended, [&](std::size_t i) { return replay(i); });
    case 5:
    case 6:
    case 7:
    case 8: return with_one(dated, [&](std::size_t i) { return expire(i); });
    default: return with_one(open, [&](std::size_t i) { return cancel(i); });
  }
}

/// Something of what an engine does by itself, or a worker without being told to.
std::string RandomRun::go_on() {
  const auto cancelling = all_of([&](std::size_t i) {
    const EdgeGroup* group = board_.find<EdgeGroup>(ids_[i]);
    return group != nullptr && !group->cancelling.empty();
  });
  const auto delayed =
      all_of([&](std::size_t i) { return model_.nodes()[i].state == PublicState::delayed; });
  const auto claimable = all_of([&](std::size_t i) { return model_.may_claim(i); });
  const auto suspended =
      all_of([&](std::size_t i) { return model_.nodes()[i].state == PublicState::suspended; });
  switch (below(7)) {
    case 6: return with_one(suspended, [&](std::size_t i) { return signal(i); });
    case 0:
      return with_one(cancelling, [&](std::size_t i) { return cancel_siblings(i, 1 + below(3)); });
    case 1: return with_one(delayed, [&](std::size_t i) { return come_due(i); });
    case 2: return model_.cancelling() ? cancel_piece(1 + below(5)) : "";
    default: return with_one(claimable, [&](std::size_t i) { return claim(i); });
  }
}

std::string RandomRun::finish() {
  for (std::size_t steps = 0; steps < 100'000; ++steps) {
    const auto open = all_of([&](std::size_t i) { return !model_.has_ended(i); });
    if (open.empty() && !model_.cancelling()) {
      return model_.state() == WorkflowState::open ? "the workflow stays open" : "";
    }
    // Who was not applied before the workflow was cancelled alone, is never begun.
    if (model_.state() == WorkflowState::cancelled && !model_.cancelling() && one_in(200)) {
      return "";
    }
    std::string problem = go_on();
    const auto leased = all_of([&](std::size_t i) { return model_.nodes()[i].is_leased; });
    if (problem.empty()) problem = with_one(leased, [&](std::size_t i) { return complete(i); });
    if (problem.empty() && model_.state() == WorkflowState::open) problem = apply(open);
    if (problem.empty()) problem = check();
    if (!problem.empty()) return problem;
  }
  return "it hangs";
}

std::string RandomRun::check() {
  std::map<ExecutionId, std::uint64_t> completions;
  for (const Notice& notice : board_.take_notices()) {
    if (notice.kind != NoticeKind::completion) continue;
    ++completions[notice.execution];
    const PublicState state = model_.nodes()[index_.at(notice.execution)].state;
    if (to_string(notice.outcome) == "none" || !is_terminal(state)) return "a false completion";
  }
  std::string problem = check_workflow() + check_links();
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const std::string found = check_node(i, completions[ids_[i]]);
    if (!found.empty()) problem += "node " + std::to_string(i) + ": " + found;
  }
  return problem;
}

std::string RandomRun::check_node(std::size_t i, std::uint64_t completions) {
  const Model::Node& node = model_.nodes()[i];
  const Execution& execution = board_.execution(ids_[i]);
  std::string problem = differs("state", node.state, execution.public_state());
  problem += differs("submitted", node.is_submitted, execution.state.phase == Phase::submitted);
  const bool is_leased = execution.state.ownership == Ownership::leased;
  problem += differs("leased", node.is_leased, is_leased);
  problem += differs("lease", is_leased, execution.lease.has_value());
  problem += differs("mailbox", node.mailbox.size(), mailbox_size(board_, ids_[i]));
  problem += differs("sibling", node.is_sibling, execution.is_sibling);
  problem += differs("end", model_.has_ended(i), execution.ended_at.has_value());
  problem += differs("completions", std::uint64_t{node.ends - seen_[i].ends}, completions);
  if (auto valid = validate(execution.state); !valid) problem += valid.error().message() + "\n";
  if (execution.epoch < seen_[i].epoch) problem += "its epoch has shrunk\n";
  seen_[i].epoch = execution.epoch;
  seen_[i].ends = node.ends;
  if (const EdgeGroup* group = board_.find<EdgeGroup>(ids_[i])) {
    const bool had_fired = seen_[i].group != EdgeState::pending;
    if (had_fired && group->state != seen_[i].group) problem += "its group fired twice\n";
    seen_[i].group = group->state;
    problem += check_group(i);
  }
  return problem + check_attempts(i);
}

/// Without gaps, and none but the newest one open.
std::string RandomRun::check_attempts(std::size_t i) const {
  const Execution& execution = board_.execution(ids_[i]);
  for (std::uint32_t number = 0; number < execution.attempts; ++number) {
    const bool is_newest = number == execution.attempt;
    const Attempt* attempt =
        is_newest ? &execution.newest : board_.find<Attempt>({ids_[i], number});
    if (attempt == nullptr) return "an attempt is missing\n";
    const bool may_be_open = number == execution.attempt && !execution.has_ended();
    if (!may_be_open && !attempt->ended_at) return "an attempt has not ended\n";
    if (attempt->ended_at.has_value() != (attempt->outcome > AttemptOutcome::suspended)) {
      return "an attempt has an outcome and no end, or the reverse\n";
    }
  }
  return "";
}

std::string RandomRun::check_group(std::size_t i) const {
  const Model::Node& node = model_.nodes()[i];
  const EdgeGroup& group = board_.group(ids_[i]);
  std::string problem = differs("group", node.group, group.state);
  problem += differs("fired", node.group != EdgeState::pending, group.fired_at.has_value());
  problem += differs("edges", model_.count_links(i), std::size_t{group.edges});
  problem += differs("succeeded", model_.count_links(i, EdgeState::satisfied, {}),
                     std::size_t{group.succeeded});
  problem += differs("failed", model_.count_links(i, EdgeState::impossible, false),
                     std::size_t{group.failed});
  problem += differs("skipped", model_.count_links(i, EdgeState::impossible, true),
                     std::size_t{group.skipped});
  std::set<std::size_t> remaining;
  for (const ExecutionId& id : group.cancelling) {
    if (model_.is_awaited(index_.at(id), i)) remaining.insert(index_.at(id));
  }
  std::set<std::size_t> expected = node.remaining;
  std::erase_if(expected, [&](std::size_t from) { return !model_.is_awaited(from, i); });
  if (remaining != expected) problem += "other siblings are to be cancelled\n";
  return problem;
}

std::string RandomRun::check_links() const {
  std::string problem;
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const Edge& edge = *board_.find<Edge>(edges_[i]);
    const Model::Link& link = model_.links()[i];
    problem += differs("edge " + std::to_string(i), link.state, edge.state);
    problem += differs("applied " + std::to_string(i), link.is_applied, edge.is_applied);
  }
  return problem;
}

std::string RandomRun::check_workflow() const {
  const Workflow& workflow = board_.workflow(workflow_);
  std::string problem = differs("workflow", model_.state(), workflow.state);
  std::size_t leased = 0;
  std::size_t submitted = 0;
  std::size_t siblings = 0;
  for (const Model::Node& node : model_.nodes()) {
    leased += node.is_leased ? 1 : 0;
    submitted += node.is_submitted ? 1 : 0;
    siblings += node.is_sibling ? 1 : 0;
  }
  for (std::size_t i = 1; i <= words<PublicState>.size(); ++i) {
    const auto state = static_cast<PublicState>(i);
    problem += differs("count of " + std::string(to_string(state)), model_.count(state),
                       std::size_t{workflow.counts[state]});
  }
  problem += differs("total", ids_.size(), std::size_t{workflow.counts.total()});
  problem += differs("lane.active", leased, std::size_t{board_.leased()});
  problem += differs("unpromoted", submitted, std::size_t{workflow.unpromoted});
  problem += differs("cancelled siblings", siblings, std::size_t{workflow.cancelled_siblings});
  problem += differs("edges", edges_.size(), std::size_t{workflow.edges});
  problem += differs("ended", workflow.has_ended(), workflow.ended_at.has_value());
  problem +=
      differs("cancelling", model_.cancelling().has_value(), workflow.cancelling.has_value());
  return problem;
}

}  // namespace weir::flow::workflow::testing
