#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::flow::data {

/// Whether `text` is UTF-8 as Unicode defines it: the shortest form of each character, none above
/// U+10FFFF, no surrogates. Columns of text hold nothing else.
bool is_utf8(std::string_view text) noexcept;

// What follows takes UTF-8. Of other bytes the result means nothing, but none is read beyond them.

/// How many code points `text` has: `é` written as a letter and an accent has two.
std::size_t count_characters(std::string_view text) noexcept;

/// At most `count` characters of `text`, from the one that `first_character` others precede; empty
/// if there are not so many. A view into `text`.
std::string_view substring(std::string_view text, std::size_t first_character,
                           std::size_t count) noexcept;

/// Changes the letters of ASCII and leaves all others: `É` stays as it is. Case beyond ASCII
/// depends on language and on the version of Unicode, and a result computed once must be computed
/// the same ever after.
std::string to_lower(std::string_view text);
std::string to_upper(std::string_view text);

}  // namespace weir::flow::data
