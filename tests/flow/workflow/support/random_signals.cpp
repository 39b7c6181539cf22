#include <algorithm>

#include <weir/tests/flow/workflow/support/random_run.hpp>

// Suspensions and signals of a random run.
namespace weir::flow::workflow::testing {

using std::chrono::seconds;

std::string RandomRun::act_on_signals() {
  const auto leased = all_of([&](std::size_t i) { return model_.nodes()[i].is_leased; });
  const auto suspended =
      all_of([&](std::size_t i) { return model_.nodes()[i].state == PublicState::suspended; });
  switch (below(5)) {
    case 0: return with_one(suspended, [&](std::size_t i) { return time_out(i); });
    case 1: return with_one(suspended, [&](std::size_t i) { return overrule(i); });
    case 2: return ids_.empty() ? "" : signal(below(ids_.size()));
    default: return with_one(leased, [&](std::size_t i) { return suspend(i); });
  }
}

std::string RandomRun::suspend(std::size_t node) {
  using Distinct = WaitCondition::Distinct;
  const std::vector<WaitCondition> conditions = {
      WaitCondition::all_of({"a"}),
      WaitCondition::all_of({"a", "b"}),
      WaitCondition::any_of({"b", "c"}),
      WaitCondition::count_of(2, Distinct::sources, {"a", "b"}),
      WaitCondition::count_of(2, Distinct::signals, {"c", "a"}),
      WaitCondition::count_of(2, Distinct::waitpoints, {"a", "b", "c"})};
  const WaitCondition& condition = conditions[below(conditions.size())];
  traits_[node].on_timeout = static_cast<OnTimeout>(1 + below(words<OnTimeout>.size()));
  note("suspend", node);
  const auto suspended = board_.suspend(handles_[node], {.condition = condition,
                                                         .timeout = seconds(100 + below(50)),
                                                         .on_timeout = traits_[node].on_timeout});
  if (!suspended) return suspended.error().message();
  traits_[node].resumed_with = model_.suspend(node, condition);
  return check_resumption(node, suspended->resumed);
}

std::string RandomRun::check_resumption(std::size_t node,
                                        const std::optional<Resumption>& resumption) const {
  const auto& expected = traits_[node].resumed_with;
  if (resumption.has_value() != expected.has_value()) return "resumed or not";
  if (!resumption) return "";
  std::vector<std::string> payloads;
  for (const Signal& signal : resumption->signals) payloads.push_back(signal.payload);
  return payloads == *expected ? "" : "resumed with other signals";
}

std::string RandomRun::signal(std::size_t node) {
  note("signal to", node);
  const std::string number = std::to_string(signals_sent_++);
  const Model::Sent sent = {std::string(1, static_cast<char>('a' + below(3))),
                            std::to_string(below(3)), number};
  const NewSignal signal = {ids_[node], sent.waitpoint, sent.payload, number, sent.source};
  const auto sent_to = board_.signal(signal, board_.token(ids_[node], sent.waitpoint));
  if (model_.has_ended(node)) {
    return refuses(sent_to, Errc::wrong_state, "") ? "" : "a signal to what has ended";
  }
  const auto resumed = model_.signal(node, sent);
  if (resumed) traits_[node].resumed_with = resumed;
  if (sent_to != (resumed ? SignalEffect::resumed : SignalEffect::kept)) return "another effect";
  return board_.approve(signal) == SignalEffect::duplicate ? "" : "taken twice";
}

std::string RandomRun::time_out(std::size_t node) {
  note("time out", node);
  if (!board_.execution(ids_[node]).suspended_until) return overrule(node);
  pass_until(*board_.execution(ids_[node]).suspended_until);
  if (board_.expire_suspension(ids_[node]) != true) return "not timed out";
  switch (traits_[node].on_timeout) {
    case OnTimeout::fail:
      if (traits_[node].retries_left == 0) {
        model_.end(node, PublicState::failed);
      } else {
        --traits_[node].retries_left;
        model_.give_back(node, board_.execution(ids_[node]).eligible_at > board_.now);
      }
      return "";
    case OnTimeout::cancel: model_.end(node, PublicState::cancelled); return "";
    case OnTimeout::expire: model_.end(node, PublicState::expired); return "";
    case OnTimeout::resume:
      traits_[node].resumed_with.emplace();
      model_.resume(node);
      return "";
    case OnTimeout::escalate: return "";
  }
  return "";
}

std::string RandomRun::overrule(std::size_t node) {
  note("overrule", node);
  if (!board_.resume(ids_[node])) return "not resumed";
  traits_[node].resumed_with.emplace();
  model_.resume(node);
  return "";
}

}  // namespace weir::flow::workflow::testing
