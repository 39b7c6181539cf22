#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <weir/flow/workflow/internal/workflow_store.hpp>
#include <weir/flow/workflow/records.hpp>
#include <weir/flow/workflow/request.hpp>

namespace weir::flow::workflow::internal {

/// Which executions may be claimed, and when something is due, found without looking at others.
///
/// It follows from the records of executions that have not ended. Those that need the same of a
/// worker and are under the same limits are one queue; one whose limits leave no room is parked, so
/// that others are not held up.
class Schedule {
 public:
  /// Whether it may be claimed.
  static bool is_ready(const Execution& execution);
  /// When the next thing is due that time does to it.
  static std::optional<Time> due_of(const Execution& execution);
  /// How long to sleep before something that is so far away: not beyond what a timer can count.
  static Duration pause_before(Time::duration away);

  /// The record has changed; none if there is or was none. True if it can be claimed, and could
  /// not before.
  bool update(const ExecutionId& id, const Execution* before, const Execution* after);
  /// It is there and counted, but neither claimed nor due until its record changes: it would only
  /// fail again.
  void set_aside(const ExecutionId& id, const Execution& execution);

  /// Who is to be claimed next by who asks so: the highest priority, and of those who has waited
  /// longest.
  std::optional<ExecutionId> next_ready(const ClaimRequest& request) const;
  /// How many are ready and not parked.
  std::size_t ready(const std::string& lane) const;

  /// The first of a queue may not be claimed under this limit: nor may the rest, until the limit
  /// changes or a time has come.
  void park(const std::string& lane, const ExecutionId& first, const Admission& refused);
  /// The limit has changed. Gives the lanes in which somebody is ready again.
  std::vector<std::string> unpark(const std::string& key);
  std::vector<std::string> unpark_all();
  /// Somebody waits for the lane, which may have room then.
  void wake_at(const std::string& lane, Time time) { wakes_.insert({time, {false, lane}}); }
  /// Lanes that may have room now, or in which somebody is ready again.
  std::vector<std::string> take_wakes(Time now);

  /// When something is due.
  std::optional<Time> next_due() const;
  /// What is due at `now`, at most `executions_max`.
  std::vector<ExecutionId> due(Time now, std::size_t executions_max) const;

  // What can be seen of it.
  /// In the order in which they would be claimed, those that are parked last.
  std::vector<WaitingSeen> waiting(const std::string& lane, std::size_t executions_max) const;
  /// Of executions that have not ended; `waiting` has those that may be claimed.
  StateCounts counts(const std::string& lane) const;
  const StateCounts& totals() const noexcept { return totals_; }
  std::size_t due_size() const noexcept { return due_.size(); }

 private:
  struct Place {
    std::int32_t negative_priority;
    Time since;
    ExecutionId id;

    friend auto operator<=>(const Place&, const Place&) = default;
  };
  /// What executions of one queue have in common.
  struct Kind {
    std::string space;
    std::vector<std::string> capabilities;
    std::vector<std::string> limit_keys;

    friend auto operator<=>(const Kind&, const Kind&) = default;
  };
  /// So that the kind of an execution can be looked for without a copy.
  struct KindOrder {
    using is_transparent = void;

    template <class First, class Second>
    bool operator()(const First& first, const Second& second) const {
      return std::tie(first.space, first.capabilities, first.limit_keys) <
             std::tie(second.space, second.capabilities, second.limit_keys);
    }
  };
  struct Queue {
    std::set<Place> places;
    std::string parked_under;  // empty if it is not
  };
  using Queues = std::map<Kind, Queue, KindOrder>;
  struct LaneQueues {
    Queues queues;
    std::map<Place, Queues::iterator> heads;  // of those that are not parked
    StateCounts counts = {};
    std::size_t ready = 0;
  };

  void count(const Execution& execution, LaneQueues& lane, bool comes);
  static void add(const Execution& execution, LaneQueues& lane, const Place& place);
  void remove(const Execution& execution, LaneQueues& lane, const Place& place);
  /// Calls `change` with the queue; its head is listed as it is then.
  template <class Change>
  static void with_head(LaneQueues& lane, Queues::iterator at, Change change);

  std::map<std::string, LaneQueues> lanes_;
  StateCounts totals_ = {};
  std::map<std::string, std::set<std::pair<std::string, Kind>>> parked_;  // by limit
  std::set<std::pair<Time, ExecutionId>> due_;
  std::set<std::pair<Time, std::pair<bool, std::string>>> wakes_;  // of limits, or of lanes
};

}  // namespace weir::flow::workflow::internal
