#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include <weir/runtime/clock.hpp>
#include <weir/runtime/internal/phase_table.hpp>

namespace weir {

/// The phases that may follow another: `{Phase::ready, Phase::failed}`.
template <class Phase>
struct PhaseSet {
  constexpr PhaseSet() noexcept = default;
  constexpr PhaseSet(std::initializer_list<Phase> phases) noexcept {
    for (Phase phase : phases) {
      has_repeats = has_repeats || contains(phase);
      bits |= std::uint64_t{1} << (static_cast<std::uint64_t>(phase) & 63);
    }
  }

  constexpr bool contains(Phase phase) const noexcept {
    return (bits >> (static_cast<std::uint64_t>(phase) & 63) & 1) != 0;
  }
  constexpr std::size_t size() const noexcept {
    return static_cast<std::size_t>(__builtin_popcountll(bits));
  }

  std::uint64_t bits = 0;
  bool has_repeats = false;
};

/// What happens when a phase lasts longer than its limit.
enum class Overdue : std::uint8_t {
  report,  // `on_phase` is told, once for each entry
  fail,    // that, and the actor fails: its supervision decides what comes next
};

/// One row of an actor's phases: a phase, what may follow it, and how long it may last.
template <class Phase>
struct PhaseRule {
  Phase phase;
  PhaseSet<Phase> to = {};
  Duration limit = forever;
  Overdue overdue = Overdue::report;
};

/// Thrown by `enter` for a transition that is not declared. The hook `on_phase` has been told.
class IllegalTransition : public std::logic_error {
 public:
  IllegalTransition(const std::string& what, std::string_view from, std::string_view to)
      : std::logic_error(what), from_(from), to_(to) {}

  std::string_view from() const noexcept { return from_; }
  /// Empty for a value that is no phase.
  std::string_view to() const noexcept { return to_; }

 private:
  std::string_view from_;  // both point to names that live as long as the program
  std::string_view to_;
};

/// Gives an actor with a protocol its state machine: a second base beside `Actor<...>`.
///
///     enum class Phase { idle, connecting, ready };
///
///     class Link final : public weir::Actor<Connect, Write>, public weir::Phased<Link, Phase> {
///      public:
///       static constexpr weir::PhaseRule<Phase> phases[] = {
///           {.phase = Phase::idle, .to = {Phase::connecting}},
///           {.phase = Phase::connecting, .to = {Phase::ready, Phase::idle}, .limit = 5s},
///           {.phase = Phase::ready, .to = {Phase::idle}},
///       };
///       bool ready_for(const Write&) const { return phase() == Phase::ready; }
///       Task<> on(Connect) {
///         enter<Phase::connecting>();
///         ...
///
/// The actor starts, and starts again after a restart, in the phase of the first row. The compiler
/// refuses a table with a phase that is unknown, declared twice or out of reach. Entering a phase
/// is told to the system's `on_phase` hook, shows in `ActorInfo`, and lets the messages that
/// `ready_for` set aside be looked at again. For the actor's own handlers, like all of `ActorBase`.
template <class Derived, class Phase>
class Phased {
  static_assert(std::is_enum_v<Phase>, "weir: phases are the values of an enumeration");

 public:
  Phased(const Phased&) = delete;
  Phased& operator=(const Phased&) = delete;

 protected:
  Phased() : record_(internal::start_phases(table())) {}
  ~Phased() = default;

  Phase phase() const noexcept { return Derived::phases[record_.index()].phase; }
  std::string_view phase_name() const noexcept { return record_.current_name(); }

  /// Leaves the current phase for `to`. Throws `IllegalTransition`, which fails the actor unless
  /// caught, if that is not declared.
  void enter(Phase to) {
    internal::enter_phase(record_, static_cast<std::uint32_t>(internal::phase_index<Derived>(to)));
  }

  /// The same; does not compile if no phase leads to `To`.
  template <Phase To>
  void enter() {
    static_assert(internal::is_entered_from_somewhere<Derived, To>,
                  "weir: no row of `phases` has this phase among its successors");
    enter(To);
  }

  /// The same; does not compile if `To` may not follow `From`, and throws in any phase but `From`.
  template <Phase From, Phase To>
  void enter() {
    static_assert(internal::allows<Derived, From, To>,
                  "weir: `phases` does not declare this transition");
    internal::enter_phase_from(record_,
                               static_cast<std::uint32_t>(internal::phase_index<Derived>(From)),
                               static_cast<std::uint32_t>(internal::phase_index<Derived>(To)));
  }

 private:
  static internal::PhaseTable table() noexcept {
    internal::static_assert_phases<Derived, Phase>();
    if constexpr (internal::DeclaresPhases<Derived, Phase>) {
      return {internal::phase_rows<Derived>.data(), internal::phase_count<Derived>};
    }
    return {};
  }

  internal::PhaseRecord& record_;
};

}  // namespace weir
