#include <weir/runtime/internal/measuring.hpp>

#include <utility>

#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/run.hpp>
#include <weir/runtime/internal/timer_message.hpp>
#include <weir/telemetry/telemetry.hpp>

namespace weir::internal {
namespace {

// Messages are handled in less than a microsecond, or wait for somebody far away.
std::vector<double> bounds() {
  return {1e-6, 2.5e-6, 5e-6,  1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3,
          5e-3, 0.01,   0.025, 0.05, 0.1,    0.25, 0.5,  1,      2.5,  5,    10};
}

// A message that is measured has a trail for itself.
Trail& own_trail(Node* node, Trail& trail) {
  if (trail.uses.load(std::memory_order_acquire) == 1) return trail;
  auto* own = new Trail(trail.from(), trail.sent_ns.load(std::memory_order_relaxed));
  node->trace = reinterpret_cast<std::uintptr_t>(own);
  Trail::release(&trail);
  return *own;
}

void put_mark(Node* node, const Mark& mark) noexcept {
  if (Trail* trail = trail_of(node->trace)) {
    own_trail(node, *trail).mark = to_word(mark);
  } else if (node->trace <= undecided) {
    node->trace |= to_word(mark);
  }
}

// Of threads that are not workers.
MessageSampler& sampler_of_this_thread(Core& core) noexcept {
  if (this_worker) return this_worker->sampler;
  // Chosen by the seed alone, whatever ran on this thread before.
  if (core.simulation) return core.workers.front()->sampler;
  thread_local MessageSampler sampler(core.options.telemetry->options().measured_one_in_max, 1);
  return sampler;
}

// The mark of a message, which it loses.
std::uintptr_t take_mark(Node* node) noexcept {
  if (Trail* trail = trail_of(node->trace)) {
    return trail->mark == 0 ? 0 : std::exchange(trail->mark, 0);  // others may look at it
  }
  if ((node->trace & mark_bit) == 0) return 0;
  return std::exchange(node->trace, node->trace & undecided);
}

void put_back(Node* node, std::uintptr_t mark) noexcept {
  if (Trail* trail = trail_of(node->trace)) {
    trail->mark = mark;
  } else {
    node->trace = mark;
  }
}

Outcome handle_unmarked(Cell& cell, Node* node, Worker& worker) noexcept {
  return decide_recording(node, worker) ? handle_recorded(cell, node, worker)
                                        : handle_quickly(cell, node);
}

}  // namespace

ActorDurations::ActorDurations(telemetry::Meter& meter)
    : wait_(meter.histogram("weir.actor.mailbox.wait.duration",
                            {.unit = "s",
                             .description = "From sending a message until it is handled.",
                             .bounds = bounds()})),
      handling_(meter.histogram("weir.actor.handle.duration",
                                {.unit = "s",
                                 .description = "From the beginning of a handler to its end.",
                                 .bounds = bounds()})) {}

ActorDurations::Series& ActorDurations::of(const ActorType& type) {
  const auto found = series_.find(&type);
  if (found != series_.end()) return found->second;
  const telemetry::Attributes attributes{{"weir.actor.type", type.name}};
  return series_.emplace(&type, Series{wait_.with(attributes), handling_.with(attributes)})
      .first->second;
}

void ActorDurations::record_wait(const ActorType& type, std::uintptr_t mark,
                                 std::int64_t begin_ns) {
  of(type).wait.record(to_seconds(since(mark, begin_ns)), weight_of(mark));
}

void ActorDurations::record_handling(const ActorType& type, std::uintptr_t mark,
                                     std::int64_t end_ns) {
  of(type).handling.record(to_seconds(since(mark, end_ns)), weight_of(mark));
}

void record_handling(const Cell& cell, std::uintptr_t mark) noexcept {
  // No worker: the system has been taken down.
  if (!this_worker || !this_worker->durations) return;
  this_worker->durations->record_handling(*cell.type, mark, cell.core->now_ns());
}

void count_chosen(Worker& worker, Node* node) noexcept {
  const std::int64_t now = worker.core.now_ns();
  put_mark(node, {now, worker.sampler.choose(now)});
}

void count_foreign(const Cell& target, Node* node) noexcept {
  Core& core = *target.core;
  if (!core.measures()) return;
  MessageSampler& sampler = sampler_of_this_thread(core);
  if (sampler.to_pass() > 0) {
    sampler.pass(1);
    return;
  }
  const std::int64_t now = core.now_ns();
  put_mark(node, {now, sampler.choose(now)});
}

void count_timer(Core& core, Node* node) noexcept {
  if (!core.measures()) return;
  MessageSampler& sampler = sampler_of_this_thread(core);
  if (sampler.to_pass() > 0) {
    sampler.pass(1);
  } else {
    put_mark(node, {TimerMessageBase::of(node)->due, sampler.choose(core.now_ns())});
  }
}

Outcome handle_closely(Cell& cell, Node* node, Worker& worker) noexcept {
  const std::uintptr_t mark = take_mark(node);
  if (mark == 0 || !worker.durations) return handle_unmarked(cell, node, worker);
  const std::int64_t begin = worker.core.now_ns();
  worker.suspended_run = nullptr;
  const Outcome outcome = handle_unmarked(cell, node, worker);
  if (outcome == Outcome::set_aside) {
    put_back(node, mark);
    return outcome;
  }
  worker.durations->record_wait(*cell.type, mark, begin);
  const std::uintptr_t began = (to_word({begin, 0}) & ~std::uintptr_t{63}) | (mark & 63);
  if (worker.suspended_run) {
    worker.suspended_run->mark = began;
  } else {
    worker.durations->record_handling(*cell.type, began, worker.core.now_ns());
  }
  return outcome;
}

}  // namespace weir::internal
