#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace weir::storage::test {

/// Under `./dev test --long`, which repeats the tests: which time it is, from 1. Otherwise zero.
inline std::uint64_t long_round() {
  const char* text = std::getenv("WEIR_LONG");
  return text && *text != '\0' ? std::stoull(text) : 0;
}

/// The first of the seeds for a test: others in every round of a long run.
inline std::uint64_t first_seed() { return 1 + long_round() * 1'000'000; }

/// How much to do: more in a long run.
inline std::uint64_t lengthened(std::uint64_t count) {
  return long_round() == 0 ? count : count * 4;
}

/// So many seeds; more in a long run, and only `WEIR_SEED` if that is set.
inline std::vector<std::uint64_t> seeds(std::uint64_t count) {
  if (const char* only = std::getenv("WEIR_SEED")) return {std::stoull(only)};
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < lengthened(count); ++i) all.push_back(first_seed() + i);
  return all;
}

}  // namespace weir::storage::test
