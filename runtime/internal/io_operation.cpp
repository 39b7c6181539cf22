#include <weir/runtime/internal/io_operation.hpp>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/io_service.hpp>
#include <weir/runtime/internal/run.hpp>

namespace weir::internal {

IoOperation::IoOperation(Cell& actor) noexcept : Signal(&on_dropped), home_(&actor) {
  home_->add_ref();
}

IoOperation::~IoOperation() { home_->release(); }

void IoOperation::complete() {
  IoWaiter* waiter = std::exchange(waiter_, nullptr);
  waiter->in_flight_ = nullptr;
  release();
  waiter->resume();
}

void IoOperation::drop() noexcept {
  add_ref();
  if (!home_->push_control(this, Cell::signal_tag)) release();
}

void IoOperation::on_dropped(Signal* signal, Cell&) {
  const IoPointer<IoOperation> self(static_cast<IoOperation*>(signal));
  if (self->is_abandoned()) return;
  self->waiter_->error_ = Error(Errc::failed, "the operation was dropped before it had finished");
  self->complete();
}

IoWaiter::~IoWaiter() {
  if (!in_flight_) return;
  // From here on the operation touches no buffer: Asio takes it out of its reactor under the lock
  // that it holds while it reads and writes.
  IoOperation* operation = in_flight_;
  end();
  operation->cancel();
  operation->release();
}

Cell* IoWaiter::prepare() {
  Cell* actor = current_cell();
  if (!actor) {
    error_ = Error(Errc::unsupported,
                   "I/O outside an actor or a task of the system; see ActorSystem::run");
  } else if (actor->core->simulation) {
    error_ = Error(Errc::unsupported, "there is no real I/O under simulation");
  } else if (is_current_run_cancelled()) {
    error_ = Error(Errc::cancelled);
  } else {
    return actor;
  }
  return nullptr;
}

void IoWaiter::begin(IoOperation& operation, std::coroutine_handle<> handle) {
  suspend(handle);
  operation.add_ref();
  operation.waiter_ = this;
  in_flight_ = &operation;
}

void IoWaiter::end() noexcept {
  in_flight_->waiter_ = nullptr;
  in_flight_ = nullptr;
}

// The operation ends soon, with an error that Asio chooses; until then it may use its buffers.
void IoWaiter::cancel() noexcept {
  if (!in_flight_) return;
  is_cancelled_ = true;
  in_flight_->cancel();
}

boost::asio::execution_context& ActorExecutor::query(
    boost::asio::execution::context_t) const noexcept {
  return io_context_of(*operation_->home().core);
}

}  // namespace weir::internal
