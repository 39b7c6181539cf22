#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weir/runtime/internal/phase_record.hpp>

// What the compiler makes of an actor's `phases`: the table for the runtime, and complaints.
namespace weir::internal {

/// The name of an enumerator as written in the source.
template <auto Value>
constexpr std::string_view enumerator_name() noexcept {
  // "... [Value = net::Phase::idle]" with clang, "... [with auto Value = net::Phase::idle; ...]"
  // with GCC.
  constexpr std::string_view text = __PRETTY_FUNCTION__;
  constexpr std::size_t begin = text.find("Value = ") + 8;
  constexpr std::string_view value = text.substr(begin, text.find_first_of(";]", begin) - begin);
  return value.substr(value.find_last_of(":)") + 1);
}

template <class A, class Phase>
concept DeclaresPhases = requires {
  requires std::size(A::phases) > 0;
  { A::phases[0].phase } -> std::same_as<const Phase&>;
};

template <class A>
inline constexpr std::size_t phase_count = std::size(A::phases);

/// The position of `phase` in the declaration; `phase_count` if it is not declared.
template <class A>
constexpr std::size_t phase_index(auto phase) noexcept {
  std::size_t i = 0;
  while (i < phase_count<A> && A::phases[i].phase != phase) ++i;
  return i;
}

template <class A>
constexpr std::uint64_t successors_of(std::size_t from) noexcept {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < phase_count<A>; ++i) {
    const auto phase = A::phases[i].phase;
    const bool is_first = phase_index<A>(phase) == i;
    if (is_first && A::phases[from].to.contains(phase)) bits |= std::uint64_t{1} << i;
  }
  return bits;
}

template <class A>
constexpr std::uint64_t reachable_phases() noexcept {
  std::uint64_t reached = 1;
  for (std::size_t round = 0; round < phase_count<A>; ++round) {
    for (std::size_t i = 0; i < phase_count<A>; ++i) {
      if ((reached >> i & 1) != 0) reached |= successors_of<A>(i);
    }
  }
  return reached;
}

// One constant for each thing that can be wrong, so that the compiler's message names the class and
// the phase.
template <class A, auto Phase>
inline constexpr bool is_numbered_below_64 = static_cast<std::uint64_t>(Phase) < 64;

template <class A, auto Phase>
inline constexpr bool is_declared = phase_index<A>(Phase) < phase_count<A>;

template <class A, auto Phase, std::size_t I>
inline constexpr bool is_declared_once = phase_index<A>(Phase) == I;

template <class A, auto Phase>
inline constexpr bool names_each_successor_once = !A::phases[phase_index<A>(Phase)].to.has_repeats;

template <class A, auto Phase>
inline constexpr bool declares_all_successors =
    A::phases[phase_index<A>(Phase)].to.size() ==
    static_cast<std::size_t>(__builtin_popcountll(successors_of<A>(phase_index<A>(Phase))));

template <class A, auto Phase>
inline constexpr bool is_reachable = (reachable_phases<A>() >> phase_index<A>(Phase) & 1) != 0;

template <class A, auto Phase>
inline constexpr bool has_positive_limit = A::phases[phase_index<A>(Phase)].limit.count() > 0;

template <class A, auto From, auto To>
inline constexpr bool allows =
    is_declared<A, From> && A::phases[phase_index<A>(From)].to.contains(To);

template <class A>
constexpr bool leads_to(auto phase) noexcept {
  for (const auto& rule : A::phases) {
    if (rule.to.contains(phase)) return true;
  }
  return false;
}

template <class A, auto Phase>
inline constexpr bool is_entered_from_somewhere = leads_to<A>(Phase);

template <class A, std::size_t I, auto Phase>
consteval void static_assert_phase() {
  static_assert(is_numbered_below_64<A, Phase>, "weir: a phase's value is from 0 to 63");
  static_assert(is_declared_once<A, Phase, I>, "weir: this phase has two rows in `phases`");
  if constexpr (is_numbered_below_64<A, Phase> && is_declared_once<A, Phase, I>) {
    static_assert(names_each_successor_once<A, Phase>, "weir: this phase's `to` repeats a phase");
    static_assert(declares_all_successors<A, Phase>,
                  "weir: this phase's `to` names a phase that has no row in `phases`");
    static_assert(is_reachable<A, Phase>,
                  "weir: no transitions lead from the first phase to this one");
    static_assert(has_positive_limit<A, Phase>, "weir: this phase's limit is not positive");
  }
}

template <class A, class Phase>
consteval void static_assert_phases() {
  static_assert(DeclaresPhases<A, Phase>,
                "weir: a Phased actor declares, publicly, `static constexpr PhaseRule<Phase> "
                "phases[] = {...};`, the initial phase first");
  if constexpr (DeclaresPhases<A, Phase>) {
    static_assert(phase_count<A> <= 64, "weir: an actor has at most 64 phases");
    []<std::size_t... I>(std::index_sequence<I...>) {
      (static_assert_phase<A, I, A::phases[I].phase>(), ...);
    }(std::make_index_sequence<phase_count<A>>());
  }
}

template <class A, std::size_t I>
constexpr PhaseRow phase_row() noexcept {
  return {enumerator_name<A::phases[I].phase>(), successors_of<A>(I), A::phases[I].limit.count(),
          A::phases[I].overdue == std::remove_cvref_t<decltype(A::phases[I].overdue)>::fail};
}

template <class A>
inline constexpr auto phase_rows = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{phase_row<A, I>()...};
}(std::make_index_sequence<phase_count<A>>());

}  // namespace weir::internal
