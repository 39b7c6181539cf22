#include <weir/runtime/internal/reply_waiter.hpp>

#include <string>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/worker.hpp>
#include <weir/runtime/send_result.hpp>

namespace weir::internal {
namespace {

struct CancelSignal : Signal, Pooled {
  explicit CancelSignal(RequestNode* which) noexcept
      : Signal(&act), request(which), id(which->id) {}

  // The request may be over by now, and its memory another request's: it is only compared until it
  // is known to be a request that is being handled.
  static void act(Signal* signal, Cell& cell) {
    auto* self = static_cast<CancelSignal*>(signal);
    if (Extension* extension = cell.extension_if_any()) {
      for (Run* run = extension->runs; run; run = run->next) {
        if (run->request != self->request || run->request->id != self->id) continue;
        mark_cancelled(*run);
        extension->waiters.cancel_marked();
        break;
      }
    }
    delete self;
  }

  RequestNode* request;
  std::uint64_t id;
};

std::string describe_target(const Cell& target, const MessageType& type) {
  return std::string(type.name()) + " to " + std::string(target.type->name);
}

}  // namespace

ReplyWaiter::~ReplyWaiter() {
  if (in_flight_) {
    abandon();
    end_deadline();
  }
  if (returned_) dispose(returned_);
}

bool ReplyWaiter::refuse(RequestNode* request, Error error) noexcept {
  dispose(request);
  error_ = std::move(error);
  return false;
}

bool ReplyWaiter::ask(Cell* target, RequestNode* request, Duration timeout,
                      std::coroutine_handle<> handle) {
  Worker* worker = this_worker;
  Cell* home = worker ? worker->current : nullptr;
  if (!home) {
    return refuse(request,
                  Error(Errc::unsupported,
                        "ask outside an actor or a task of the system; see ActorSystem::run"));
  }
  if (!target) return refuse(request, Error(Errc::stopped, "empty reference"));
  if (is_current_run_cancelled()) return refuse(request, Error(Errc::cancelled));
  if (timeout <= Duration::zero()) {
    return refuse(request, Error(Errc::timed_out, "the deadline had already passed"));
  }
  if (is_held_up_by_current_run(*target)) {
    return refuse(request, Error(Errc::deadlock,
                                 describe_target(*target, request->type()) +
                                     ": the actor asks itself while it handles nothing else"));
  }
  request->home = home;
  request->waiter.store(this, std::memory_order_relaxed);
  request->id = ++worker->next_request;
  in_flight_ = request;
  target_ = target;
  target_id_ = target->id.load(std::memory_order_relaxed);
  Extension& extension = home->extension();
  extension.outstanding.store(extension.outstanding.load(std::memory_order_relaxed) + 1,
                              std::memory_order_relaxed);
  suspend(handle);
  const SendStatus status = send(target, request);
  if (status != SendStatus::sent) {
    extension.outstanding.store(extension.outstanding.load(std::memory_order_relaxed) - 1,
                                std::memory_order_relaxed);
    in_flight_ = nullptr;
    report_refusal(*target, request->type(), status);
    Error error(status == SendStatus::full ? Errc::full : Errc::stopped,
                describe_target(*target, request->type()));
    return refuse(request, std::move(error));
  }
  if (timeout != forever) {
    fire = &ReplyWaiter::on_deadline;
    home->core->arm_lazily(*this, timeout.count());
  }
  return true;
}

void ReplyWaiter::on_deadline(TimerEntry* entry) noexcept {
  auto* self = static_cast<ReplyWaiter*>(entry);
  self->deadline_signal_.is_sent = true;
  self->home()->send_signal(&self->deadline_signal_);
}

void ReplyWaiter::on_deadline_signal(Signal* signal, Cell&) {
  auto* sent = static_cast<DeadlineSignal*>(static_cast<RevocableSignal*>(signal));
  sent->is_sent = false;
  ReplyWaiter* self = sent->waiter;
  self->error_ = Error(Errc::timed_out);
  self->abandon();
  self->resume();
}

void ReplyWaiter::end_deadline() noexcept {
  if (TimerEntry::queue && !TimerEntry::queue->cancel(*this) && deadline_signal_.is_sent) {
    withdraw(*home(), deadline_signal_);
  }
}

void ReplyWaiter::abandon() noexcept {
  RequestNode* request = std::exchange(in_flight_, nullptr);
  request->waiter.store(nullptr, std::memory_order_relaxed);
  if (target_->try_add_ref(target_id_)) {
    target_->send_signal(new CancelSignal(request));
    target_->release();
  }
}

void ReplyWaiter::cancel() noexcept {
  if (!in_flight_) return;
  error_ = Error(Errc::cancelled);
  abandon();
  end_deadline();
  resume();
}

std::string ReplyWaiter::describe() const {
  if (!in_flight_) return "nothing";
  std::string text = "the reply to " + std::string(in_flight_->type().name()) + " from #" +
                     std::to_string(target_id_);
  if (target_->try_add_ref(target_id_)) {
    text += " " + std::string(target_->type->name);
    target_->release();
  }
  return text;
}

void receive_reply(Cell& home, RequestNode* request) noexcept {
  Extension& extension = home.extension();
  extension.outstanding.store(extension.outstanding.load(std::memory_order_relaxed) - 1,
                              std::memory_order_relaxed);
  ReplyWaiter* waiter = request->waiter.load(std::memory_order_relaxed);
  if (!waiter) {
    if (!request->has(Node::unhandled)) {
      home.core->report_dead_letter(DeadLetterReason::late_reply, home, request->type());
    }
    dispose(request);
    return;
  }
  waiter->in_flight_ = nullptr;
  waiter->returned_ = request;
  waiter->end_deadline();
  waiter->resume();
}

}  // namespace weir::internal
