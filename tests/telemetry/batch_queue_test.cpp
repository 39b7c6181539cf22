#include <weir/telemetry/batch_queue.hpp>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace weir::telemetry {
namespace {

struct Item : Queued<Item> {
  Item(int thread_number, int item_number) : thread(thread_number), number(item_number) {}
  int thread;
  int number;
};

std::vector<int> numbers_in(BatchQueue<Item>& queue) {
  std::vector<int> numbers;
  queue.take_all([&](std::unique_ptr<Item> item) { numbers.push_back(item->number); });
  return numbers;
}

TEST(BatchQueue, GivesWhatItTookOldestFirst) {
  BatchQueue<Item> queue(10);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(queue.push(std::make_unique<Item>(0, i)), i + 1u);
  EXPECT_EQ(numbers_in(queue), (std::vector{0, 1, 2, 3, 4}));
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_TRUE(numbers_in(queue).empty());
}

TEST(BatchQueue, DropsAndCountsWhatFindsItFull) {
  BatchQueue<Item> queue(3);
  for (int i = 0; i < 5; ++i) queue.push(std::make_unique<Item>(0, i));
  EXPECT_EQ(queue.dropped(), 2u);
  EXPECT_EQ(numbers_in(queue), (std::vector{0, 1, 2}));
  EXPECT_EQ(queue.push(std::make_unique<Item>(0, 9)), 1u);
}

TEST(BatchQueue, FreesWhatNobodyTook) {
  BatchQueue<Item> queue(3);
  queue.push(std::make_unique<Item>(0, 1));  // the sanitizers would see it
}

TEST(BatchQueue, LosesNothingBetweenThreads) {
  constexpr int threads = 3;
  constexpr int each = 5000;
  BatchQueue<Item> queue(1000);
  std::atomic<int> accepted{0};
  std::atomic<int> running{threads};
  std::vector<std::thread> pushers;
  for (int t = 0; t < threads; ++t) {
    pushers.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) accepted += queue.push(std::make_unique<Item>(t, i)) > 0;
      --running;
    });
  }
  int taken = 0;
  std::vector<int> last(threads, -1);
  const auto visit = [&](std::unique_ptr<Item> item) {
    EXPECT_LT(last[static_cast<std::size_t>(item->thread)], item->number);
    last[static_cast<std::size_t>(item->thread)] = item->number;
    ++taken;
  };
  while (running > 0) queue.take_all(visit);
  for (std::thread& pusher : pushers) pusher.join();
  queue.take_all(visit);
  EXPECT_EQ(taken, accepted);
  EXPECT_EQ(static_cast<std::uint64_t>(threads * each - taken), queue.dropped());
}

}  // namespace
}  // namespace weir::telemetry
