#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::server::internal {

class JsonWriter;

/// What stands where another schema is meant.
void write_reference(JsonWriter& json, std::string_view schema);

/// JSON schemas in few words, one behind the other:
///
///     Lag = {versions! @Integer, seconds! number 'since then'}
///
///     string integer number boolean object any    a type; `number?` may be null
///     integer(0..9) [T](1..9)                     with its bounds
///     string=default string:date-time             with its default, with its format
///     @Row                                        what is called so
///     [T]                                         an array of those
///     {a! T, b T, ...Other}                       an object: a must be there, and the fields of
///                                                 an object above
///     {|a T|}                                     one that has no other fields
///     {*: T}                                      one with fields of any name
///     <a b null>                                  one of these
///     T | U                                       one of both
///     T 'words'                                   with what it means
///     `{"pattern": "^-"}`                         JSON as it is
///
/// Gives the names, in their order, with the JSON of each. What is malformed is our own mistake.
std::vector<std::pair<std::string, std::string>> expand_schemas(
    std::initializer_list<std::string_view> notations);

}  // namespace weir::server::internal
