#include <weir/runtime/internal/supervise.hpp>

#include <algorithm>

#include <weir/runtime/internal/active_span.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/spawn.hpp>
#include <weir/runtime/internal/timer_message.hpp>
#include <weir/runtime/internal/watch.hpp>

namespace weir::internal {
namespace {

Duration next_backoff(Core& core, const Supervision& supervision, std::uint32_t attempt) {
  const Duration most = supervision.backoff_max;
  Duration wait = std::min(supervision.backoff, most);
  constexpr std::uint32_t doublings_max = 63;  // of one nanosecond: all there is
  for (std::uint32_t i = 0; i < std::min(attempt, doublings_max); ++i) {
    wait = wait > most / 2 ? most : wait * 2;
  }
  const double chance = static_cast<double>(core.random() >> 11) * 0x1.0p-53;
  const double extra = static_cast<double>(wait.count()) * supervision.jitter * chance;
  // Compared as numbers that cannot overflow: a long backoff and its jitter may exceed all time.
  if (extra >= static_cast<double>((Duration::max() - wait).count())) return Duration::max();
  return wait + Duration(static_cast<std::int64_t>(extra));
}

// Counts a restart; false if there were too many within the window.
bool may_restart(Core& core, Extension& extension) {
  const std::int64_t now = core.now_ns();
  if (extension.restarts_in_window == 0 ||
      now - extension.window_start > extension.supervision.window.count()) {
    extension.window_start = now;
    extension.restarts_in_window = 0;
  }
  return ++extension.restarts_in_window <= extension.supervision.restarts_max;
}

struct BackoffSignal : Signal, Pooled {
  BackoffSignal() : Signal(&act) {}
  static void act(Signal* signal, Cell&) { delete static_cast<BackoffSignal*>(signal); }
};

void arm_backoff(Cell& cell, Extension& extension, Duration wait) {
  extension.backoff_timer.fire = [](TimerEntry* entry) noexcept {
    auto* timer = static_cast<BackoffTimer*>(entry);
    timer->is_over.store(true, std::memory_order_release);
    timer->owner->send_signal(new BackoffSignal);
  };
  extension.backoff_timer.owner = &cell;
  extension.backoff_timer.is_over.store(false, std::memory_order_relaxed);
  cell.core->arm(extension.backoff_timer, saturating_sum(cell.core->now_ns(), wait.count()));
}

void begin_restart(Cell& cell, Extension& extension) {
  destroy_runs(cell, Error(Errc::failed, extension.last_failure));
  cancel_all_timers(cell);
  unwatch_all(cell);
  destroy_object(cell);
  forget_phase(cell);
  cell.attention |= Cell::restarting;
  if (extension.stash_first) cell.flags |= Cell::wants_unstash;
  for (Cell* child = cell.first_child; child; child = child->next_sibling) {
    request_kill(*child, {StopReason::Kind::parent_stopped, {}});
  }
  arm_backoff(cell, extension,
              next_backoff(*cell.core, extension.supervision, extension.restarts_in_window - 1));
}

void describe_restart(ActiveSpan& span, Cell& cell, std::int64_t failed_ns) {
  const Extension& extension = cell.extension();
  span.begin_ns = failed_ns;
  auto& attributes = span.details().attributes;
  attributes.emplace_back("weir.actor.restarts",
                          extension.restarts.load(std::memory_order_relaxed));
  attributes.emplace_back("exception.message", within_limit(*cell.core, extension.last_failure));
}

void finish_restart(Cell& cell) {
  Extension& extension = cell.extension();
  cell.attention &= static_cast<std::uint8_t>(~Cell::restarting);
  extension.restarts.fetch_add(1, std::memory_order_relaxed);
  cell.core->restarts.fetch_add(1, std::memory_order_relaxed);
  const Cause cause = std::exchange(extension.failed_in, {});
  const std::int64_t failed_ns = cause.trail ? cause.trail->sent_ns.load() : 0;
  const HookSpan span(cell, "restart", cause);
  if (span.get()) describe_restart(*span.get(), cell, failed_ns);
  try {
    const ConstructionScope scope(&cell);
    open_object(cell);
    extension.factory->construct(cell.object);
    cell.flags |= Cell::constructed;
  } catch (...) {
    fail(cell, std::current_exception());
    return;
  }
  if (cell.type->start) start_actor(cell);
}

void record_failure(Cell& cell, Extension& extension, const std::string& message) {
  extension.failure_lock.lock();
  extension.last_failure = message;
  extension.failure_lock.unlock();
  record_failure(cell, message);
  cell.core->report_failure(cell, message);
}

void apply(Cell& cell, Extension& extension, std::string message) {
  const Supervision& supervision = extension.supervision;
  switch (supervision.directive) {
    case Supervision::Directive::resume: return;
    case Supervision::Directive::restart:
      if (extension.factory && may_restart(*cell.core, extension)) {
        begin_restart(cell, extension);
        return;
      }
      message += extension.factory ? " (too many restarts)" : "";
      break;
    case Supervision::Directive::escalate: extension.escalates = true; break;
    case Supervision::Directive::stop: break;
  }
  // What is suspended belongs to the instance that failed.
  destroy_runs(cell, Error(Errc::failed, message));
  begin_stop(cell, StopMode::graceful, {StopReason::Kind::failed, std::move(message)});
}

}  // namespace

std::string describe(const std::exception_ptr& exception) noexcept {
  try {
    if (exception) std::rethrow_exception(exception);
    return "no exception";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

void fail(Cell& cell, std::exception_ptr exception) noexcept {
  fail_with(cell, describe(exception));
}

void fail_with(Cell& cell, std::string message) noexcept {
  Extension& extension = cell.extension();
  record_failure(cell, extension, message);
  if ((cell.attention & (Cell::stopping | Cell::restarting)) != 0) return;
  apply(cell, extension, std::move(message));
}

void start_actor(Cell& cell) noexcept {
  cell.flags &= static_cast<std::uint8_t>(~Cell::fresh);
  cell.attention &= static_cast<std::uint8_t>(~Cell::starting);
  if ((cell.attention & Cell::stopping) != 0) return;
  const HookSpan span(cell, "start", take_cause(cell));
  try {
    cell.type->start(cell.object, cell);
  } catch (...) {
    fail(cell, std::current_exception());
  }
}

bool advance_lifecycle(Cell& cell, Worker& worker) noexcept {
  const OutsideOfTraces outside(worker);
  if ((cell.attention & Cell::stopping) != 0) return advance_stop(cell, worker);
  Extension& extension = cell.extension();
  if (cell.first_child || !extension.backoff_timer.is_over.load(std::memory_order_acquire)) {
    return false;
  }
  finish_restart(cell);
  end_of_handler(worker);
  return (cell.attention & Cell::stopping) != 0 && advance_stop(cell, worker);
}

}  // namespace weir::internal
