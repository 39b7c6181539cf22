#include <algorithm>

#include <weir/tests/flow/workflow/support/model.hpp>

namespace weir::flow::workflow::testing {
namespace {

using Sent = Model::Sent;

/// What two signals that count must not have in common.
std::string identity_of(const WaitCondition& condition, const Sent& sent) {
  const bool is_count = condition.kind == WaitCondition::Kind::count;
  if (!is_count || condition.distinct == WaitCondition::Distinct::waitpoints) return sent.waitpoint;
  return condition.distinct == WaitCondition::Distinct::sources ? sent.source : sent.payload;
}

std::vector<Sent> relevant(const WaitCondition& condition, const std::vector<Sent>& mailbox) {
  std::vector<Sent> found = mailbox;
  std::erase_if(found, [&](const Sent& sent) {
    return std::ranges::find(condition.waitpoints, sent.waitpoint) == condition.waitpoints.end();
  });
  return found;
}

bool is_satisfied(const WaitCondition& condition, const std::vector<Sent>& mailbox) {
  std::set<std::string> different;
  for (const Sent& sent : mailbox) different.insert(identity_of(condition, sent));
  const bool is_count = condition.kind == WaitCondition::Kind::count;
  return different.size() >= (is_count ? condition.k : condition.waitpoints.size());
}

}  // namespace

std::optional<std::vector<std::string>> Model::take(std::size_t i) {
  Node& node = nodes_[i];
  std::vector<Sent> left = relevant(node.condition, node.mailbox);
  if (!is_satisfied(node.condition, left)) return std::nullopt;
  // Without each one that is not needed, the newest first.
  for (std::size_t at = left.size(); at-- > 0;) {
    std::vector<Sent> fewer = left;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at));
    if (is_satisfied(node.condition, fewer)) left = fewer;
  }
  std::vector<std::string> payloads;
  for (const Sent& sent : left) payloads.push_back(sent.payload);
  std::erase_if(node.mailbox, [&](const Sent& sent) {
    return std::ranges::find(payloads, sent.payload) != payloads.end();
  });
  return payloads;
}

std::optional<std::vector<std::string>> Model::suspend(std::size_t i,
                                                       const WaitCondition& condition) {
  nodes_[i].condition = condition;
  auto taken = take(i);
  if (taken) return taken;
  nodes_[i].is_leased = false;
  nodes_[i].state = PublicState::suspended;
  return std::nullopt;
}

std::optional<std::vector<std::string>> Model::signal(std::size_t i, const Sent& sent) {
  nodes_[i].mailbox.push_back(sent);
  if (nodes_[i].state != PublicState::suspended) return std::nullopt;
  auto taken = take(i);
  if (taken) resume(i);
  return taken;
}

}  // namespace weir::flow::workflow::testing
