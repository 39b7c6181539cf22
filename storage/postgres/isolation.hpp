#pragma once

#include <cstdint>

namespace weir::storage::postgres {

/// What a transaction may see of others. With all but the first, others may be in the way:
/// `Errc::contention`.
enum class Isolation : std::uint8_t { read_committed, repeatable_read, serializable };

}  // namespace weir::storage::postgres
