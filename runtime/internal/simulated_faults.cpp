#include <algorithm>
#include <iterator>
#include <stdexcept>

#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/simulator.hpp>
#include <weir/runtime/internal/supervise.hpp>

namespace weir::internal {
namespace {

constexpr const char* crash_message = "crashed by the simulation";

struct CrashSignal : Signal, Pooled {
  CrashSignal() noexcept : Signal(&act) {}
  static void act(Signal* signal, Cell& cell) {
    delete static_cast<CrashSignal*>(signal);
    if (cell.state.load(std::memory_order_relaxed) == Cell::State::running) {
      fail_with(cell, crash_message);
    }
  }
};

// What was in the message goes the way it would if the handler had thrown.
void lose(Node* node) noexcept {
  if (!node->type().is_request) {
    dispose(node);
    return;
  }
  auto* request = static_cast<RequestNode*>(node);
  request->type().refuse(request, Error(Errc::failed, crash_message));
  send_home(request);
}

// The actor handles something that throws instead of the message at the front.
void replace_front_by_crash(Cell& cell) noexcept {
  Node* front = cell.tail.load(std::memory_order_relaxed);
  Node* crash = make_failing_marker(crash_message, Cause::of(*front));
  crash->link_to(front->next_node(), std::memory_order_relaxed);
  cell.tail.store(crash, std::memory_order_relaxed);
  const std::uintptr_t newest = cell.head.load(std::memory_order_relaxed);
  const std::uintptr_t is_poked = newest & Cell::poked;
  if (reinterpret_cast<Node*>(newest & ~is_poked) == front) {
    cell.head.store(reinterpret_cast<std::uintptr_t>(crash) | is_poked, std::memory_order_relaxed);
  }
  lose(front);
}

bool can_be_full(const Cell& cell) noexcept {
  return cell.capacity != unbounded && cell.overflow != Overflow::drop_oldest;
}

}  // namespace

// An actor that takes its time: it is ready when the pause is over.
struct Simulator::PausedCell : TimerEntry, Pooled {
  Simulator* simulator = nullptr;
  Cell* cell = nullptr;

  static void end(TimerEntry* entry) noexcept {
    const std::unique_ptr<PausedCell> paused(static_cast<PausedCell*>(entry));
    paused->simulator->ready_.push_back(paused->cell);
  }
};

bool Simulator::is_hit(const Cell& cell, Chance chance) noexcept {
  if (!faults_random_.hits(chance) || cell.type->is_spared) return false;
  const auto& applies_to = options_.faults.applies_to;
  return !applies_to || applies_to(cell.type->name, name_of(cell));
}

bool Simulator::refuses(const Cell& target) noexcept {
  return can_be_full(target) && is_hit(target, refused_send_);
}

void Simulator::before_message(Cell& cell) noexcept {
  if (trace_.current()->is_recorded) return;
  Node* node = cell.tail.load(std::memory_order_relaxed);
  if (!node) return;
  trace_.record(&node->type(), now_);
  if (!is_hit(cell, actor_crash_)) return;
  if (node->has(Node::is_timer)) {
    crash(cell);  // afterwards: a periodic timer must survive if the actor does
  } else {
    replace_front_by_crash(cell);
  }
}

void Simulator::crash(Cell& cell) { cell.send_signal(new CrashSignal); }

void Simulator::slow_down(Cell& cell, Duration time) {
  if (time < Duration::zero()) {
    throw std::invalid_argument("slow_down: the time is negative (" + std::to_string(time.count()) +
                                " ns)");
  }
  if (time == Duration::zero()) {
    if (slow_.erase(&cell) > 0) cell.release();
  } else if (slow_.insert_or_assign(&cell, time).second) {
    cell.add_ref();
  }
}

Duration Simulator::pause_before(const Cell& cell) noexcept {
  const Duration time_max = options_.faults.message_time_max;
  if ((slow_.empty() && time_max == Duration::zero()) || cell.type->is_spared) {
    return Duration::zero();
  }
  const auto slow = slow_.find(&cell);
  if (slow != slow_.end()) return slow->second;
  const auto bound = static_cast<std::uint64_t>(time_max.count()) + 1;
  return Duration(static_cast<std::int64_t>(faults_random_.below(bound)));
}

void Simulator::pause(Cell* cell, Duration time) {
  auto* paused = new PausedCell;
  paused->simulator = this;
  paused->cell = cell;
  paused->fire = &PausedCell::end;
  timers_.add(*paused, time_in(time), next_order());
}

void Simulator::collect_cells_of(Core& core) {
  const auto is_here = [&](const Cell* cell) { return cell->core == &core; };
  std::copy_if(ready_.begin(), ready_.end(), std::back_inserter(leaving_), is_here);
  std::erase_if(ready_, is_here);
  while (TimerEntry* entry = timers_.find([&](TimerEntry& armed) {
    return armed.fire == &PausedCell::end && static_cast<PausedCell&>(armed).cell->core == &core;
  })) {
    timers_.remove(*entry);
    const std::unique_ptr<PausedCell> paused(static_cast<PausedCell*>(entry));
    leaving_.push_back(paused->cell);
  }
}

void Simulator::fill_mailbox(Cell& cell) {
  if (!can_be_full(cell)) {
    throw std::invalid_argument("fill_mailbox: that of " + std::string(cell.type->name) +
                                " is never full");
  }
  if (!filled_.try_emplace(&cell, cell.capacity).second) return;
  cell.add_ref();
  cell.enqueued.fetch_add(cell.capacity, std::memory_order_relaxed);
}

void Simulator::free_mailbox(Cell& cell) {
  const auto at = filled_.find(&cell);
  if (at == filled_.end()) return;
  cell.enqueued.fetch_sub(at->second, std::memory_order_relaxed);
  filled_.erase(at);
  if (cell.is_running() && cell.has_waiters.load(std::memory_order_relaxed)) admit_waiting(cell);
  cell.release();
}

}  // namespace weir::internal
