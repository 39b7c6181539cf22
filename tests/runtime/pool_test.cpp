// The object pools: memory that nobody else uses, handed from thread to thread and never lost.

#include <weir/runtime/internal/pool.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/runtime/internal/cell.hpp>

#include <weir/tests/runtime/support.hpp>

namespace weir::internal {
namespace {

using weir::testing::scaled;

TEST(Pool, ChoosesTheSmallestClassThatFits) {
  for (std::size_t bytes = 1; bytes <= pool_object_bytes_max; ++bytes) {
    const unsigned pool_class = pool_class_of(bytes);
    ASSERT_LT(pool_class, pool_object_classes);
    EXPECT_GE(pool_class_bytes(pool_class), bytes);
    if (pool_class > 0) EXPECT_LT(pool_class_bytes(pool_class - 1), bytes);
  }
}

TEST(Pool, AlignsEveryObjectToACacheLineOrHalfOfOne) {
  for (const std::size_t bytes : {1u, 32u, 33u, 64u, 65u, 500u, 1024u, 1025u, 100'000u}) {
    void* memory = pool_allocate(bytes);
    const std::size_t alignment = bytes <= pool_small_bytes ? pool_small_bytes : pool_granularity;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0u) << bytes;
    std::memset(memory, 0xAB, bytes);
    pool_deallocate(memory, bytes);
  }
}

struct Block {
  unsigned char* memory;
  std::size_t bytes;
  unsigned char mark;
};

Block make_block(std::mt19937_64& random) {
  const std::size_t bytes = 1 + random() % (pool_object_bytes_max + 100);
  Block block{static_cast<unsigned char*>(pool_allocate(bytes)), bytes,
              static_cast<unsigned char>(random())};
  std::memset(block.memory, block.mark, bytes);
  return block;
}

bool is_untouched(const Block& block) {
  return std::all_of(block.memory, block.memory + block.bytes,
                     [&](unsigned char byte) { return byte == block.mark; });
}

/// Blocks on their way to threads that did not allocate them.
class Exchange {
 public:
  void put(Block block) {
    std::scoped_lock hold(mutex_);
    blocks_.push_back(block);
  }
  std::optional<Block> take(std::mt19937_64& random) {
    std::scoped_lock hold(mutex_);
    if (blocks_.empty()) return std::nullopt;
    std::swap(blocks_[random() % blocks_.size()], blocks_.back());
    const Block block = blocks_.back();
    blocks_.pop_back();
    return block;
  }

 private:
  std::mutex mutex_;
  std::vector<Block> blocks_;
};

// Whatever a thread takes is its own until somebody gives it back.
TEST(Pool, HandsNoMemoryToTwoAtOnce) {
  const std::uint64_t seed = weir::testing::test_seed();
  WEIR_TRACE_SEED(seed);
  Exchange exchange;
  std::atomic<int> damaged{0};
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937_64 random(seed + i);
      for (int step = 0; step < scaled(100'000); ++step) {
        if (random() % 2 == 0) {
          exchange.put(make_block(random));
        } else if (const auto block = exchange.take(random)) {
          if (!is_untouched(*block)) ++damaged;
          pool_deallocate(block->memory, block->bytes);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::mt19937_64 random(seed);
  while (const auto block = exchange.take(random)) {
    if (!is_untouched(*block)) ++damaged;
    pool_deallocate(block->memory, block->bytes);
  }
  EXPECT_EQ(damaged.load(), 0);
}

constexpr unsigned cell_class = pool_object_classes;

std::set<void*> all_cells() {
  std::set<void*> all;
  for_each_cell_memory(
      [](void* memory, void* context) { static_cast<std::set<void*>*>(context)->insert(memory); },
      &all);
  return all;
}

std::vector<void*> take_cells(std::size_t count) {
  std::vector<void*> taken;
  for (std::size_t i = 0; i < count; ++i) taken.push_back(pool_take(cell_class));
  return taken;
}

TEST(Pool, KnowsEveryCellItHasEverMade) {
  const std::vector<void*> taken = take_cells(1000);
  const std::set<void*> all = all_cells();
  EXPECT_EQ(std::set<void*>(taken.begin(), taken.end()).size(), 1000u);
  for (void* cell : taken) {
    EXPECT_EQ(all.count(cell), 1u);
    pool_give(cell_class, cell);
  }
  EXPECT_EQ(all_cells(), all) << "giving back changes nothing";
}

TEST(Pool, UsesMemoryAgain) {
  for (void* cell : take_cells(1000)) pool_give(cell_class, cell);
  const std::size_t made = all_cells().size();
  for (int round = 0; round < 100; ++round) {
    for (void* cell : take_cells(1000)) pool_give(cell_class, cell);
  }
  EXPECT_EQ(all_cells().size(), made);
}

// One thread takes, another gives back, and both end: what they held goes to those who come later.
TEST(Pool, InheritsWhatThreadsThatEndLeaveBehind) {
  std::size_t made = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<void*> taken;
    std::thread([&] { taken = take_cells(300); }).join();
    std::thread([&] {
      for (void* cell : taken) pool_give(cell_class, cell);
    }).join();
    if (round == 10) made = all_cells().size();
  }
  EXPECT_EQ(all_cells().size(), made);
}

}  // namespace
}  // namespace weir::internal
