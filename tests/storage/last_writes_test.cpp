#include <weir/storage/internal/last_writes.hpp>

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace weir::storage::internal {
namespace {

TEST(LastWrites, KnowTheNewestWriteOfEachHashUntilItIsForgotten) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    LastWrites writes;
    std::unordered_map<std::uint64_t, Version> model;
    // Few places for many, and some at the end, where going on means to begin again.
    const auto hash = [&] { return random() % 100 * 1'024 + 1'020 + random() % 4; };
    for (std::uint64_t version = 1; version < 4'000; ++version) {
      const std::uint64_t key = hash();
      if (random() % 3 != 0) {
        writes.set(key, {version});
        model[key] = {version};
      } else if (const auto at = model.find(key); at != model.end() && random() % 4 != 0) {
        writes.forget(key, at->second);
        model.erase(at);
      } else {
        writes.forget(key, {version});  // which has not written it
      }
      const std::uint64_t other = hash();
      const auto at = model.find(other);
      ASSERT_EQ(writes.find(other), at == model.end() ? Version{} : at->second) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace weir::storage::internal
