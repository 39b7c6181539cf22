#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/supervise.hpp>

namespace weir {
namespace internal {
namespace {

thread_local Cell* under_construction = nullptr;

std::mutex outcome_mutex;
std::condition_variable outcome_changed;

// Gives the type its place in dispatch tables, if it has none. The first is not for a message.
std::uint32_t table_index(const MessageType* message) {
  static std::mutex mutex;
  static std::uint32_t last = 0;
  if (!message) return 0;
  std::scoped_lock hold(mutex);
  std::uint32_t index = message->index.load(std::memory_order_relaxed);
  if (index == 0) message->index.store(index = ++last, std::memory_order_relaxed);
  return index;
}

}  // namespace

ConstructionScope::ConstructionScope(Cell* cell) noexcept
    : outer_(std::exchange(under_construction, cell)) {}

ConstructionScope::~ConstructionScope() { under_construction = outer_; }

Cell* cell_under_construction() noexcept { return under_construction; }

void set_factory(Cell& cell, Factory* factory) {
  std::unique_ptr<Factory> owned(factory);
  cell.extension().factory = std::move(owned);
}

void make_table(ActorType& type, const HandlerEntry* entries, std::size_t count) {
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < count; ++i) last = std::max(last, table_index(entries[i].message));
  auto* table = new Invoke[last + 1]{};
  for (std::size_t i = 0; i < count; ++i)
    table[table_index(entries[i].message)] = entries[i].invoke;
  type.table = table;
  type.table_size = last + 1;
}

void post_to_self(Cell& cell, Node* node) noexcept {
  cell.enqueued.fetch_add(1, std::memory_order_relaxed);
  if (this_worker && this_worker->trace != 0) attach_trail(*this_worker, cell, node);
  if (!cell.push(node, node)) dispose(node);
}

void report_refusal(Cell& target, const MessageType& type, SendStatus status) noexcept {
  target.core->report_dead_letter(
      status == SendStatus::full ? DeadLetterReason::mailbox_full : DeadLetterReason::actor_stopped,
      target, type);
}

void stop_actor(Cell* cell, int how) noexcept {
  if (!cell) return;
  switch (how) {
    case 1: request_stop(*cell, StopMode::drain, {}); break;
    case 2: request_kill(*cell, {StopReason::Kind::killed, {}}); break;
    default: request_stop(*cell, StopMode::graceful, {}); break;
  }
}

Duration default_ask_timeout(const Cell* target) noexcept {
  return target ? target->core->options.ask_timeout : forever;
}

void forbid_inside_actors() {
  if (this_worker && this_worker->current) {
    throw std::logic_error(
        "weir: this call waits for actors and would hold up the thread that runs them; inside an "
        "actor, co_await instead");
  }
}

void TaskOutcomeBase::finish(std::exception_ptr exception) {
  // Who sees the task finished sees what it sent: its messages come before any later ones.
  if (this_worker) end_of_handler(*this_worker);
  std::scoped_lock hold(outcome_mutex);
  exception_ = std::move(exception);
  is_finished_ = true;
  outcome_changed.notify_all();
}

bool TaskOutcomeBase::is_finished() const {
  std::scoped_lock hold(outcome_mutex);
  return is_finished_;
}

void TaskOutcomeBase::wait_until_finished() {
  std::unique_lock hold(outcome_mutex);
  outcome_changed.wait(hold, [this] { return is_finished_; });
}

void finish_if_simulated(Cell& task, const TaskOutcomeBase& outcome) {
  if (SimulationHost* simulation = task.core->simulation) simulation->finish(task, outcome);
}

std::exception_ptr stopped_before_finished() noexcept {
  return std::make_exception_ptr(
      ErrorException(Error(Errc::stopped, "the system stopped before the task had finished")));
}

}  // namespace internal

ActorId ActorBase::id() const noexcept { return {cell_->id.load(std::memory_order_relaxed)}; }

const std::string& ActorBase::name() const noexcept { return cell_->extension().name; }

ActorSystem& ActorBase::system() const noexcept { return *cell_->core->owner; }

TimePoint ActorBase::now() const noexcept { return TimePoint(Duration(cell_->core->now_ns())); }

std::uint64_t ActorBase::random() const noexcept { return cell_->core->random(); }

void ActorBase::stop() noexcept { internal::begin_stop(*cell_, internal::StopMode::graceful, {}); }

void ActorBase::unstash() noexcept { cell_->flags |= internal::Cell::wants_unstash; }

bool ActorBase::is_cancelled() const noexcept {
  const internal::Run* run = internal::this_worker->current_run;
  return run && run->is_cancelled;
}

const char* to_string(StopReason::Kind kind) noexcept {
  switch (kind) {
    case StopReason::Kind::normal: return "normal";
    case StopReason::Kind::failed: return "failed";
    case StopReason::Kind::killed: return "killed";
    case StopReason::Kind::parent_stopped: return "parent stopped";
    case StopReason::Kind::system_stopped: return "system stopped";
  }
  return "unknown";
}

const char* to_string(DeadLetterReason reason) noexcept {
  switch (reason) {
    case DeadLetterReason::mailbox_full: return "mailbox full";
    case DeadLetterReason::actor_stopped: return "actor stopped";
    case DeadLetterReason::dropped_newest: return "dropped, newest";
    case DeadLetterReason::dropped_oldest: return "dropped, oldest";
    case DeadLetterReason::late_reply: return "late reply";
    case DeadLetterReason::abandoned: return "caller gave up";
    case DeadLetterReason::stash_full: return "stash full";
  }
  return "unknown";
}

std::uint64_t DeadLetterCounts::total() const noexcept {
  std::uint64_t sum = 0;
  for (std::uint64_t count : by_reason) sum += count;
  return sum;
}

}  // namespace weir
