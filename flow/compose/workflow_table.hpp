#pragma once

#include <string>

#include <weir/flow/compose/follower.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/workflow/engine.hpp>

namespace weir::flow::compose {

/// Keeps a table of the workflows of an engine, while they are there:
///
///     id text, kind text, namespace text, state text, progress text, edges int64,
///     created_at timestamp, changed_at timestamp, ended_at timestamp?, and for each state how many
///     of its executions are in it: waiting int64, ..., skipped int64; primary key id
///
/// As `follow_executions` otherwise.
Task<Result<Follower>> follow_workflows(const workflow::Engine* engine, view::Database* database,
                                        std::string table);

}  // namespace weir::flow::compose
