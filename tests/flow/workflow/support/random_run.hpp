#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <weir/tests/flow/workflow/support/command_board.hpp>
#include <weir/tests/flow/workflow/support/model.hpp>

namespace weir::flow::workflow::testing {

/// A random workflow to which random things happen, beside a model to which the same happens.
///
/// Says what differs, and what is broken however the model is, after every step.
class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed);

  /// Empty if all is well.
  std::string step();
  /// Lets everything that can go on do so until nothing is left. What has not ended then hangs.
  std::string finish();
  std::size_t size() const { return ids_.size(); }
  /// What has been done, for people.
  const std::string& history() const { return history_; }

 private:
  using Candidates = std::vector<std::size_t>;

  struct Traits {
    std::uint32_t retries_left = 0;
    std::uint32_t retries_max = 0;
    std::optional<Time> not_before = {};
    std::optional<Time> deadline = {};
    OnTimeout on_timeout = OnTimeout::fail;
    /// With what it was last resumed; none if it was not, or is suspended.
    std::optional<std::vector<std::string>> resumed_with = {};
  };
  /// What was seen of an execution after the step before.
  struct Seen {
    std::uint64_t epoch = 0;
    std::uint32_t ends = 0;
    EdgeState group = EdgeState::pending;
  };

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool one_in(std::uint64_t many) { return below(many) == 0; }
  template <class Predicate>
  Candidates all_of(Predicate predicate) const {
    Candidates found;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (predicate(i)) found.push_back(i);
    }
    return found;
  }
  /// Calls `act` with one of them; if there is none, nothing happens.
  template <class Act>
  std::string with_one(const Candidates& candidates, Act act) {
    return candidates.empty() ? "" : act(candidates[below(candidates.size())]);
  }

  // Each does it to both, and says what differs.
  std::string add_node();
  std::string add_links(std::size_t to, const Candidates& from);
  std::string add_late_link(std::size_t to);
  std::string apply(const Candidates& nodes);
  std::string claim(std::size_t node);
  std::string try_to_claim(std::size_t node);
  std::string complete(std::size_t node);
  std::string fail(std::size_t node);
  std::string delay(std::size_t node);
  std::string revoke(std::size_t node);
  std::string come_due(std::size_t node);
  std::string cancel(std::size_t node);
  std::string expire(std::size_t node);
  std::string replay(std::size_t node);
  std::string cancel_siblings(std::size_t node, std::size_t siblings_max);
  std::string cancel_workflow();
  std::string cancel_piece(std::size_t members_max);
  std::string suspend(std::size_t node);
  std::string signal(std::size_t node);
  std::string time_out(std::size_t node);
  std::string overrule(std::size_t node);
  std::string check_resumption(std::size_t node, const std::optional<Resumption>& resumption) const;

  std::string act();
  std::string act_on_graph();
  std::string act_on_signals();
  std::string end_something();
  std::string go_on();
  void pass_until(Time time);
  EdgePolicy random_policy(std::size_t links_max);
  NewExecution random_execution(Traits& traits);
  std::string note(const std::string& what, std::size_t node);

  // What is compared after each step.
  std::string check();
  std::string check_node(std::size_t node, std::uint64_t completions);
  std::string check_attempts(std::size_t node) const;
  std::string check_group(std::size_t node) const;
  std::string check_links() const;
  std::string check_workflow() const;

  std::mt19937_64 random_;
  CommandBoard board_;
  Model model_;
  WorkflowId workflow_;
  std::vector<ExecutionId> ids_;
  std::vector<EdgeId> edges_;
  std::vector<Traits> traits_;
  std::vector<Handle> handles_;
  std::vector<Seen> seen_;
  std::map<ExecutionId, std::size_t> index_;
  Candidates to_cancel_;
  std::uint64_t signals_sent_ = 0;
  std::string history_;
};

}  // namespace weir::flow::workflow::testing
