#include <weir/tests/flow/workflow/support/random_run.hpp>

#include <algorithm>

namespace weir::flow::workflow::testing {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

FailurePolicy random_failure_policy(std::uint64_t drawn) {
  return static_cast<FailurePolicy>(1 + drawn % words<FailurePolicy>.size());
}

}  // namespace

RandomRun::RandomRun(std::uint64_t seed) : random_(seed), model_(random_failure_policy(random_())) {
  const auto on_failure = random_failure_policy(std::mt19937_64(seed)());
  workflow_ = board_.create_workflow({.on_failure = on_failure}).value();
  const std::size_t nodes = 1 + below(one_in(3) ? 30 : 8);
  while (ids_.size() < nodes) history_ += add_node();
  Candidates applied = all_of([&](std::size_t) { return !one_in(5); });
  std::ranges::shuffle(applied, random_);
  history_ += apply(applied);
}

std::string RandomRun::note(const std::string& what, std::size_t node) {
  history_ += what + " " + std::to_string(node) + "\n";
  return "";
}

EdgePolicy RandomRun::random_policy(std::size_t links) {
  const auto on_satisfied = one_in(3) ? OnSatisfied::let_run : OnSatisfied::cancel_remaining;
  if (links == 0 || one_in(3)) return EdgePolicy::all_of();
  if (one_in(2)) return EdgePolicy::any_of(on_satisfied);
  return EdgePolicy::quorum(static_cast<std::uint32_t>(1 + below(links)), on_satisfied);
}

NewExecution RandomRun::random_execution(Traits& traits) {
  NewExecution request = {.kind = "work", .workflow = workflow_};
  if (one_in(8)) traits.not_before = request.not_before = board_.now + seconds(1 + below(100));
  if (one_in(4)) traits.deadline = request.deadline = board_.now + seconds(200 + below(100));
  traits.retries_max = one_in(3) ? static_cast<std::uint32_t>(1 + below(2)) : 0;
  traits.retries_left = traits.retries_max;
  request.retry = RetryPolicy::fixed(seconds(below(2)), traits.retries_max);
  return request;
}

std::string RandomRun::add_node() {
  Traits traits;
  const NewExecution request = random_execution(traits);
  const auto created = board_.create(request);
  if (model_.state() != WorkflowState::open) {
    return refuses(created, Errc::workflow_sealed, "") ? "" : "joined a workflow that has ended";
  }
  const std::size_t node = ids_.size();
  const std::size_t links = node == 0 || one_in(4) ? 0 : 1 + below(std::min<std::size_t>(node, 5));
  const EdgePolicy policy = random_policy(links);
  ids_.push_back(created.value().id);
  index_[ids_.back()] = node;
  traits_.push_back(traits);
  handles_.emplace_back();
  seen_.emplace_back();
  model_.add_node(policy, traits.not_before.has_value());
  if (policy != EdgePolicy() && board_.set_policy(workflow_, ids_[node], policy) != true) {
    return "the policy was not set";
  }
  note("add " + to_string(policy), node);
  Candidates upstreams(links);
  for (std::size_t& from : upstreams) from = below(node);
  return links > 0 ? add_links(node, upstreams) : "";
}

std::string RandomRun::add_late_link(std::size_t to) {
  const std::size_t from = below(to);
  const bool is_there = std::ranges::any_of(
      model_.links(), [&](const Model::Link& link) { return link.from == from && link.to == to; });
  return is_there ? "" : add_links(to, {from});
}

std::string RandomRun::add_links(std::size_t to, const Candidates& upstreams) {
  std::vector<NewEdge> staged;
  for (const std::size_t from : upstreams) {
    edges_.push_back({testing::make_uuid(edges_.size(), 77)});
    staged.push_back({.upstream = ids_[from], .downstream = ids_[to], .id = edges_.back()});
    model_.add_link(from, to);
    note("link " + std::to_string(from) + " to", to);
  }
  const auto revision = board_.stage(workflow_, staged, board_.workflow(workflow_).revision);
  return revision ? "" : "not staged: " + revision.error().message();
}

std::string RandomRun::apply(const Candidates& nodes) {
  std::vector<ExecutionId> members;
  for (const std::size_t node : nodes) {
    members.push_back(ids_[node]);
    note("apply", node);
  }
  const auto applied = board_.apply(workflow_, members);
  if (model_.state() != WorkflowState::open) {
    return refuses(applied, Errc::workflow_sealed, "") ? "" : "applied to what has ended";
  }
  if (!applied) return "not applied: " + applied.error().message();
  model_.apply(nodes);
  return "";
}

std::string RandomRun::claim(std::size_t node) {
  note("claim", node);
  auto claimed = board_.try_claim(ids_[node], {.worker = "w", .lease = hours(24 * 365 * 10)});
  if (!claimed || !*claimed) return "not claimed";
  handles_[node] = (*claimed)->handle;
  model_.claim(node);
  return check_resumption(node, (*claimed)->resumed);
}

std::string RandomRun::try_to_claim(std::size_t node) {
  if (model_.may_claim(node)) return "";
  const auto claimed = board_.try_claim(ids_[node]);
  if (model_.is_claimable(node)) {
    note("claim, and so cancel,", node);
    model_.end(node, PublicState::cancelled);
  }
  return claimed && *claimed ? "claimed " + std::to_string(node) + ", which may not be" : "";
}

std::string RandomRun::complete(std::size_t node) {
  note("complete", node);
  const auto completed = board_.complete(handles_[node], "result");
  if (!completed) return completed.error().message();
  model_.end(node, PublicState::completed);
  return "";
}

std::string RandomRun::fail(std::size_t node) {
  note("fail", node);
  const auto failed = board_.fail(handles_[node]);
  if (!failed) return failed.error().message();
  if (failed->retry_at.has_value() != (traits_[node].retries_left > 0)) return "retried wrongly";
  if (!failed->retry_at) {
    model_.end(node, PublicState::failed);
    return "";
  }
  --traits_[node].retries_left;
  model_.give_back(node, *failed->retry_at > board_.now);
  return "";
}

std::string RandomRun::delay(std::size_t node) {
  note("delay", node);
  const auto delayed = board_.delay(handles_[node], board_.now + seconds(below(5)));
  if (!delayed) return delayed.error().message();
  model_.give_back(node, true);
  return "";
}

std::string RandomRun::revoke(std::size_t node) {
  note("revoke", node);
  const auto revoked = board_.revoke(ids_[node]);
  if (!revoked) return revoked.error().message();
  model_.lose_lease(node);
  return "";
}

void RandomRun::pass_until(Time time) {
  board_.now = std::max(board_.now, time);
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    model_.set_later(i, traits_[i].not_before && *traits_[i].not_before > board_.now);
  }
}

std::string RandomRun::come_due(std::size_t node) {
  note("come due", node);
  const Time due = board_.execution(ids_[node]).eligible_at;
  const bool is_early = due > board_.now;
  if (is_early && board_.promote_due(ids_[node]) != false) return "promoted too early";
  pass_until(due);
  if (board_.promote_due(ids_[node]) != true) return "not promoted";
  model_.come_due(node);
  return "";
}

std::string RandomRun::cancel(std::size_t node) {
  note("cancel", node);
  // A reason that looks like the engine's own is nobody's but the caller's.
  const bool looks_so = one_in(2);
  const auto cancelled =
      board_.cancel(ids_[node], looks_so ? "sibling_quorum_satisfied" : "stop", "engine");
  if (cancelled != true) return "not cancelled";
  model_.end(node, PublicState::cancelled);
  return "";
}

std::string RandomRun::expire(std::size_t node) {
  note("expire", node);
  pass_until(*traits_[node].deadline);
  if (board_.expire_execution(ids_[node]) != true) return "not expired";
  model_.end(node, PublicState::expired);
  return "";
}

std::string RandomRun::replay(std::size_t node) {
  note("replay", node);
  const auto replayed = board_.replay(ids_[node]);
  if (model_.state() == WorkflowState::cancelled || model_.cancelling()) {
    return refuses(replayed, Errc::workflow_sealed, "") ? "" : "replayed in a cancelled workflow";
  }
  if (!replayed && replayed.error() == Errc::limit_reached) return "";
  if (!model_.may_replay(node)) {
    return refuses(replayed, Errc::wrong_state, "dependencies") ? "" : "replayed without inputs";
  }
  if (!replayed) return replayed.error().message();
  traits_[node].retries_left = traits_[node].retries_max;
  traits_[node].resumed_with.reset();
  if (traits_[node].deadline <= board_.now) traits_[node].deadline.reset();
  model_.replay(node);
  return "";
}

std::string RandomRun::cancel_siblings(std::size_t node, std::size_t siblings_max) {
  note("cancel siblings of", node);
  std::vector<ExecutionId> listed = board_.group(ids_[node]).cancelling;
  std::ranges::reverse(listed);
  listed.resize(std::min(listed.size(), siblings_max));
  Candidates siblings;
  for (const ExecutionId& id : listed) siblings.push_back(index_.at(id));
  const auto report = board_.cancel_siblings(ids_[node], siblings_max);
  if (!report) return report.error().message();
  std::vector<ExecutionId> expected;
  for (const std::size_t i : model_.cancel_siblings(node, siblings)) expected.push_back(ids_[i]);
  if (report->cancelled != expected) return "other siblings were cancelled";
  const std::size_t all = report->cancelled.size() + report->ended_before + report->spared;
  return all == siblings.size() ? "" : "the report does not account for all siblings";
}

std::string RandomRun::cancel_workflow() {
  const auto policy = static_cast<CancelPolicy>(1 + below(words<CancelPolicy>.size()));
  note("cancel workflow: " + std::string(to_string(policy)), 0);
  const bool is_open = model_.state() == WorkflowState::open;
  if (board_.cancel(workflow_, policy) != is_open) return "cancelled or not";
  model_.cancel_workflow(policy);
  return "";
}

std::string RandomRun::cancel_piece(std::size_t members_max) {
  if (to_cancel_.empty()) {
    to_cancel_ = all_of([](std::size_t) { return true; });
    std::ranges::shuffle(to_cancel_, random_);
  }
  Candidates piece;
  std::vector<ExecutionId> members;
  while (piece.size() < members_max && !to_cancel_.empty()) {
    piece.push_back(to_cancel_.back());
    members.push_back(ids_[piece.back()]);
    note("cancel with the workflow", piece.back());
    to_cancel_.pop_back();
  }
  const bool is_last = to_cancel_.empty();
  const auto cancelled = board_.cancel_members(workflow_, members, is_last);
  if (!cancelled) return cancelled.error().message();
  std::vector<ExecutionId> expected;
  for (const std::size_t i : model_.cancel_members(piece, is_last)) expected.push_back(ids_[i]);
  return *cancelled == expected ? "" : "other members were cancelled";
}

}  // namespace weir::flow::workflow::testing
