#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <weir/runtime/simulation.hpp>

namespace weir {

/// Which orders `explore` tries, and what counts as a failure.
struct ExploreOptions {
  /// How many seeds, beginning with `first_seed`. The environment variable `WEIR_SEEDS` overrides
  /// it, and `WEIR_SEED` makes it one seed alone.
  std::uint64_t seeds = 1000;
  std::uint64_t first_seed = 1;
  /// Of every simulation, with the seed replaced.
  SimulationOptions simulation = {};
  /// Runs every seed twice, and fails one whose runs differ: the actors depend on something that
  /// does not come from the simulation.
  bool runs_twice = false;
  /// Asked after every run, for scenarios that record failures without throwing.
  std::function<bool()> has_failed = {};
  /// What the program needs to come to this exploration again; by default, what it was given.
  std::string replay_arguments = {};
};

/// What `explore` found.
struct ExploreReport {
  std::uint64_t seeds_run = 0;
  /// The first seed that failed.
  std::optional<std::uint64_t> failed_seed;
  /// What the scenario threw, or what else was wrong.
  std::string failure;
  /// A command that runs the failed seed alone.
  std::string replay;

  bool has_failed() const noexcept { return failed_seed.has_value(); }
};

/// Runs a scenario under one seed after another until it fails.
///
/// It fails by throwing, by running into the step limit, or as `has_failed` says. The seed and the
/// command that replays it then go to standard error, and exploration ends.
///
///     const auto report = weir::explore({.seeds = 1000}, [](weir::Simulation& simulation) {
///       ...
///       if (total != expected) throw std::runtime_error("money was lost");
///     });
[[nodiscard]] ExploreReport explore(const ExploreOptions& options,
                                    const std::function<void(Simulation&)>& scenario);

}  // namespace weir
