#include <weir/runtime/internal/blocking_waiter.hpp>

#include <utility>

#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/blocking_pool.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/run.hpp>

namespace weir::internal {

BlockingCall::BlockingCall(Cell& actor, Step invoke_step, Step destroy_step) noexcept
    : Signal(&BlockingWaiter::on_home),
      home(&actor),
      trace(undecided),
      invoke(invoke_step),
      destroy(destroy_step) {
  home->add_ref();
}

bool BlockingCall::submit() {
  Core& core = *home->core;
  if (const ActiveSpan* outer = ActiveSpan::of(this_worker->trace)) {
    ActiveSpan* span = new_span(*this_worker, outer->context());
    span->details().name = "blocking call";
    trace = span->word();
  } else if (this_worker->records_spans) {
    trace = this_worker->trace;
  }
  if (core.simulation) {
    core.simulation->run_blocking(core, &BlockingCall::perform, this);
    return true;
  }
  if (core.blocking->submit(this)) return true;
  end_call_span();
  home->release();
  return false;
}

void BlockingCall::perform(void* call) noexcept {
  auto* self = static_cast<BlockingCall*>(call);
  auto expected = Progress::queued;
  if (self->progress.compare_exchange_strong(expected, Progress::begun)) {
    foreign_trace = self->trace;
    self->invoke(self);
    foreign_trace = undecided;
  }
  self->end_call_span();
  self->finish();
}

void BlockingCall::end_call_span() noexcept {
  ActiveSpan* span = ActiveSpan::of(trace);
  trace = unsampled;
  if (span) end_span(*home->core, span);
}

void BlockingCall::finish() noexcept {
  Cell* actor = home;  // the call may be gone once it has been pushed
  if (!actor->push_control(this, Cell::signal_tag)) destroy(this);
  actor->release();
}

bool BlockingCall::refuse() noexcept {
  auto expected = Progress::queued;
  return progress.compare_exchange_strong(expected, Progress::refused) ||
         expected == Progress::refused;
}

BlockingWaiter::~BlockingWaiter() {
  if (!call_) return;
  if (is_away_) {
    // Whoever has it disposes of it when it comes home.
    call_->waiter = nullptr;
    call_->refuse();
  } else {
    call_->destroy(call_);
  }
}

bool BlockingWaiter::wait(BlockingCall* call, std::coroutine_handle<> handle) {
  Core& core = *call->home->core;
  call_ = call;
  if (is_current_run_cancelled()) {
    error_ = Error(Errc::cancelled);
    call->home->release();
    return false;
  }
  call->waiter = this;
  suspend(handle);
  is_away_ = true;
  if (call->submit()) return true;
  is_away_ = false;
  error_ = core.options.blocking_threads_max == 0
               ? Error(Errc::unsupported, "blocking_threads_max is 0")
               : Error(Errc::stopped, "no thread for a blocking call");
  return false;
}

// A call that has begun is waited for: it may use what its caller keeps alive.
void BlockingWaiter::cancel() noexcept {
  if (!is_away_ || !call_->refuse()) return;
  call_->waiter = nullptr;
  call_ = nullptr;
  is_away_ = false;
  error_ = Error(Errc::cancelled);
  resume();
}

void BlockingWaiter::on_home(Signal* signal, Cell&) {
  auto* call = static_cast<BlockingCall*>(signal);
  BlockingWaiter* waiter = call->waiter;
  if (!waiter) {
    call->destroy(call);
    return;
  }
  waiter->is_away_ = false;
  if (call->progress.load() == BlockingCall::Progress::refused) {
    waiter->error_ = Error(Errc::stopped, "the system stops");
  }
  waiter->resume();
}

}  // namespace weir::internal
