#include <weir/runtime/phase.hpp>

#include <memory>

#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/extension.hpp>
#include <weir/runtime/internal/reports.hpp>
#include <weir/runtime/internal/spawn.hpp>
#include <weir/runtime/internal/supervise.hpp>
#include <weir/runtime/internal/waiter.hpp>
#include <weir/runtime/span.hpp>

namespace weir::internal {
namespace {

struct Transition {
  std::string_view from;
  std::string_view to;
  Duration age;
};

void report(const PhaseRecord& record, PhaseEvent::Kind kind, const Transition& transition) {
  const Cell& cell = record.cell;
  const PhaseEvent event{kind,
                         {cell.id.load(std::memory_order_relaxed)},
                         cell.type->name,
                         name_of(cell),
                         transition.from,
                         transition.to,
                         transition.age};
  if (current_cell() == &cell && kind != PhaseEvent::Kind::overdue) {
    add_event(kind == PhaseEvent::Kind::entered ? "phase" : "illegal phase transition",
              {{"weir.phase.from", event.from}, {"weir.phase.to", event.to}});
  }
  if (cell.core->options.on_phase) {
    cell.core->options.on_phase(event);
  } else if (kind != PhaseEvent::Kind::entered) {
    tell(*cell.core, event);
  }
}

Duration age_of(const PhaseRecord& record) noexcept {
  return Duration(record.cell.core->now_ns() - record.entered_ns.load(std::memory_order_relaxed));
}

void send_look(PhaseRecord& record) noexcept {
  if (!record.look.is_sent.exchange(true)) record.cell.send_signal(&record.look);
}

void stop_watching(PhaseRecord& record) noexcept {
  if (record.queue) record.queue->cancel(record);
}

void watch_limit(PhaseRecord& record) noexcept {
  const std::int64_t limit_ns = record.table.rows[record.index()].limit_ns;
  if (limit_ns == INT64_MAX) return;
  if (current_cell() != &record.cell) {
    send_look(record);  // under construction on a thread that has no timers
    return;
  }
  const std::int64_t entered = record.entered_ns.load(std::memory_order_relaxed);
  record.cell.core->arm(record, entered + limit_ns);
}

void move_to(PhaseRecord& record, std::uint32_t to) noexcept {
  stop_watching(record);
  record.entered_ns.store(record.cell.core->now_ns(), std::memory_order_relaxed);
  record.current.store(to, std::memory_order_relaxed);
  record.is_reported = false;
  if (record.table.rows[to].fails_when_overdue) {
    record.cell.extension().phase_in = Cause::here();
  }
  watch_limit(record);
}

std::string list_successors(const PhaseRecord& record, std::uint32_t from) {
  std::string list;
  for (std::uint32_t i = 0; i < record.table.count; ++i) {
    if ((record.table.rows[from].successors >> i & 1) == 0) continue;
    list += (list.empty() ? "" : ", ") + std::string(record.name_of(i));
  }
  return list.empty() ? "nothing" : list;
}

[[noreturn]] void refuse_transition(const PhaseRecord& record, std::uint32_t to) {
  const std::uint32_t from = record.index();
  const std::string_view name = to < record.table.count ? record.name_of(to) : "an unknown phase";
  report(record, PhaseEvent::Kind::illegal, {record.name_of(from), name, age_of(record)});
  throw IllegalTransition("illegal transition of " + std::string(record.cell.type->name) +
                              " from phase " + std::string(record.name_of(from)) + " to " +
                              std::string(name) + "; it may be followed by " +
                              list_successors(record, from),
                          record.name_of(from), record.name_of(to));
}

void look_at_age(Signal* signal, Cell& cell) {
  PhaseRecord& record = static_cast<PhaseRecord::Look*>(signal)->record;
  record.look.is_sent.store(false);
  if (!cell.is_running() || !record.is_live.load(std::memory_order_relaxed)) return;
  if (record.is_reported) return;
  const PhaseRow& row = record.table.rows[record.index()];
  const Duration age = age_of(record);
  if (age.count() < row.limit_ns) {  // the timer fired for the phase before
    stop_watching(record);
    watch_limit(record);
    return;
  }
  record.is_reported = true;
  report(record, PhaseEvent::Kind::overdue, {row.name, row.name, age});
  if (row.fails_when_overdue) {
    const WithinCause within(*this_worker, cell.extension().phase_in);
    fail_with(cell, "overdue in phase " + std::string(row.name));
  }
}

}  // namespace

PhaseRecord::Look::Look(PhaseRecord& owner) noexcept : Signal(&look_at_age), record(owner) {}

PhaseRecord::PhaseRecord(Cell& owner, PhaseTable declared) noexcept : cell(owner), table(declared) {
  fire = [](TimerEntry* entry) noexcept { send_look(*static_cast<PhaseRecord*>(entry)); };
}

PhaseRecord& start_phases(PhaseTable table) {
  Cell* cell = cell_under_construction();
  if (!cell) throw std::logic_error("weir: an actor is made by spawn, not by its constructor");
  Extension& extension = cell->extension();
  PhaseRecord* record = extension.phase.load(std::memory_order_relaxed);
  if (!record) {
    record = new PhaseRecord(*cell, table);
    extension.phase.store(record, std::memory_order_release);
  }
  move_to(*record, 0);
  record->is_live.store(true, std::memory_order_relaxed);
  report(*record, PhaseEvent::Kind::entered, {{}, record->name_of(0), Duration::zero()});
  return *record;
}

void enter_phase(PhaseRecord& record, std::uint32_t to) {
  if (!record.is_live.load(std::memory_order_relaxed)) return;  // in a destructor
  const std::uint32_t from = record.index();
  const bool is_legal =
      to < record.table.count && (record.table.rows[from].successors >> to & 1) != 0;
  if (!is_legal) refuse_transition(record, to);
  const Duration age = age_of(record);
  move_to(record, to);
  report(record, PhaseEvent::Kind::entered, {record.name_of(from), record.name_of(to), age});
  if ((record.cell.attention & Cell::stashing) != 0) record.cell.flags |= Cell::wants_unstash;
}

void enter_phase_from(PhaseRecord& record, std::uint32_t from, std::uint32_t to) {
  if (record.index() != from) refuse_transition(record, to);
  enter_phase(record, to);
}

void forget_phase(Cell& cell) noexcept {
  Extension* extension = cell.extension_if_any();
  PhaseRecord* record = extension ? extension->phase.load(std::memory_order_relaxed) : nullptr;
  if (!record) return;
  stop_watching(*record);
  record->is_live.store(false, std::memory_order_relaxed);
}

Extension::~Extension() { delete phase.load(std::memory_order_relaxed); }

}  // namespace weir::internal
