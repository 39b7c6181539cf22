#pragma once

#include <source_location>
#include <string_view>

namespace weir {

/// Ends the process with `message` and the place that found it.
[[noreturn]] void fail_check(std::string_view message,
                             std::source_location where = std::source_location::current()) noexcept;

/// States an invariant of Weir itself: if `condition` is false the process ends with `message`,
/// in every build. Mistakes of a caller are errors or exceptions, never a failed check.
inline void check(bool condition, std::string_view message,
                  std::source_location where = std::source_location::current()) noexcept {
  if (!condition) [[unlikely]]
    fail_check(message, where);
}

}  // namespace weir
