#pragma once

#include <cstdint>

namespace weir::telemetry::testing {

/// Whether allocations can be counted here: a sanitizer has an operator new of its own.
extern const bool counts_allocations;

/// How many this thread has made so far, by `operator new`.
std::uint64_t allocations() noexcept;

}  // namespace weir::telemetry::testing
