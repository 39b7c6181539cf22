#pragma once

#include <cstddef>

namespace weir::flow::data::internal {

/// Memory for the values of columns, most of which live for one cycle. A thread keeps what is given
/// back to it, up to some MiB, for the next columns of about that size: they are as large as a
/// batch, too large for what `malloc` does well.
///
/// From any thread, and back to any other.
void* take_buffer(std::size_t bytes);
/// `bytes` as it was taken with.
void give_buffer(void* buffer, std::size_t bytes) noexcept;

}  // namespace weir::flow::data::internal
