#include <weir/runtime/internal/run.hpp>

#include <memory>

#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/cancellation_state.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/measuring.hpp>
#include <weir/runtime/internal/scope_state.hpp>
#include <weir/runtime/internal/timer_message.hpp>
#include <weir/runtime/internal/worker.hpp>

namespace weir::internal {
namespace {

void link_run(Extension& extension, Run* run) noexcept {
  run->previous = nullptr;
  run->next = extension.runs;
  if (extension.runs) extension.runs->previous = run;
  extension.runs = run;
  if (!run->scope) ++extension.handler_count;
}

void unlink_run(Extension& extension, Run* run) noexcept {
  (run->previous ? run->previous->next : extension.runs) = run->next;
  if (run->next) run->next->previous = run->previous;
  if (!run->scope) --extension.handler_count;
}

// The tasks of a scope live on when the handler that started them ends before the scope.
void give_children_away(Run& run) noexcept {
  for (Run* child = run.cell.extension().runs; child; child = child->next) {
    if (child->parent != &run) continue;
    child->parent = run.parent;
    if (run.parent) run.parent->has_children = true;
  }
}

struct CancelMarkedSignal : Signal, Pooled {
  CancelMarkedSignal() noexcept : Signal(&act) {}
  static void act(Signal* signal, Cell& cell) {
    delete static_cast<CancelMarkedSignal*>(signal);
    if (Extension* extension = cell.extension_if_any()) extension->waiters.cancel_marked();
  }
};

void fail_within(Cell& cell, std::uintptr_t trace, const std::exception_ptr& exception) noexcept {
  Worker& worker = *this_worker;
  const std::uintptr_t outer = worker.trace;
  enter_trace(worker, trace);
  fail(cell, exception);
  enter_trace(worker, outer);
}

void resume_run(Run* run) {
  Worker& worker = *this_worker;
  Run* outer = std::exchange(worker.current_run, run);
  OuterTrace below{worker.trace, worker.outer_traces};
  worker.outer_traces = &below;
  enter_trace(worker, run->trace);
  run->handle.resume();
  run->trace = worker.trace;
  worker.outer_traces = below.outer;
  enter_trace(worker, below.trace);
  worker.current_run = outer;
}

std::uint32_t interleaved_max(const Cell& cell) noexcept {
  const std::uint32_t own = cell.type->interleaved_max;
  return own == system_default ? cell.core->options.interleaved_max : own;
}

}  // namespace

Run::Run(Cell& owner, std::coroutine_handle<> coroutine) noexcept
    : TaskRoot([](TaskRoot* root) noexcept { static_cast<Run*>(root)->is_finished = true; }),
      cell(owner),
      handle(coroutine) {}

Run::~Run() {
  handle.destroy();
  if (span) end_span(*cell.core, span);
  if (mark) [[unlikely]]
    record_handling(cell, mark);
  if (has_children) give_children_away(*this);
  if (scope) scope->task_ended(nullptr);
  if (cancellation) cancellation->release();
}

Outcome start_run(Run* owned, Node* node, std::uint8_t blocks) {
  std::unique_ptr<Run> run(owned);
  // Nobody waits for the reply to a timer, and its node is the timer's.
  const bool is_request = node && node->type().is_request && !node->has(Node::is_timer);
  run->request = is_request ? static_cast<RequestNode*>(node) : nullptr;
  run->trace = this_worker->trace;
  run->blocks = run->cell.type->interleaves ? blocks & ~Cell::suspended : blocks;
  resume_run(run.get());
  if (run->is_finished) {
    if (std::exception_ptr exception = run->collect(*run)) std::rethrow_exception(exception);
    return is_request ? Outcome::replied : Outcome::done;
  }
  Cell& cell = run->cell;
  Extension& extension = cell.extension();
  Run* suspended = run.release();
  this_worker->suspended_run = suspended;
  link_run(extension, suspended);
  if (extension.handler_count >= interleaved_max(cell)) suspended->blocks = blocks;
  cell.attention |= suspended->blocks;
  return is_request ? Outcome::suspended : Outcome::done;
}

void complete_if_finished(Run* finished) noexcept {
  if (!finished || !finished->is_finished) return;
  std::unique_ptr<Run> run(finished);
  Cell& cell = run->cell;
  unlink_run(cell.extension(), finished);
  // With one handler less, an actor that interleaves goes on even if it is another one that held it
  // up.
  const bool makes_room = cell.type->interleaves && !run->scope;
  cell.attention &=
      static_cast<std::uint8_t>(~(makes_room ? run->blocks | Cell::suspended : run->blocks));
  const std::exception_ptr exception = run->collect(*run);
  if (RequestNode* request = run->request) {
    if (!request->has(Node::has_reply)) {
      request->type().refuse(request, Error(Errc::failed, describe(exception)));
    }
    send_home(request);
  }
  TimerMessageBase* const timer = run->timer;
  ActiveSpan* span = std::exchange(run->span, nullptr);
  // No part of a handler that has ended is what it fails in: of a pointer nothing is left.
  const std::uintptr_t trace = span ? span->word() : run->trace & undecided;
  run.reset();
  // Behind the run, because it may fail the actor: by then nothing of the handler must be left.
  if (timer) rearm_after_handling(cell, timer->node());
  if (exception) fail_within(cell, trace, exception);
  if (span) end_span(*cell.core, span);
}

void start_child(Run* run) noexcept {
  run->trace = shadow_of(this_worker->trace);
  run->span = ActiveSpan::of(run->trace);
  link_run(run->cell.extension(), run);
  resume_run(run);
  complete_if_finished(run);
}

void destroy_run(Cell& cell, Run* run) noexcept {
  unlink_run(cell.extension(), run);
  cell.attention &= static_cast<std::uint8_t>(~run->blocks);
  if (run->timer) dispose(run->timer->node());
  delete run;
}

void destroy_runs(Cell& cell, const Error& error) noexcept {
  Extension* extension = cell.extension_if_any();
  if (!extension) return;
  while (Run* run = extension->runs) {
    if (RequestNode* request = run->request) {
      request->type().refuse(request, error);
      send_home(request);
    }
    destroy_run(cell, run);
  }
}

void mark_cancelled(Run& run) noexcept {
  run.is_cancelled = true;
  if (run.cancellation) run.cancellation->cancel();
  if (!run.has_children) return;
  for (Run* child = run.cell.extension().runs; child; child = child->next) {
    if (child->parent == &run && !child->is_cancelled) mark_cancelled(*child);
  }
}

void cancel_marked_later(Cell& cell) noexcept { cell.send_signal(new CancelMarkedSignal); }

void cancel_background(Cell& cell) noexcept {
  Extension* extension = cell.extension_if_any();
  if (!extension) return;
  bool is_any = false;
  for (Run* run = extension->runs; run; run = run->next) {
    if (!run->scope || run->parent || run->is_cancelled) continue;
    mark_cancelled(*run);
    is_any = true;
  }
  if (is_any) cancel_marked_later(cell);
}

bool is_held_up_by_current_run(const Cell& cell) noexcept {
  const Worker* worker = this_worker;
  if (!worker || worker->current != &cell) return false;
  // A task of a scope holds nothing up, but the handler that will join it may.
  for (const Run* run = worker->current_run; run; run = run->parent) {
    if ((run->blocks & Cell::blocking) != 0) return true;
  }
  return false;
}

bool is_current_run_cancelled() noexcept {
  const Run* run = this_worker ? this_worker->current_run : nullptr;
  return run && run->is_cancelled && run->shields == 0;
}

}  // namespace weir::internal
