#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::cli {

// How values look to people.

/// `13,850`
std::string grouped(std::uint64_t number);
/// `12.4 MiB`
std::string bytes(double count);
/// `3 ms`, `1.2 s`, `4 min 10 s`, `3 h 12 min`
std::string seconds(double time);
/// `1,200/s`, `0.4/s`
std::string rate(double per_second);

/// Without what would move the cursor, change colours or break a line: that is shown escaped.
std::string printable(std::string_view text);
/// How many columns of a terminal it takes, if each character takes one.
std::size_t columns(std::string_view text) noexcept;
/// The first `count` columns of it, the last of them `…` if some are left out.
std::string cut(std::string_view text, std::size_t count);

}  // namespace weir::cli
