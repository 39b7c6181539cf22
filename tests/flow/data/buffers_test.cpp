#include <weir/flow/data/internal/buffers.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include <weir/flow/data/column.hpp>
#include <weir/tests/flow/data/support/random_data.hpp>

namespace weir::flow::data::internal {
namespace {

/// Takes and gives back at random, and finds what it wrote.
void use_at_random(std::uint64_t seed) {
  test::RandomData random(seed);
  struct Taken {
    std::size_t bytes;
    int content;
  };
  std::map<char*, Taken> taken;
  for (int step = 0; step < 2'000; ++step) {
    if (!taken.empty() && (taken.size() > 100 || random.one_in(2))) {
      const auto one = std::next(taken.begin(), static_cast<int>(random.below(taken.size())));
      const auto [bytes, content] = one->second;
      for (std::size_t at = 0; at < bytes; ++at) ASSERT_EQ(one->first[at], content) << seed;
      give_buffer(one->first, bytes);
      taken.erase(one);
      continue;
    }
    const std::size_t bytes = random.below(std::size_t{1} << random.below(18)) + 1;
    auto* const buffer = static_cast<char*>(take_buffer(bytes));
    const int content = static_cast<int>(random.below(100));
    std::memset(buffer, content, bytes);
    ASSERT_TRUE(taken.emplace(buffer, Taken{bytes, content}).second) << seed;
  }
  for (const auto& [buffer, one] : taken) give_buffer(buffer, one.bytes);
}

TEST(Buffers, AreNeverGivenToTwo) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) use_at_random(seed);
}

TEST(Buffers, MayEndInAnotherThreadAndAfterIt) {
  std::vector<Values<std::int64_t>> columns(100);
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i].assign(100 * i, 7);
  std::thread([mine = std::move(columns)]() mutable {
    thread_local Values<std::int64_t> last;  // goes after what the thread kept
    last.assign(1'000, 7);
    mine.clear();
    use_at_random(21);
  }).join();
}

}  // namespace
}  // namespace weir::flow::data::internal
