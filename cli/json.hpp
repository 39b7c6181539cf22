#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

namespace weir::cli {

// Reads answers of servers of any version: what is not there is empty, zero or false.

const boost::json::value& at(const boost::json::value& from, std::string_view name);
const boost::json::array& items(const boost::json::value& from, std::string_view name);
/// Text as it is, other values as JSON, null as nothing.
std::string text(const boost::json::value& from);
std::string text(const boost::json::value& from, std::string_view name);
double number(const boost::json::value& from, std::string_view name);
/// Also of digits in a string, as large numbers are sent.
std::uint64_t count(const boost::json::value& from, std::string_view name);
bool flag(const boost::json::value& from, std::string_view name);

}  // namespace weir::cli
