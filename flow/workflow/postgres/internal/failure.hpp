#pragma once

#include <weir/runtime/error.hpp>

namespace weir::flow::workflow::postgres::internal {

/// What an error of the database client is to those who use an engine.
Error told(const Error& error);

/// Whether others were in the way, and it may go well if it is tried again.
bool is_contention(const Error& error);
/// Whether the connection was lost, or there was none.
bool is_loss(const Error& error);

/// Nothing in particular is to blame for it.
bool is_general(const Error& error);

}  // namespace weir::flow::workflow::postgres::internal
