#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <weir/storage/engine/engine.hpp>
#include <weir/storage/engine/memory_engine.hpp>
#include <weir/storage/rocksdb/engine.hpp>
#include <weir/tests/storage/support/model.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace weir::storage::engine {
namespace {

using test::Content;
using test::difference;
using test::RandomWrites;

/// Opens the engine under test; again and again on what the one before has synced.
struct InMemory {
  std::unique_ptr<Engine> open() { return std::make_unique<MemoryEngine>(disk); }
  std::shared_ptr<SimulatedDisk> disk = std::make_shared<SimulatedDisk>();
};

struct OnDisk {
  std::unique_ptr<Engine> open() {
    auto opened = rocksdb::open_engine(
        {.directory = directory / "engine", .memory_budget = rocksdb::memory_budget_min});
    EXPECT_TRUE(opened) << opened.error().message();
    return std::move(opened).value();
  }
  test::TemporaryDirectory directory;
};

template <class Backend>
class EngineTest : public testing::Test {
 protected:
  Backend backend;
};
struct BackendNames {
  template <class Backend>
  static std::string GetName(int) {  // NOLINT(readability-identifier-naming): gtest's name
    return std::is_same_v<Backend, InMemory> ? "InMemory" : "OnDisk";
  }
};
using Backends = testing::Types<InMemory, OnDisk>;
TYPED_TEST_SUITE(EngineTest, Backends, BackendNames);

std::string big_endian(std::uint64_t number) {
  std::string bytes(8, '\0');
  for (int i = 7; i >= 0; --i, number >>= 8) bytes[i] = static_cast<char>(number & 0xff);
  return bytes;
}

std::vector<std::string> keys_of(const Engine& engine, Family family) {
  std::vector<std::string> keys;
  const auto cursor = engine.make_cursor(family, {});
  for (cursor->seek({}); cursor->is_valid(); cursor->next()) keys.emplace_back(cursor->key());
  EXPECT_TRUE(cursor->status());
  return keys;
}

void put(Engine& engine, Family family, const std::string& key, const std::string& value) {
  test::write(engine, {{test::Operation::Kind::put, family, key, value}});
}

/// Walks both ways inside random bounds, beside the same walk through a map.
void compare_walk(const Engine& engine, const Content& model, RandomWrites& random) {
  const Family family = random.family();
  Bounds bounds;
  if (random.below(3) > 0) bounds.begin = random.key();
  if (random.below(3) > 0) bounds.end = random.key();
  if (!bounds.end.empty() && bounds.end < bounds.begin) std::swap(bounds.begin, bounds.end);
  std::vector<std::pair<std::string, std::string>> inside;
  for (const auto& [key, value] : model[static_cast<std::size_t>(family)]) {
    if (key >= bounds.begin && (bounds.end.empty() || key < bounds.end)) {
      inside.emplace_back(key, value);
    }
  }
  const auto cursor = engine.make_cursor(family, {.bounds = bounds});
  const std::string start = random.key();
  const bool is_forwards = random.below(2) == 0;
  std::ptrdiff_t position =
      std::ranges::lower_bound(inside, start, {}, &std::pair<std::string, std::string>::first) -
      inside.begin();
  if (is_forwards) {
    cursor->seek(start);
  } else {
    cursor->seek_back(start);
    const bool is_exact =
        position < std::ssize(inside) && inside[static_cast<std::size_t>(position)].first == start;
    if (!is_exact) --position;
  }
  for (int step = 0; step < 8; ++step) {
    const bool is_inside = position >= 0 && position < std::ssize(inside);
    ASSERT_EQ(cursor->is_valid(), is_inside);
    ASSERT_TRUE(cursor->status());
    if (!is_inside) return;
    ASSERT_EQ(cursor->key(), inside[static_cast<std::size_t>(position)].first);
    ASSERT_EQ(cursor->value(), inside[static_cast<std::size_t>(position)].second);
    const bool goes_on = random.below(4) > 0;
    if (goes_on == is_forwards) {
      cursor->next();
      ++position;
    } else {
      cursor->previous();
      --position;
    }
  }
}

/// Random keys, some twice, some known already.
void compare_lookups(const Engine& engine, const Content& model, RandomWrites& random) {
  const Family family = random.family();
  const auto& expected = model[static_cast<std::size_t>(family)];
  std::vector<std::string> keys(random.below(50));
  for (std::string& key : keys) key = random.key();
  std::vector<Lookup> lookups;
  for (const std::string& key : keys) {
    lookups.push_back({.key = key});
    if (random.below(5) == 0) lookups.back() = {.key = key, .value = "known", .is_known = true};
  }
  const std::vector<Lookup> before = lookups;
  const auto is_complete = engine.get_many(family, lookups, Wait::allowed);
  ASSERT_TRUE(is_complete) << is_complete.error().message();
  ASSERT_TRUE(*is_complete);
  for (std::size_t i = 0; i < lookups.size(); ++i) {
    ASSERT_TRUE(lookups[i].is_known);
    const auto found = expected.find(keys[i]);
    const auto value = before[i].is_known        ? before[i].value
                       : found != expected.end() ? std::optional(found->second)
                                                 : std::nullopt;
    ASSERT_EQ(lookups[i].value, value) << "key " << i;
  }
}

TYPED_TEST(EngineTest, HoldsWhatAMapWouldAfterRandomBatches) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    TypeParam backend;
    RandomWrites random(seed);
    Content model;
    auto engine = backend.open();
    for (int round = 0; round < 60; ++round) {
      const auto writes = random.batch(20);
      test::write(*engine, writes);
      test::apply(writes, model);
      ASSERT_NO_FATAL_FAILURE(compare_walk(*engine, model, random)) << "round " << round;
      ASSERT_NO_FATAL_FAILURE(compare_lookups(*engine, model, random)) << "round " << round;
      const Family family = random.family();
      const std::string key = random.key();
      const auto& expected = model[static_cast<std::size_t>(family)];
      std::string value;
      const auto found = engine->get(family, key, value, Wait::allowed);
      ASSERT_TRUE(found) << found.error().message();
      ASSERT_EQ(*found, expected.contains(key));
      if (*found) ASSERT_EQ(value, expected.at(key));
      if (random.below(20) == 0) ASSERT_TRUE(engine->sync());
      if (random.below(30) == 0) {
        ASSERT_TRUE(engine->close());
        engine = backend.open();
      }
    }
    ASSERT_EQ(difference(*engine, model), "");
  }
}

TYPED_TEST(EngineTest, ReopenedHoldsEverythingSynced) {
  RandomWrites random(7);
  Content model;
  for (int life = 0; life < 4; ++life) {
    const auto engine = this->backend.open();
    ASSERT_EQ(difference(*engine, model), "") << "life " << life;
    for (int round = 0; round < 20; ++round) {
      const auto writes = random.batch(30);
      test::write(*engine, writes);
      test::apply(writes, model);
    }
    ASSERT_TRUE(engine->sync());
  }
}

TYPED_TEST(EngineTest, CursorKeepsItsMomentWhileWritesGoOn) {
  RandomWrites random(11);
  const auto engine = this->backend.open();
  Content model;
  for (int round = 0; round < 30; ++round) {
    const auto writes = random.batch(20);
    test::write(*engine, writes);
    test::apply(writes, model);
  }
  const Content moment = model;
  std::vector<std::unique_ptr<Cursor>> cursors;
  for (const Family family : test::all_families) {
    cursors.push_back(engine->make_cursor(family, {}));
  }
  Content seen;
  for (const Family family : test::all_families) {
    auto& cursor = *cursors[static_cast<std::size_t>(family)];
    for (cursor.seek({}); cursor.is_valid(); cursor.next()) {
      seen[static_cast<std::size_t>(family)].emplace(cursor.key(), cursor.value());
      test::write(*engine, random.batch(5));
    }
    ASSERT_TRUE(cursor.status());
  }
  EXPECT_EQ(difference(seen, moment), "");
}

TYPED_TEST(EngineTest, AppliesABatchInItsOrder) {
  const auto engine = this->backend.open();
  put(*engine, Family::rows, "b", "old");
  const auto batch = engine->make_batch();
  batch->put(Family::rows, "a", "before the range is erased");
  batch->erase_range(Family::rows, "a", "c");
  batch->put(Family::rows, "b", "new");
  batch->put(Family::state, "a", "another family");
  ASSERT_TRUE(engine->write(*batch, Wait::allowed));
  EXPECT_EQ(keys_of(*engine, Family::rows), std::vector<std::string>{"b"});
  EXPECT_EQ(keys_of(*engine, Family::state), std::vector<std::string>{"a"});
}

TYPED_TEST(EngineTest, KnowsAboutHowMuchThereIs) {
  auto engine = this->backend.open();
  auto batch = engine->make_batch();
  // Bytes that cannot be made smaller.
  std::uint64_t random = 1;
  for (std::uint64_t key = 0; key < 8'000; ++key) {
    std::string value;
    for (int word = 0; word < 12; ++word) {
      random = random * 6364136223846793005 + 1442695040888963407;
      value += big_endian(random);
    }
    batch->put(Family::rows, big_endian(key), value);
  }
  ASSERT_TRUE(engine->write(*batch, Wait::allowed));
  // What is in files is known better than what is not.
  batch.reset();
  ASSERT_TRUE(engine->close());
  engine.reset();
  engine = this->backend.open();
  const auto bytes = [&](std::uint64_t from, std::uint64_t until) {
    const auto known =
        engine->approximate_bytes(Family::rows, {big_endian(from), big_endian(until)});
    return static_cast<double>(known.value());
  };
  EXPECT_NEAR(bytes(0, 8'000), 8'000 * 104, 8'000 * 60);
  EXPECT_LT(bytes(6'000, 8'000), bytes(0, 8'000) * 0.6);
  EXPECT_EQ(bytes(9'000, 10'000), 0);
}

TYPED_TEST(EngineTest, RangeThatEndsBeforeItBeginsErasesNothing) {
  const auto engine = this->backend.open();
  put(*engine, Family::rows, "b", "stays");
  const auto batch = engine->make_batch();
  batch->erase_range(Family::rows, "c", "a");
  batch->erase_range(Family::rows, "b", "b");
  ASSERT_TRUE(engine->write(*batch, Wait::allowed));
  EXPECT_EQ(keys_of(*engine, Family::rows), std::vector<std::string>{"b"});
}

TYPED_TEST(EngineTest, BatchCanBeUsedAgainAfterClear) {
  const auto engine = this->backend.open();
  const auto batch = engine->make_batch();
  EXPECT_TRUE(batch->is_empty());
  batch->put(Family::rows, "a", std::string(100, 'x'));
  EXPECT_FALSE(batch->is_empty());
  EXPECT_GE(batch->bytes(), 101U);
  batch->clear();
  EXPECT_TRUE(batch->is_empty());
  batch->put(Family::rows, "b", "1");
  ASSERT_TRUE(engine->write(*batch, Wait::allowed));
  EXPECT_EQ(keys_of(*engine, Family::rows), std::vector<std::string>{"b"});
}

TYPED_TEST(EngineTest, WritesAndReadsWithoutWaitingWhatIsInMemory) {
  const auto engine = this->backend.open();
  const auto batch = engine->make_batch();
  batch->put(Family::rows, "a", "1");
  ASSERT_TRUE(engine->write(*batch, Wait::never));
  std::string value;
  const auto found = engine->get(Family::rows, "a", value, Wait::never);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_TRUE(*found);
  EXPECT_EQ(value, "1");
  const auto cursor = engine->make_cursor(Family::rows, {.wait = Wait::never});
  cursor->seek("a");
  ASSERT_TRUE(cursor->is_valid());
  EXPECT_EQ(cursor->value(), "1");
}

TYPED_TEST(EngineTest, CollectForgetsHistoryUpToTheHorizonAndNothingElse) {
  const auto engine = this->backend.open();
  for (std::uint64_t version = 1; version <= 20; ++version) {
    put(*engine, Family::history, "row" + big_endian(version), "old");
    put(*engine, Family::rows, "row" + big_endian(version), "new");
  }
  put(*engine, Family::history, "short", "has no version");
  ASSERT_TRUE(engine->collect());
  EXPECT_EQ(keys_of(*engine, Family::history).size(), 21U) << "no horizon has been set";
  engine->set_horizon(12);
  engine->set_horizon(5);  // it only rises
  ASSERT_TRUE(engine->collect());
  const auto kept = keys_of(*engine, Family::history);
  ASSERT_EQ(kept.size(), 9U);
  EXPECT_EQ(kept.front(), "row" + big_endian(13));
  EXPECT_EQ(kept.back(), "short");
  EXPECT_EQ(keys_of(*engine, Family::rows).size(), 20U);
}

TYPED_TEST(EngineTest, CountsWhatItWritesAndSyncs) {
  const auto engine = this->backend.open();
  const auto before = engine->statistics();
  put(*engine, Family::rows, "a", std::string(1000, 'x'));
  ASSERT_TRUE(engine->sync());
  const auto after = engine->statistics();
  EXPECT_GE(after.log_bytes, before.log_bytes + 1000);
  EXPECT_EQ(after.syncs, before.syncs + 1);
}

}  // namespace
}  // namespace weir::storage::engine
