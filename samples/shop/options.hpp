#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include <weir/runtime/result.hpp>

namespace shop {

/// What the command line asks for.
struct Options {
  std::filesystem::path directory = {};  // of what is kept
  bool begins_anew = false;
  double orders_per_second = 200;
  std::optional<std::chrono::seconds> seconds = {};  // none: until it is told to end
  std::optional<std::uint16_t> port = {};            // of the gateway; none: the usual one, or any
  bool verifies = false;
  bool asks_for_help = false;
};

/// The error says what is wrong, and what would be right.
weir::Result<Options> parse_options(std::span<char* const> arguments);

/// `weir-shop` where programs keep what is theirs; empty if nobody knows where that is.
std::filesystem::path default_directory();

extern const char* const usage;

}  // namespace shop
