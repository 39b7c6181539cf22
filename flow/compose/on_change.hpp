#pragma once

#include <functional>
#include <optional>
#include <string>

#include <weir/flow/compose/follower.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/workflow/engine.hpp>

namespace weir::flow::compose {

/// What a change begins.
struct Start {
  /// Who follows: how far is remembered under this name.
  std::string name;
  std::string kind;
  std::string lane = "default";
  /// The payload for a row that came, be it inserted or as it is after an update; none: nothing is
  /// begun for it.
  std::function<std::optional<std::string>(const view::Row&)> payload;
};

/// Begins an execution for each row that comes into a table or view: exactly once, whatever
/// crashes, from when it was first asked for on, or from when the view is ready. The change log is
/// kept until it has been dealt with. `unknown_relation`.
///
/// Engine and database are in one store, and outlive it.
Task<Result<Follower>> on_change(const workflow::Engine* engine, const view::Database* database,
                                 std::string relation, Start start);

}  // namespace weir::flow::compose
