#pragma once

#include <exception>
#include <optional>

#include <weir/runtime/actor.hpp>
#include <weir/runtime/task.hpp>

namespace weir::internal {

class SimulationHost;

/// Throws if the calling thread runs an actor: waiting there would hold the thread up.
void forbid_inside_actors();

/// Where a thread waits for a task.
class TaskOutcomeBase {
 public:
  void finish(std::exception_ptr exception);
  bool is_finished() const;

 protected:
  void wait_until_finished();

  std::exception_ptr exception_;

 private:
  bool is_finished_ = false;  // guarded by one lock for all, so that the header stays light
};

template <class T>
class TaskOutcome final : public TaskOutcomeBase {
 public:
  T wait() {
    wait_until_finished();
    if (exception_) std::rethrow_exception(exception_);
    return std::move(*value);
  }
  std::optional<T> value;
};

template <>
class TaskOutcome<void> final : public TaskOutcomeBase {
 public:
  void wait() {
    wait_until_finished();
    if (exception_) std::rethrow_exception(exception_);
  }
};

/// Under simulation the thread that waits is the one that runs the actors.
void finish_if_simulated(Cell& task, const TaskOutcomeBase& outcome);

std::exception_ptr stopped_before_finished() noexcept;

/// Runs one task and tells the thread that waits for it.
template <class T>
class TaskActor final : public Actor<> {
 public:
  TaskActor(Task<T> task, TaskOutcome<T>* outcome) noexcept
      : task_(std::move(task)), outcome_(outcome) {}
  ~TaskActor() {
    if (outcome_) outcome_->finish(stopped_before_finished());
  }

  Task<> on_start() {
    std::exception_ptr exception;
    try {
      if constexpr (std::is_void_v<T>) {
        co_await std::move(task_);
      } else {
        outcome_->value.emplace(co_await std::move(task_));
      }
    } catch (...) {
      exception = std::current_exception();
    }
    std::exchange(outcome_, nullptr)->finish(exception);
    stop();
  }

 private:
  Task<T> task_;
  TaskOutcome<T>* outcome_;
};

template <class T>
inline constexpr bool is_scenario<TaskActor<T>> = true;

}  // namespace weir::internal
