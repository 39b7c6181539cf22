#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <weir/flow/workflow/policy.hpp>
#include <weir/flow/workflow/suspension.hpp>

namespace weir::flow::workflow::testing {

/// What a workflow should be after commands, found by looking at everything again and again until
/// nothing follows any more. Slow, and without counters: whatever is counted is counted anew.
class Model {
 public:
  struct Sent {
    std::string waitpoint;
    std::string source;
    std::string payload;
  };
  struct Node {
    PublicState state = PublicState::waiting;
    bool is_submitted = true;
    bool is_leased = false;
    bool is_sibling = false;
    std::uint32_t attempts = 0;
    std::uint32_t ends = 0;
    EdgePolicy policy = {};
    EdgeState group = EdgeState::pending;
    bool is_later = false;  // not before a time that has not come
    /// Those that were not needed any more when the group fired.
    std::set<std::size_t> remaining = {};
    WaitCondition condition = {};
    std::vector<Sent> mailbox = {};
  };
  struct Link {
    std::size_t from = 0;
    std::size_t to = 0;
    bool is_applied = false;
    EdgeState state = EdgeState::pending;
    bool was_skipped = false;
  };

  explicit Model(FailurePolicy on_failure) : on_failure_(on_failure) {}

  std::size_t add_node(EdgePolicy policy, bool is_later);
  void add_link(std::size_t from, std::size_t to) { links_.push_back({from, to}); }
  void apply(const std::vector<std::size_t>& nodes);

  void claim(std::size_t node);
  void lose_lease(std::size_t node) { nodes_[node].is_leased = false; }
  /// It waits again, for a time or for a worker.
  void give_back(std::size_t node, bool is_later);
  void come_due(std::size_t node);
  /// The payloads with which it goes on, if it need not wait.
  std::optional<std::vector<std::string>> suspend(std::size_t node, const WaitCondition& condition);
  /// Likewise, if that ends its suspension.
  std::optional<std::vector<std::string>> signal(std::size_t node, const Sent& sent);
  void resume(std::size_t node) { nodes_[node].state = PublicState::waiting; }
  /// Time has passed: whether the time before which it is not to begin is still to come.
  void set_later(std::size_t node, bool is_later) { nodes_[node].is_later = is_later; }
  void end(std::size_t node, PublicState as);
  void replay(std::size_t node);
  void cancel_workflow(CancelPolicy policy);
  /// Those that were to be cancelled; in the order in which they were given.
  std::vector<std::size_t> cancel_members(const std::vector<std::size_t>& members, bool is_last);
  std::vector<std::size_t> cancel_siblings(std::size_t node,
                                           const std::vector<std::size_t>& siblings);

  // What anyone can see.
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Link>& links() const { return links_; }
  WorkflowState state() const { return state_; }
  std::optional<CancelPolicy> cancelling() const { return cancelling_; }
  bool is_claimable(std::size_t node) const;
  /// It does not end instead.
  bool may_claim(std::size_t node) const { return is_claimable(node) && !is_concerned(node); }
  bool is_concerned(std::size_t node) const;
  /// Whether what it depends on has succeeded, by now.
  bool may_replay(std::size_t node) const;
  bool is_needed_beside(std::size_t node, std::size_t by_no_longer) const;
  bool is_awaited(std::size_t node, std::size_t by) const;
  std::size_t count(PublicState state) const;
  std::size_t count_links(std::size_t to, EdgeState state, std::optional<bool> was_skipped) const;
  std::size_t count_links(std::size_t to) const;
  bool has_ended(std::size_t node) const { return is_terminal(nodes_[node].state); }

 private:
  std::optional<std::vector<std::string>> take(std::size_t node);
  void end_alone(std::size_t node, PublicState as);
  void settle();
  bool settle_link(Link& link);
  bool settle_group(std::size_t node);
  void settle_workflow();

  FailurePolicy on_failure_;
  WorkflowState state_ = WorkflowState::open;
  std::optional<CancelPolicy> cancelling_;
  std::vector<Node> nodes_;
  std::vector<Link> links_;
};

}  // namespace weir::flow::workflow::testing
