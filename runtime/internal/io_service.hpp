#pragma once

#include <boost/asio/io_context.hpp>

namespace weir::internal {

struct Core;

/// The context for the I/O of one system, made when first needed, with a thread that runs it or
/// lets workers do so: see `IoService`. Under simulation nothing runs it.
boost::asio::io_context& io_context_of(Core& core);

}  // namespace weir::internal
