#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weir/runtime/internal/cell.hpp>
#include <weir/runtime/internal/timer_entry.hpp>

namespace weir::internal {

/// A declared phase. Phases are numbered in the order of their declaration.
struct PhaseRow {
  std::string_view name;
  std::uint64_t successors = 0;  // one bit for each phase that may follow
  std::int64_t limit_ns = INT64_MAX;
  bool fails_when_overdue = false;
};

/// The phases an actor class declares, the initial one first.
struct PhaseTable {
  const PhaseRow* rows = nullptr;
  std::size_t count = 0;
};

/// The phase an actor is in, and the timer that watches how long it lasts.
///
/// Belongs to the cell rather than to the user's object, so that introspection may read it at any
/// time and a signal on its way finds it after a restart. Changed by the activation only, except
/// that a constructor may run elsewhere.
struct PhaseRecord : TimerEntry {
  PhaseRecord(Cell& owner, PhaseTable declared) noexcept;

  std::uint32_t index() const noexcept { return current.load(std::memory_order_relaxed); }
  /// Empty while the actor waits to be built anew.
  std::string_view current_name() const noexcept {
    return is_live.load(std::memory_order_relaxed) ? name_of(index()) : std::string_view();
  }
  std::string_view name_of(std::uint32_t phase) const noexcept {
    return phase < table.count ? table.rows[phase].name : std::string_view();
  }

  Cell& cell;
  const PhaseTable table;
  std::atomic<std::uint32_t> current{0};
  std::atomic<std::int64_t> entered_ns{0};
  std::atomic<bool> is_live{false};  // false once the user's object ends
  bool is_reported = false;          // as overdue, since it was entered

  // Makes the activation look at the age of the phase. There is one, so it is sent only when it is
  // not on its way.
  struct Look : Signal {
    explicit Look(PhaseRecord& owner) noexcept;
    PhaseRecord& record;
    std::atomic<bool> is_sent{false};
  };
  Look look{*this};
};

/// The actor under construction enters its initial phase.
PhaseRecord& start_phases(PhaseTable table);
/// Throws `IllegalTransition` if the phase `to` may not follow the current one.
void enter_phase(PhaseRecord& record, std::uint32_t to);
/// The same, for a transition that leads from `from` and no other phase.
void enter_phase_from(PhaseRecord& record, std::uint32_t from, std::uint32_t to);

}  // namespace weir::internal
