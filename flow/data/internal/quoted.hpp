#pragma once

#include <string>
#include <string_view>

namespace weir::flow::data::internal {

/// A text for a message: in quotes, shortened if long, its bytes outside ASCII and its control
/// characters as `\x1B`. It may be anything, and messages go to terminals.
std::string quoted(std::string_view text);

}  // namespace weir::flow::data::internal
