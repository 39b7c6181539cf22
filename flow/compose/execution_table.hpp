#pragma once

#include <string>

#include <weir/flow/compose/follower.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/workflow/engine.hpp>

namespace weir::flow::compose {

/// Keeps a table of the executions of an engine, from when each is made until it is removed:
///
///     id text, kind text, lane text, namespace text, workflow text?, state text, attempts int64,
///     changed_at timestamp; primary key id
///
/// so that views can be defined over them. It follows the engine's notices, a little behind, and
/// lets it tell of every change (`Engine::tell_changes`); a row shows the execution as it was then
/// or later. The table is made if it is not there. When it begins, each row and each execution that
/// has not ended is looked at once.
///
/// Engine and database are in one store, and outlive it.
Task<Result<Follower>> follow_executions(const workflow::Engine* engine, view::Database* database,
                                         std::string table);

}  // namespace weir::flow::compose
