#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/flow/workflow/engine.hpp>
#include <weir/flow/workflow/internal/callable.hpp>
#include <weir/flow/workflow/internal/step.hpp>
#include <weir/flow/workflow/internal/workflow_run.hpp>
#include <weir/flow/workflow/payload.hpp>

namespace weir::flow::workflow {

/// An execution that a durable coroutine has begun, and that gives a `T`.
template <class T>
struct Child {
  ExecutionId id;
};

/// A limit of time: `within(24h)`.
struct Within {
  Duration duration;
};
inline Within within(Duration duration) noexcept { return {duration}; }

/// What becomes of a child when its parent fails, is cancelled or expires.
enum class OnParentEnd : std::uint8_t { cancel = 1, let_run };

/// How a child is run.
struct ChildOptions {
  /// That of its parent, if none is given.
  std::optional<std::string> lane = {};
  RetryPolicy retry = {};
  std::optional<Duration> attempt_timeout = {};
  Tags tags = {};
  /// That of its parent and one more, if none is given: what has begun is finished before others
  /// begin that are as urgent.
  std::optional<std::int32_t> priority = {};
  OnParentEnd on_parent_end = OnParentEnd::cancel;
};

/// What a durable coroutine does, it does through this.
///
///     Task<Receipt> checkout(WorkflowContext ctx, Order order) {
///       auto payment = co_await ctx.step("charge", charge, order);
///       ctx.compensate("refund", refund, payment);
///       co_await ctx.sleep(std::chrono::minutes(5));
///       co_return co_await ctx.step("ship", ship, order);
///     }
///
/// What comes of each call is written to the journal of the execution before the next one begins.
/// After a crash the coroutine is run again from its first line, and gets what is in the journal
/// instead of doing it again; so between these calls it does nothing that comes out differently
/// each time, and waits for nothing else. If it asks for something else than the journal has, it
/// is stopped: `code_changed`.
///
/// A step that fails for good is thrown, as `ErrorException` with `step_failed`. What the coroutine
/// throws ends its execution, after its children were cancelled and what undoes its steps was run.
///
/// If others end its execution (it is cancelled, or its deadline passes) that is done by another
/// one, `Engine::undo_of`: the coroutine is run again up to where it was, is thrown `cancelled`
/// there, and what undoes its steps is run. What it asks for after that is thrown the same.
///
/// Cheap to copy; confined to its coroutine.
class WorkflowContext {
 public:
  explicit WorkflowContext(internal::WorkflowRun* run) noexcept : run_(run) {}

  const ExecutionId& id() const noexcept { return run_->id(); }

  /// Runs a function once and gives what it gave, now and ever after. The function gives a value,
  /// a `Result`, or a `Task` of either. If the process dies before what came of it is written,
  /// it is run again, with the same key: `StepInfo`, which it may take before its arguments.
  ///
  /// If it takes a `storage::Transaction*`, or a reference, before them, what it writes there is
  /// committed with the journal, together or not at all: then it has happened exactly once. It is
  /// run again when others were faster.
  template <class Function, class... Args>
  auto step(std::string name, Function function, Args... args) const {
    return step(std::move(name), StepOptions{}, std::move(function), std::move(args)...);
  }
  template <class Function, class... Args>
  auto step(std::string name, StepOptions options, Function function, Args... args) const {
    return internal::run_step(
        run_, JournalKind::step, std::move(name), std::move(options),
        internal::StepCall<Function, Args...>(std::move(function), std::move(args)...));
  }

  /// For transactions of another kind: `call.begin(engine)` gives a `StepCommit`, `call(commit)` a
  /// task of a `Result`.
  template <class Call>
  auto step_with(std::string name, StepOptions options, Call call) const {
    return internal::run_step(run_, JournalKind::step, std::move(name), std::move(options),
                              std::move(call));
  }

  /// If the coroutine throws, or others end its execution, this is run as a step, the last one
  /// first. A step that may have been under way then is undone too if this is said before it.
  template <class Function, class... Args>
  void compensate(std::string name, Function function, Args... args) const {
    using Call = internal::StepCall<Function, Args...>;
    auto call = std::make_shared<Call>(std::move(function), std::move(args)...);
    run_->add_compensation([run = run_, name = std::move(name), call] {
      return internal::run_compensation(run, name, *call);
    });
  }

  /// Survives restarts. What sleeps for longer than the worker's `memory_wait_max` takes neither
  /// memory nor a place meanwhile.
  Task<> sleep(Duration duration) const { return internal::sleep(run_, duration); }
  Task<> sleep_until(Time time) const { return internal::sleep_until(run_, time); }

  // The same each time the coroutine is run.
  Time now() const;
  std::uint64_t random() const;
  data::Uuid uuid() const;

  /// Begins an execution, which some worker that knows its kind does. It goes on when this one
  /// completes; otherwise it is cancelled, unless its options say that it is let run.
  template <class T = void, class Arg = std::string>
  Child<T> child(std::string kind, const Arg& argument = {}, ChildOptions options = {}) const {
    return Child<T>{begin_child(std::move(kind), to_payload(argument), std::move(options))};
  }
  /// What it gave; throws if it did not complete.
  template <class T>
  Task<T> result(Child<T> child) const {
    return internal::result_of<T>(run_, child.id);
  }
  /// What the first `needed` of them gave that completed, in the order of their ends; throws if
  /// there cannot be so many any more.
  template <class T>
  Task<std::vector<T>> quorum(std::uint32_t needed, const std::vector<Child<T>>& children,
                              OnSatisfied on_satisfied = OnSatisfied::let_run) const {
    return internal::quorum_of<T>(run_, needed, ids_of(children), on_satisfied);
  }
  /// What the first one gave that completed.
  template <class T>
  Task<T> any_of(const std::vector<Child<T>>& children,
                 OnSatisfied on_satisfied = OnSatisfied::cancel_remaining) const {
    return internal::any_of<T>(run_, ids_of(children), on_satisfied);
  }

  /// How it ended, when it has.
  template <class T>
  Task<PublicState> end_of(Child<T> child) const {
    return run_->end_of(child.id);
  }
  /// Whether it had ended when this was asked.
  template <class T>
  Task<bool> has_ended(Child<T> child) const {
    return internal::has_ended(run_, child.id);
  }
  template <class T>
  Task<> cancel(Child<T> child) const {
    return internal::cancel(run_, child.id);
  }

  /// What is sent to a waitpoint of this execution by `Engine::signal` or `approve`, before or
  /// after it is waited for. The execution takes neither memory nor a place meanwhile: nothing else
  /// may be going on in the coroutine.
  template <class T>
  Task<T> signal(std::string waitpoint) const {
    return internal::signal<T>(run_, std::move(waitpoint));
  }
  /// The same, or none if it does not come in time.
  template <class T>
  Task<std::optional<T>> signal(std::string waitpoint, Within limit) const {
    return internal::signal_within<T>(run_, std::move(waitpoint), limit.duration);
  }

  /// True unless the coroutine was beyond this point before the code had it: then it goes on as it
  /// did before.
  bool patched(const std::string& name) const { return version(name, 0, 1) == 1; }
  /// The newest version of some piece of code when it came here for the first time; `oldest` if it
  /// did before there were versions.
  std::uint32_t version(const std::string& name, std::uint32_t oldest, std::uint32_t newest) const {
    return run_->version(name, oldest, newest);
  }

  /// `co_return co_await ctx.continue_as_new(input)`: begins anew with an empty journal, as the
  /// same execution. For what goes on for ever.
  template <class T>
  Task<internal::Never> continue_as_new(const T& input) const {
    return internal::continue_as_new(run_, to_payload(input));
  }

  /// Answers `Worker::query` of this name with a function of its argument. The coroutine is run up
  /// to where it is for that, so the function may look at its variables, and must outlive none.
  template <class Function>
  void on_query(std::string name, Function function) const {
    using Arg = std::tuple_element_t<0, internal::Parameters<Function>>;
    run_->add_query(std::move(name), [function](const std::string& bytes) -> Result<std::string> {
      auto argument = from_payload<Arg>(bytes);
      if (!argument) return argument.error();
      return to_payload(function(*std::move(argument)));
    });
  }

 private:
  ExecutionId begin_child(std::string kind, std::string payload, ChildOptions options) const;
  template <class T>
  static std::vector<ExecutionId> ids_of(const std::vector<Child<T>>& children) {
    std::vector<ExecutionId> ids;
    ids.reserve(children.size());
    for (const Child<T>& child : children) ids.push_back(child.id);
    return ids;
  }

  internal::WorkflowRun* run_;
};

}  // namespace weir::flow::workflow
