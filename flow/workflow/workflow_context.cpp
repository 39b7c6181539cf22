#include <weir/flow/workflow/workflow_context.hpp>

#include <algorithm>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/validation.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/error.hpp>
#include <weir/runtime/span.hpp>
#include <weir/runtime/try.hpp>

namespace weir::flow::workflow {
namespace internal {

Span begin_step(const WorkflowRun& run, JournalKind kind, const std::string& name) {
  if (!current_trace().is_valid()) return span({});
  return span("workflow." + std::string(to_string(kind)) + "." + name,
              {{"workflow.step", name},
               {"workflow.execution", to_string(run.id())},
               {"workflow.attempt", static_cast<std::int64_t>(run.handle().attempt)}});
}

Task<bool> wait_for_retry(WorkflowRun* run, const StepOptions* options, Error failure,
                          std::uint32_t attempt) {
  if (attempt >= options->retry.retries_max || failure == Errc::step_failed) co_return false;
  add_event("workflow.step.retry", {{"error", failure.message()}});
  const std::uint64_t random = run->engine().system().random();
  co_await run->doze(backoff_before(options->retry, attempt + 1, random));
  co_return true;
}

Task<> leave_if_cancelled(WorkflowRun* run) {
  if (current_cancellation().is_cancelled()) co_await run->leave(Parting::lost);
}

std::string key_of(const WorkflowRun& run, std::uint32_t number) {
  return to_string(run.id()) + "/" + std::to_string(run.first_place()) + "/" +
         std::to_string(number);
}

Error too_large(std::size_t bytes) {
  return Error(Errc::too_large, "a result of " + std::to_string(bytes) + " bytes; the limit is " +
                                    std::to_string(payload_bytes_max));
}

Error no_transactions() {
  return Error(Errc::step_failed, "a step with a transaction needs an embedded store");
}

Task<> wait_after_conflict(WorkflowRun* run, std::uint32_t conflicts) {
  const RetryPolicy policy{.retries_max = conflicts_max,
                           .backoff = std::chrono::microseconds(200),
                           .backoff_max = std::chrono::milliseconds(100),
                           .has_jitter = true};
  co_await run->doze(backoff_before(policy, conflicts, run->engine().system().random()));
}

Task<> sleep(WorkflowRun* run, Duration duration) {
  return sleep_until(run, run->now() + std::chrono::ceil<Time::duration>(duration));
}

Task<> sleep_until(WorkflowRun* run, Time until) {
  const std::uint32_t number = run->ask();
  if (const JournalEntry* found = co_await run->find(number, JournalKind::sleep, "")) {
    until = from_payload<Time>(found->payload).value();
  } else {
    if (auto valid = validate_time("sleep", until); !valid) throw ErrorException(valid.error());
    co_await run->write(
        {.kind = JournalKind::sleep, .number = number, .payload = to_payload(until)});
  }
  co_await run->pause(until);
}

namespace {

Task<Result<bool>> look_at(const Engine* engine, ExecutionId id) {
  WEIR_CO_TRY(info, co_await engine->describe(id));
  // What is not there any more has ended.
  co_return !info || info->execution.has_ended();
}

Task<Result<bool>> cancel_now(const Engine* engine, ExecutionId id) {
  auto cancelled = co_await engine->cancel(id, "by its parent");
  // What is not there any more has ended.
  if (!cancelled && cancelled.error() == Errc::not_found) co_return false;
  co_return cancelled;
}

}  // namespace

Task<bool> has_ended(WorkflowRun* run, ExecutionId child) {
  co_await run->flush_children();
  co_return co_await run_step(run, JournalKind::step, "has_ended", {},
                              StepCall(&look_at, &run->engine(), child));
}

Task<> cancel(WorkflowRun* run, ExecutionId child) {
  co_await run->flush_children();
  co_await run_step(run, JournalKind::step, "cancel", {},
                    StepCall(&cancel_now, &run->engine(), child));
}

Task<Never> continue_as_new(WorkflowRun* run, std::string input) {
  run->stop_if_undoing();
  co_await run->flush_children();
  run->set_next_input(std::move(input));
  co_await run->leave(Parting::continued);
  co_return Never();
}

namespace {

/// A value that is drawn once.
template <class T, class Draw>
T draw_once(WorkflowRun* run, const char* name, Draw draw) {
  const std::uint32_t number = run->ask();
  if (const JournalEntry* found = run->find_now(number, JournalKind::value, name)) {
    return from_payload<T>(found->payload).value();
  }
  const T value = draw();
  run->note(
      {.kind = JournalKind::value, .name = name, .number = number, .payload = to_payload(value)});
  return value;
}

}  // namespace
}  // namespace internal

Time WorkflowContext::now() const {
  return internal::draw_once<Time>(run_, "now", [this] { return run_->now(); });
}

std::uint64_t WorkflowContext::random() const {
  ActorSystem& system = run_->engine().system();
  return internal::draw_once<std::uint64_t>(run_, "random", [&] { return system.random(); });
}

data::Uuid WorkflowContext::uuid() const {
  ActorSystem& system = run_->engine().system();
  return internal::draw_once<data::Uuid>(run_, "uuid", [&] {
    const auto since =
        std::chrono::floor<std::chrono::milliseconds>(run_->now()).time_since_epoch();
    return make_timed_uuid(static_cast<std::uint64_t>(since.count()), system.random(),
                           system.random());
  });
}

ExecutionId WorkflowContext::begin_child(std::string kind, std::string payload,
                                         ChildOptions options) const {
  const std::uint32_t number = run_->ask();
  const std::string lane = options.lane.value_or(run_->options().lane);
  const ExecutionId id = run_->child_id(number, lane);
  const bool is_begun = run_->find_now(number, JournalKind::child, kind) != nullptr;
  if (options.on_parent_end == OnParentEnd::cancel) run_->own_child(id);
  if (is_begun) return id;
  run_->note({.kind = JournalKind::child, .name = kind, .number = number});
  run_->begin_child(
      number,
      {.kind = std::move(kind),
       .payload = std::move(payload),
       .space = run_->options().space,
       .lane = lane,
       .id = id,
       .priority = options.priority.value_or(std::min(run_->options().priority + 1, priority_max)),
       .attempt_timeout = options.attempt_timeout,
       .retry = std::move(options.retry),
       .tags = std::move(options.tags),
       .creator = to_string(run_->id()),
       .parent = Parent{run_->id(), run_->first_place()},
       .trace = current_trace()});
  return id;
}

}  // namespace weir::flow::workflow
