#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace weir::telemetry::testing {

/// `WEIR_SEED` replays one, otherwise it is new each time.
inline std::uint64_t test_seed() {
  std::uint64_t seed = std::random_device{}();
  if (const char* fixed = std::getenv("WEIR_SEED")) seed = std::strtoull(fixed, nullptr, 0);
  return seed;
}

/// Below `limit`.
inline std::size_t pick(std::mt19937_64& random, std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
}

/// Up to `pieces_max` pieces that parsers, terminals and encoders stumble over.
inline std::string hostile_text(std::mt19937_64& random, std::size_t pieces_max,
                                bool is_utf8 = false) {
  static const std::string pieces[] = {
      "a", "b", "Z", "0", "9", ".", "_", "__", "-", "/", ":", " ", "\n", "\r", "\t",
      std::string(1, '\0'), "\"", "\\", "\\n", "{", "}", ",", "=", "#", "# EOF\n", "\x1b[31m",
      "\x7f", "le", "_total", "_count", "\xC3\xA4", "\xC2\x9B", "\xE2\x80\xA8", "\xE2\x80\xAE",
      "\xF0\x9F\x98\x80", "'", "%s",
      // No UTF-8: a byte that begins nothing, a beginning alone, half of a pair.
      "\xFF", "\xC3", "\xED\xA0\x80"};
  const std::size_t usable = std::size(pieces) - (is_utf8 ? 3 : 0);
  std::string text;
  const std::size_t count = pick(random, pieces_max + 1);
  for (std::size_t i = 0; i < count; ++i) text += pieces[pick(random, usable)];
  return text;
}

}  // namespace weir::telemetry::testing

/// Prints the seed with every failure in the scope.
#define WEIR_TRACE_SEED(seed) SCOPED_TRACE("replay with WEIR_SEED=" + std::to_string(seed))
