#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/callable.hpp>
#include <weir/flow/workflow/internal/workflow_run.hpp>
#include <weir/flow/workflow/payload.hpp>
#include <weir/flow/workflow/step_options.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/storage/errc.hpp>

namespace weir::flow::workflow::internal {

/// A function of a step with its arguments, which it is called with as often as it is tried.
template <class Function, class... Args>
class StepCall {
 public:
  static constexpr bool by_pointer = std::is_invocable_v<Function&, storage::Transaction*, Args...>;
  static constexpr bool is_transactional =
      by_pointer || std::is_invocable_v<Function&, storage::Transaction&, Args...>;
  static constexpr bool takes_info = std::is_invocable_v<Function&, const StepInfo&, Args...>;
  static_assert(is_transactional || takes_info || std::is_invocable_v<Function&, Args...>,
                "weir: the function of a step takes its arguments, after a "
                "storage::Transaction* or a StepInfo if it wants one");

  explicit StepCall(Function function, Args... args)
      : function_(std::move(function)), args_(std::move(args)...) {}

  /// None if there is no store to begin one in.
  static std::shared_ptr<StepCommit> begin(const Engine& engine) {
    if (engine.store() == nullptr) return nullptr;
    return std::make_shared<StorageStepCommit>(engine.store()->begin());
  }
  auto operator()(StepCommit& commit)
    requires is_transactional
  {
    if constexpr (by_pointer) {
      return call<storage::Transaction*>(&commit.transaction());
    } else {
      return call<storage::Transaction&>(commit.transaction());
    }
  }
  auto operator()(const StepInfo& info)
    requires(!is_transactional)
  {
    if constexpr (takes_info) {
      return call<const StepInfo&>(info);
    } else {
      return std::apply([&](const Args&... args) { return settle(&function_, Args(args)...); },
                        args_);
    }
  }

 private:
  template <class First>
  auto call(First first) {
    return std::apply(
        [&](const Args&... args) {
          return settle<Function, First, Args...>(&function_, first, Args(args)...);
        },
        args_);
  }

  Function function_;
  std::tuple<Args...> args_;
};

template <class Call>
struct ValueOfCall {
  using Argument = std::conditional_t<Call::is_transactional, StepCommit&, const StepInfo&>;
  using Type = ValueInside<std::invoke_result_t<Call&, Argument>>;
};
template <class Call>
using StepValue = typename ValueOfCall<Call>::Type;

/// What a step threw, as what it could have given.
template <class T>
Task<Result<T>> guarded(Task<Result<T>> task) {
  try {
    co_return co_await std::move(task);
  } catch (const ErrorException& exception) {
    co_return exception.error();
  } catch (const std::exception& exception) {
    co_return Error(weir::Errc::failed, exception.what());
  } catch (...) {
    co_return Error(weir::Errc::failed, "what was thrown is no std::exception");
  }
}

template <class T>
Task<> keep(Task<Result<T>> task, std::optional<Result<T>>* outcome, SequenceBarrier* done) {
  outcome->emplace(co_await std::move(task));
  done->publish(1);
}
inline Task<> ring(Duration after, SequenceBarrier* done) {
  static_cast<void>(co_await sleep_for(after));
  done->publish(1);
}

template <class T>
Task<Result<T>> within_time(Task<Result<T>> task, std::optional<Duration> timeout) {
  if (!timeout) co_return co_await std::move(task);
  std::optional<Result<T>> outcome;
  SequenceBarrier done;
  TaskScope scope;  // whoever is late goes with it
  scope.spawn(keep(std::move(task), &outcome, &done));
  scope.spawn(ring(*timeout, &done));
  static_cast<void>(co_await done.wait_until(1));
  if (outcome) co_return *std::move(outcome);
  co_return Error(weir::Errc::timed_out);
}

/// What is in the journal, as what the step gave.
template <class T>
Task<T> replayed(WorkflowRun* run, JournalEntry entry) {
  if (entry.has_failed) throw ErrorException(Error(Errc::step_failed, entry.payload));
  if constexpr (std::is_void_v<T>) {
    co_return;
  } else {
    auto value = from_payload<T>(entry.payload);
    if (!value) {
      co_await run->leave_changed("step " + std::to_string(entry.number) + ", '" + entry.name +
                                  "', gives another type: " + value.error().detail());
    }
    co_return *std::move(value);
  }
}

/// The part of a trace that a step is, with all of its tries and what is written of it.
Span begin_step(const WorkflowRun& run, JournalKind kind, const std::string& name);
/// Whether a failed try is not the last one; waits until it is time for the next.
Task<bool> wait_for_retry(WorkflowRun* run, const StepOptions* options, Error failure,
                          std::uint32_t attempt);
/// Before what came of a step is written: lets the coroutine go if it was cancelled, which is no
/// failure of the step.
Task<> leave_if_cancelled(WorkflowRun* run);
std::string key_of(const WorkflowRun& run, std::uint32_t number);
Error too_large(std::size_t bytes);
Error no_transactions();
/// So that those who met do not meet again; and what others committed may not be seen yet.
Task<> wait_after_conflict(WorkflowRun* run, std::uint32_t conflicts);

/// Tries until it succeeds or is given up.
template <class T, class Call>
Task<Result<T>> try_step(WorkflowRun* run, std::uint32_t number, const StepOptions* options,
                         Call* call) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    const StepInfo info{key_of(*run, number), attempt};
    auto outcome = co_await within_time(guarded((*call)(info)), options->timeout);
    co_await leave_if_cancelled(run);
    if (outcome || !co_await wait_for_retry(run, options, outcome.error(), attempt)) {
      co_return outcome;
    }
  }
}

/// How often a transaction of a step is run again because others were faster.
inline constexpr std::uint32_t conflicts_max = 100;

/// The same for what it writes, which is committed with the entry if it succeeds.
template <class T, class Call>
Task<Result<T>> try_transaction(WorkflowRun* run, JournalEntry entry, const StepOptions* options,
                                Call* call) {
  std::uint32_t conflicts = 0;
  for (std::uint32_t attempt = 0;;) {
    auto commit = call->begin(run->engine());
    if (commit == nullptr) co_return no_transactions();
    auto outcome = co_await within_time(guarded((*call)(*commit)), options->timeout);
    co_await leave_if_cancelled(run);
    if (outcome) {
      entry.payload = payload_of(outcome);
      if (entry.payload.size() > payload_bytes_max) co_return too_large(entry.payload.size());
      auto written = co_await run->write_with(entry, std::move(commit));
      if (written) co_return outcome;
      // Others were faster: that is no failure yet.
      if (written.error() == storage::Errc::conflict && ++conflicts < conflicts_max) {
        co_await wait_after_conflict(run, conflicts);
        continue;
      }
      outcome = written.error();
    }
    if (!co_await wait_for_retry(run, options, outcome.error(), attempt++)) co_return outcome;
  }
}

template <class Call, class T = StepValue<Call>>
Task<T> run_step(WorkflowRun* run, JournalKind kind, std::string name, StepOptions options,
                 Call call) {
  const std::uint32_t number = run->ask();
  if (const JournalEntry* found = co_await run->find(number, kind, name)) {
    co_return co_await replayed<T>(run, *found);
  }
  const WorkflowRun::Busy busy(run);
  Span stepping = begin_step(*run, kind, name);
  JournalEntry entry{.kind = kind, .name = name, .number = number};
  Result<T> outcome = Error(Errc::step_failed);
  if constexpr (Call::is_transactional) {
    outcome = co_await try_transaction<T>(run, entry, &options, &call);
  } else {
    outcome = co_await try_step<T>(run, number, &options, &call);
    if (outcome) entry.payload = payload_of(outcome);
    if (entry.payload.size() > payload_bytes_max) outcome = too_large(entry.payload.size());
  }
  if (!outcome) {
    entry.has_failed = true;
    entry.payload = "step '" + name + "': " + outcome.error().message();
    stepping.set_status(telemetry::SpanStatus::error, entry.payload);
  }
  if (!outcome || !Call::is_transactional) co_await run->write(entry);
  if (!outcome) throw ErrorException(Error(Errc::step_failed, entry.payload));
  if constexpr (!std::is_void_v<T>) co_return *std::move(outcome);
}

template <class Call>
Task<> run_compensation(WorkflowRun* run, std::string name, Call call) {
  if constexpr (std::is_void_v<StepValue<Call>>) {
    co_await run_step(run, JournalKind::compensation, std::move(name), {}, std::move(call));
  } else {
    static_cast<void>(
        co_await run_step(run, JournalKind::compensation, std::move(name), {}, std::move(call)));
  }
}

Task<> sleep(WorkflowRun* run, Duration duration);
Task<> sleep_until(WorkflowRun* run, Time until);
Task<bool> has_ended(WorkflowRun* run, ExecutionId child);
Task<> cancel(WorkflowRun* run, ExecutionId child);
Task<Never> continue_as_new(WorkflowRun* run, std::string input);

/// What a child gave; `code_changed` if it is something else.
template <class T>
Task<T> given(WorkflowRun* run, std::string payload) {
  if constexpr (std::is_void_v<T>) {
    co_return;
  } else {
    auto value = from_payload<T>(payload);
    if (!value) {
      co_await run->leave_changed("a child gives another type: " + value.error().detail());
    }
    co_return *std::move(value);
  }
}

template <class T>
Task<std::optional<T>> signal_within(WorkflowRun* run, std::string waitpoint,
                                     std::optional<Duration> timeout) {
  auto payload = co_await run->signal(waitpoint, timeout);
  if (!payload) co_return std::nullopt;
  auto value = from_payload<T>(*payload);
  // Whoever sent it did not know better.
  if (!value) {
    throw ErrorException(
        Error(Errc::step_failed, "signal '" + waitpoint + "': " + value.error().message()));
  }
  co_return *std::move(value);
}
template <class T>
Task<T> signal(WorkflowRun* run, std::string waitpoint) {
  auto value = co_await signal_within<T>(run, waitpoint, std::nullopt);
  // An operator let it go on.
  if (!value) throw ErrorException(Error(Errc::step_failed, "signal '" + waitpoint + "': none"));
  co_return *std::move(value);
}

template <class T>
Task<std::vector<T>> quorum_of(WorkflowRun* run, std::uint32_t needed,
                               std::vector<ExecutionId> children, OnSatisfied on_satisfied) {
  auto results = co_await run->decide(needed, std::move(children), on_satisfied);
  std::vector<T> values;
  for (std::string& result : results.value()) {
    values.push_back(co_await given<T>(run, std::move(result)));
  }
  co_return values;
}
template <class T>
Task<T> any_of(WorkflowRun* run, std::vector<ExecutionId> children, OnSatisfied on_satisfied) {
  auto results = co_await run->decide(1, std::move(children), on_satisfied);
  co_return co_await given<T>(run, results.value().at(0));
}
template <class T>
Task<T> result_of(WorkflowRun* run, ExecutionId child) {
  return any_of<T>(run, {child}, OnSatisfied::let_run);
}

}  // namespace weir::flow::workflow::internal
