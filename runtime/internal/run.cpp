#include <weir/runtime/internal/run.hpp>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/timer_message.hpp>
#include <weir/runtime/internal/worker.hpp>

namespace weir::internal {
namespace {

void link_run(Extension& extension, Run* run) noexcept {
  run->previous = nullptr;
  run->next = extension.runs;
  if (extension.runs) extension.runs->previous = run;
  extension.runs = run;
  ++extension.run_count;
}

void unlink_run(Extension& extension, Run* run) noexcept {
  (run->previous ? run->previous->next : extension.runs) = run->next;
  if (run->next) run->next->previous = run->previous;
  --extension.run_count;
}

void resume_run(Run* run) {
  Worker& worker = *this_worker;
  Run* outer = std::exchange(worker.current_run, run);
  run->handle.resume();
  worker.current_run = outer;
}

}  // namespace

Run::Run(Cell& owner, std::coroutine_handle<> coroutine) noexcept
    : TaskRoot([](TaskRoot* root) noexcept { static_cast<Run*>(root)->is_finished = true; }),
      cell(owner),
      handle(coroutine) {}

Run::~Run() { handle.destroy(); }

Outcome start_run(std::unique_ptr<Run> run, Node* node, std::uint8_t blocks) {
  const bool is_request = node && node->type().is_request;
  run->request = is_request ? static_cast<RequestNode*>(node) : nullptr;
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
  suspended->blocks = blocks;
  if (cell.type->interleaves && extension.run_count < cell.core->options.interleaved_max) {
    suspended->blocks &= static_cast<std::uint8_t>(~Cell::suspended);
  }
  cell.attention |= suspended->blocks;
  return is_request ? Outcome::suspended : Outcome::done;
}

void complete_if_finished(Run* finished) noexcept {
  if (!finished || !finished->is_finished) return;
  std::unique_ptr<Run> run(finished);
  Cell& cell = run->cell;
  unlink_run(cell.extension(), finished);
  cell.attention &= static_cast<std::uint8_t>(~run->blocks);
  const std::exception_ptr exception = run->collect(*run);
  if (RequestNode* request = run->request) {
    if (!request->has(Node::has_reply)) {
      request->type().refuse(request, Error(Errc::failed, describe(exception)));
    }
    send_home(request);
  }
  if (run->timer) rearm_after_handling(cell, run->timer->node());
  run.reset();
  if (exception) fail(cell, exception);
}

void destroy_runs(Cell& cell, const Error& error) noexcept {
  Extension* extension = cell.extension_if_any();
  if (!extension) return;
  while (Run* run = extension->runs) {
    unlink_run(*extension, run);
    cell.attention &= static_cast<std::uint8_t>(~run->blocks);
    if (RequestNode* request = run->request) {
      request->type().refuse(request, error);
      send_home(request);
    }
    if (run->timer) dispose(run->timer->node());
    delete run;
  }
}

}  // namespace weir::internal
