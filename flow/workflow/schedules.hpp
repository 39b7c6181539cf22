#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/workflow_context.hpp>

namespace weir::flow::workflow {

/// What is done when it is time and the execution of the time before has not ended.
// Persisted: never renumber.
enum class Overlap : std::uint8_t {
  /// Nothing, this time.
  skip = 1,
  /// One waits for its end; further times meanwhile are dropped.
  queue_one,
  /// They run beside each other.
  allow,
  cancel_previous,
};
template <>
inline constexpr std::array words<Overlap> = {"skip", "queue_one", "allow", "cancel_previous"};

/// Begins an execution again and again.
struct Schedule {
  /// There is one of each name in a lane at a time.
  std::string name;
  /// See `Cron`: `0 3 * * mon-fri`. In UTC: a day has 24 hours here.
  std::string cron;
  /// Of the execution.
  std::string kind;
  std::string payload = {};
  std::string lane = "default";
  Overlap overlap = Overlap::skip;
};

/// Begins a schedule, as an execution of its own which any `Worker` of its lane runs; it is stopped
/// by cancelling that. It lasts over restarts; of the times at which nobody was there, the last one
/// is made up for. One that is there already under the name is given, if it is the same; otherwise
/// `already_exists`, with what differs: it is changed by cancelling it and starting another.
Task<Result<Created>> start_schedule(const Engine* engine, Schedule schedule);

namespace internal {

inline constexpr const char* schedule_kind = "weir.schedule";

/// What a schedule goes on with.
struct ScheduleState {
  std::string cron;
  std::string kind;
  std::string payload;
  std::string lane;
  Overlap overlap = Overlap::skip;
  /// The last time that was dealt with.
  Time last = {};
  std::optional<ExecutionId> previous = {};
};

Task<> run_schedule(WorkflowContext ctx, ScheduleState state);

}  // namespace internal
}  // namespace weir::flow::workflow
