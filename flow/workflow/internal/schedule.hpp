#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <weir/flow/workflow/records.hpp>

namespace weir::flow::workflow::internal {

/// Which executions may be claimed, and when something is due, found without looking at others.
///
/// It follows from the records of executions that have not ended.
class Schedule {
 public:
  /// Whether it may be claimed.
  static bool is_ready(const Execution& execution);
  /// When the next thing is due that time does to it.
  static std::optional<Time> due_of(const Execution& execution);

  /// The record has changed; none if there is or was none. True if it can be claimed, and could
  /// not before.
  bool update(const ExecutionId& id, const Execution* before, const Execution* after);

  /// Who is to be claimed next by a worker that has these capabilities: the highest priority, and
  /// of those who has waited longest.
  std::optional<ExecutionId> next_ready(const std::string& lane,
                                        const std::vector<std::string>& capabilities) const;
  std::size_t ready(const std::string& lane) const;

  /// When something is due.
  std::optional<Time> next_due() const;
  /// What is due at `now`, at most `executions_max`.
  std::vector<ExecutionId> due(Time now, std::size_t executions_max) const;

 private:
  struct Place {
    std::int32_t negative_priority;
    Time since;
    ExecutionId id;

    friend auto operator<=>(const Place&, const Place&) = default;
  };
  using Queue = std::set<Place>;

  /// By lane and by what is needed of a worker.
  std::map<std::string, std::map<std::vector<std::string>, Queue>> ready_;
  std::set<std::pair<Time, ExecutionId>> due_;
};

}  // namespace weir::flow::workflow::internal
