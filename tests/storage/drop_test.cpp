// Dropping key spaces.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <weir/runtime/simulation.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/engine/memory_engine.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/internal/row_format.hpp>
#include <weir/storage/verify.hpp>
#include <weir/tests/storage/support/store_fixture.hpp>

namespace weir::storage {
namespace {

using engine::Family;
using test::commit_rows;
using test::Rows;
using test::rows_at;
using test::RowsOf;
using test::StoreTest;
using StatesOf = StateSpace<std::uint64_t, std::string>;

class DropTest : public StoreTest {};
INSTANTIATE_TEST_SUITE_P(Engines, DropTest, ::testing::ValuesIn(test::engine_kinds),
                         test::name_of_engine);

Task<Result<Version>> commit(Transaction transaction) { co_return co_await transaction.commit(); }

Task<Result<std::optional<std::string>>> read_row(ReadTransaction transaction, RowsOf rows,
                                                  std::uint64_t key) {
  co_return co_await transaction.get(rows, key);
}

std::vector<std::string> names_in(StoreTest& test) {
  std::vector<std::string> names;
  const auto spaces = test.run(test.store().spaces());
  for (const SpaceInfo& space : spaces.value()) names.push_back(space.name);
  return names;
}

TEST_P(DropTest, ADroppedSpaceIsGoneAndItsNameFree) {
  const auto rows = open_rows("rows");
  const auto others = open_rows("others");
  ASSERT_TRUE(run(commit_rows(store(), rows, {{1, "one"}})));
  ASSERT_TRUE(run(commit_rows(store(), others, {{1, "other"}})));
  ASSERT_TRUE(run(store().drop_space("rows")));
  EXPECT_EQ(names_in(*this), std::vector<std::string>{"others"});

  const auto again = run(store().open_rows<std::string, std::uint64_t>("rows"));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_GT(again->id(), others.id());
  EXPECT_NE(again->id(), rows.id());
  EXPECT_EQ(rows_at(store(), others, store().version()), (Rows{{1, "other"}}));
}

TEST_P(DropTest, TheNumberOfADroppedSpaceIsNeverGivenAgain) {
  const auto first = open_rows("rows");
  ASSERT_TRUE(run(store().drop_space("rows")));
  const auto second = open_rows("rows");
  EXPECT_GT(second.id(), first.id());
  ASSERT_TRUE(run(store().drop_space("rows")));
  ASSERT_TRUE(run(store().collect()));
  reopen();
  EXPECT_GT(open_rows("rows").id(), second.id());
}

TEST_P(DropTest, HandlesOfADroppedSpaceAreRefusedWithItsName) {
  const auto rows = open_rows("rows");
  ASSERT_TRUE(run(commit_rows(store(), rows, {{1, "one"}})));
  ASSERT_TRUE(run(store().drop_space("rows")));
  const std::string reason = "\"rows\" was dropped at version " + to_string(store().version());

  const auto read = run(read_row(store().read(), rows, 1));
  EXPECT_EQ(read.error(), Errc::unknown_space);
  EXPECT_NE(read.error().message().find(reason), std::string::npos) << read.error().message();
  EXPECT_EQ(store().read().scan(rows).next_blocking().error(), Errc::unknown_space);
  EXPECT_EQ(store().begin().scan(rows).next_blocking().error(), Errc::unknown_space);
  EXPECT_EQ(run(commit_rows(store(), rows, {{2, "two"}})).error(), Errc::unknown_space);
  auto again = store().begin();
  again.drop(rows);
  EXPECT_EQ(run(commit(std::move(again))).error(), Errc::unknown_space);
  EXPECT_EQ(run(store().drop_space("rows")).error(), Errc::not_found);
}

TEST_P(DropTest, OlderVersionsOfADroppedSpaceAreReadAsLongAsTheyAreKept) {
  const auto rows = open_rows("rows");
  ASSERT_TRUE(run(commit_rows(store(), rows, {{1, "one"}, {2, "two"}})));
  ASSERT_TRUE(run(commit_rows(store(), rows, {{2, "second"}})));
  const Version before = store().version();
  {
    auto reader = store().read();
    ASSERT_TRUE(run(store().drop_space("rows")));
    ASSERT_TRUE(run(store().collect()));
    EXPECT_EQ(rows_at(store(), rows, before), (Rows{{1, "one"}, {2, "second"}}));
    EXPECT_EQ(*run(read_row(std::move(reader), rows, 2)), "second");
  }
  ASSERT_TRUE(run(store().collect()));
  EXPECT_EQ(store().read_at(before).error(), Errc::version_collected);
}

/// Reads a row of `dropped`, which then is dropped, and writes what it has read into `rows`.
Task<Result<Version>> copy_what_is_dropped(Store* store, RowsOf dropped, RowsOf rows) {
  auto transaction = store->begin();
  WEIR_CO_TRY(value, co_await transaction.get(dropped, 1));
  WEIR_CO_TRY_VOID(co_await store->drop_space(dropped.name()));
  transaction.put(rows, 1, value.value_or("nothing"));
  co_return co_await transaction.commit();
}

TEST_P(DropTest, WhatWasReadInADroppedSpaceIsAConflict) {
  const auto dropped = open_rows("dropped");
  const auto rows = open_rows("rows");
  ASSERT_TRUE(run(commit_rows(store(), dropped, {{1, "one"}})));
  EXPECT_EQ(run(copy_what_is_dropped(&store(), dropped, rows)).error(), Errc::conflict);
}

TEST_P(DropTest, ATransactionThatBeganBeforeADropCannotWriteToTheSpace) {
  const auto rows = open_rows("rows");
  auto late = store().begin();
  late.put(rows, 1, "one");
  ASSERT_TRUE(run(store().drop_space("rows")));
  EXPECT_EQ(run(commit(std::move(late))).error(), Errc::unknown_space);
}

TEST_P(DropTest, ATransactionThatBeganBeforeADropCannotDropTheSpaceAgain) {
  const auto rows = open_rows("rows");
  auto late = store().begin();
  late.drop(rows);
  ASSERT_TRUE(run(store().drop_space("rows")));
  EXPECT_EQ(run(commit(std::move(late))).error(), Errc::unknown_space);
}

TEST_P(DropTest, ADropIsPartOfItsTransaction) {
  const auto rows = open_rows("rows");
  const auto others = open_rows("others");
  ASSERT_TRUE(run(commit_rows(store(), rows, {{1, "one"}})));
  {
    auto given_up = store().begin();
    given_up.drop(rows);
    EXPECT_EQ(given_up.get(rows, 1).blocking().error(), Errc::unknown_space);
  }
  EXPECT_EQ(rows_at(store(), rows, store().version()), (Rows{{1, "one"}}));

  auto transaction = store().begin();
  transaction.put(rows, 2, "two");
  transaction.put(others, 1, "instead");
  transaction.drop(rows);
  const auto version = run(commit(std::move(transaction)));
  ASSERT_TRUE(version) << version.error().message();
  EXPECT_EQ(rows_at(store(), others, *version), (Rows{{1, "instead"}}));
  EXPECT_EQ(names_in(*this), std::vector<std::string>{"others"});

  // The log tells of the catalog and of what else was written, not of each row that went.
  const auto records = store().log().read_blocking(Version{version->number - 1});
  ASSERT_TRUE(records);
  ASSERT_EQ(records->size(), 1U);
  std::map<std::uint32_t, std::size_t> changes;
  for (const SpaceChanges& space : records->front().spaces()) {
    for (const Change& change : space) {
      ++changes[space.space()];
      if (space.space() == 1) EXPECT_EQ(change.kind, ChangeKind::remove);
    }
  }
  EXPECT_EQ(changes, (std::map<std::uint32_t, std::size_t>{{1, 1}, {others.id(), 1}}));
}

TEST_P(DropTest, StateIsDroppedToo) {
  const auto states = run(store().open_state<std::uint64_t, std::string>("states")).value();
  auto writing = store().begin();
  writing.put(states, 1, "one");
  ASSERT_TRUE(run(commit(std::move(writing))));
  auto dropping = store().begin();
  dropping.drop(states);
  ASSERT_TRUE(run(commit(std::move(dropping))));
  EXPECT_EQ(store().begin().get(states, 1).blocking().error(), Errc::unknown_space);
  const auto again = run(store().open_state<std::uint64_t, std::string>("states")).value();
  EXPECT_EQ(*store().begin().get(again, 1).blocking(), std::nullopt);
}

TEST_P(DropTest, WritesAmongManyDropsAreAllThere) {
  std::mt19937_64 random(1);
  Rows expected;
  for (int round = 0; round < 30; ++round) {
    auto kept = open_rows("kept");
    auto dropped = open_rows("dropped");
    for (int count = 0; count < 10; ++count) {
      auto transaction = store().begin();
      for (int row = 0; row < 20; ++row) {
        const std::uint64_t key = random() % 2000;
        expected[key] = std::to_string(random());
        transaction.put(kept, key, expected[key]);
        transaction.put(dropped, key, expected[key]);
      }
      ASSERT_TRUE(run(commit(std::move(transaction))));
    }
    ASSERT_TRUE(run(store().drop_space("dropped")));
    ASSERT_TRUE(run(store().collect()));
    if (round % 10 == 9) {
      reopen();
      kept = open_rows("kept");
    }
    ASSERT_EQ(rows_at(store(), kept, store().version()), expected);
    ASSERT_EQ(rows_at(store(), open_rows("dropped"), store().version()), Rows());
  }
}

std::size_t count_of(const engine::Engine& engine, Family family, std::uint32_t space) {
  std::size_t count = 0;
  const auto cursor = engine.make_cursor(
      family, {.bounds = {internal::row_key(space, {}), internal::space_end(space)}});
  for (cursor->seek({}); cursor->is_valid(); cursor->next()) ++count;
  return count;
}

/// Everything that is left of a key space on a disk.
std::size_t left_of(const std::shared_ptr<engine::SimulatedDisk>& disk, std::uint32_t space) {
  const engine::MemoryEngine engine(disk);
  return count_of(engine, Family::rows, space) + count_of(engine, Family::history, space) +
         count_of(engine, Family::state, space);
}

/// One life of a store on a simulated disk.
struct Life {
  explicit Life(const std::shared_ptr<engine::SimulatedDisk>& disk)
      : store(Store::open(simulation.system(), {.disk = disk}).value()) {}
  template <class T>
  T run(Task<T> task) {
    return simulation.run(std::move(task));
  }
  RowsOf open_rows(std::string name) {
    return run(store.open_rows<std::uint64_t, std::string>(std::move(name))).value();
  }

  Simulation simulation;
  Store store;
};

TEST(DroppedSpace, LeavesNothingBehindOnceItIsCollected) {
  const auto disk = std::make_shared<engine::SimulatedDisk>();
  std::uint32_t dropped = 0;
  {
    Life life(disk);
    const auto rows = life.open_rows("rows");
    dropped = rows.id();
    ASSERT_TRUE(life.run(commit_rows(life.store, rows, {{1, "one"}, {2, "two"}})));
    const auto reader = life.store.read();
    ASSERT_TRUE(life.run(commit_rows(life.store, rows, {{1, "first"}})));
    ASSERT_TRUE(life.run(life.store.drop_space("rows")));
    ASSERT_TRUE(life.run(life.store.collect()));
    ASSERT_TRUE(life.run(life.store.close()));
  }
  EXPECT_EQ(left_of(disk, dropped), 3U) << "somebody read it";
  {
    Life life(disk);
    ASSERT_TRUE(life.run(life.store.collect()));
    ASSERT_TRUE(life.run(life.store.close()));
  }
  EXPECT_EQ(left_of(disk, dropped), 0U);
  engine::MemoryEngine engine(disk);
  const auto verified = verify(engine);
  EXPECT_TRUE(verified) << verified.error().message();
  // Nor is it still to be removed.
  std::string version;
  EXPECT_FALSE(engine
                   .get(Family::meta, "dropped" + std::string("\0\0\0\x10", 4), version,
                        engine::Wait::allowed)
                   .value());
}

TEST(DroppedSpace, BeyondTheHighestNumberThatWasDroppedIsCorruption) {
  const auto disk = std::make_shared<engine::SimulatedDisk>();
  {
    Life life(disk);
    (void)life.open_rows("rows");
    ASSERT_TRUE(life.run(life.store.close()));
  }
  {
    engine::MemoryEngine engine(disk);
    auto batch = engine.make_batch();
    batch->put(Family::meta, "dropped" + std::string("\0\0\0\x20", 4),
               std::string("\0\0\0\0\0\0\0\x01", 8));
    ASSERT_TRUE(engine.write(*batch, engine::Wait::allowed));
    ASSERT_TRUE(engine.sync());
  }
  Simulation simulation;
  EXPECT_EQ(Store::open(simulation.system(), {.disk = disk}).error(), Errc::corruption);
}

TEST(DroppedSpace, HasTheBytesOfTheDocument) {
  const auto disk = std::make_shared<engine::SimulatedDisk>();
  {
    Life life(disk);
    (void)life.open_rows("rows");   // number 16, at version 1
    (void)life.open_rows("other");  // number 17, at version 2
    const auto reader = life.store.read();
    ASSERT_TRUE(life.run(life.store.drop_space("rows")));
    ASSERT_TRUE(life.run(life.store.drop_space("other")));
    ASSERT_TRUE(life.run(life.store.close()));
  }
  engine::SimulatedDisk::Content content;
  disk->attach(content);
  auto& meta = content[static_cast<std::size_t>(Family::meta)];
  meta.erase("horizon");
  meta.erase("log_floor");
  const std::map<std::string, std::string, std::less<>> expected{
      {"last_dropped", std::string("\0\0\0\x11", 4)},
      {"dropped" + std::string("\0\0\0\x10", 4), std::string("\0\0\0\0\0\0\0\x03", 8)},
      {"dropped" + std::string("\0\0\0\x11", 4), std::string("\0\0\0\0\0\0\0\x04", 8)}};
  EXPECT_EQ(meta, expected);
}

TEST(DroppedSpace, IsSweptByItselfAfterAWhile) {
  const auto disk = std::make_shared<engine::SimulatedDisk>();
  std::uint32_t dropped = 0;
  {
    Life life(disk);
    const auto rows = life.open_rows("rows");
    dropped = rows.id();
    ASSERT_TRUE(life.run(commit_rows(life.store, rows, {{1, "one"}})));
    std::optional<ReadTransaction> reader(life.store.read());
    ASSERT_TRUE(life.run(life.store.drop_space("rows")));
    life.simulation.run_for(std::chrono::hours(1));
    reader.reset();
    life.simulation.run_for(std::chrono::hours(1));
    ASSERT_TRUE(life.run(life.store.close()));
  }
  EXPECT_EQ(left_of(disk, dropped), 0U);
}

/// Two drops with commits, collecting and a new space of the same name. Gives how many steps were
/// done before the disk failed.
int run_drops(Life& life) {
  int done = 0;
  const auto note = [&](const auto& result) {
    if (result) ++done;
    return static_cast<bool>(result);
  };
  auto first = life.run(life.store.open_rows<std::uint64_t, std::string>("rows"));
  if (!note(first)) return done;
  auto kept = life.run(life.store.open_rows<std::uint64_t, std::string>("kept"));
  if (!note(kept)) return done;
  if (!note(life.run(commit_rows(life.store, *first, {{1, "one"}, {2, "two"}})))) return done;
  if (!note(life.run(commit_rows(life.store, *kept, {{1, "kept"}})))) return done;
  if (!note(life.run(commit_rows(life.store, *first, {{1, "first"}})))) return done;
  if (!note(life.run(life.store.drop_space("rows")))) return done;
  if (!note(life.run(life.store.collect()))) return done;
  auto second = life.run(life.store.open_rows<std::uint64_t, std::string>("rows"));
  if (!note(second)) return done;
  EXPECT_NE(first->id(), second->id());
  if (!note(life.run(commit_rows(life.store, *second, {{7, "seven"}})))) return done;
  note(life.run(life.store.collect()));
  return done;
}

/// What must be there after a crash, when at least `done` steps were acknowledged.
void check_drops(Life& life, int done) {
  std::map<std::string, SpaceInfo> spaces;
  for (const SpaceInfo& space : life.run(life.store.spaces()).value()) spaces[space.name] = space;
  if (done >= 2) EXPECT_EQ(spaces.count("kept"), 1U);
  const bool is_second = spaces.contains("rows") && spaces["rows"].id > 17;
  if (done >= 8) EXPECT_TRUE(is_second);
  if (done >= 6 && !is_second) EXPECT_FALSE(spaces.contains("rows"));
  if (spaces.contains("kept")) {
    const Rows kept = rows_at(life.store, life.open_rows("kept"), life.store.version());
    if (done >= 4) EXPECT_EQ(kept, (Rows{{1, "kept"}}));
  }
  const auto rows = life.open_rows("rows");
  const Rows found = rows_at(life.store, rows, life.store.version());
  if (is_second) EXPECT_TRUE(found.empty() || found == (Rows{{7, "seven"}}));
  if (done >= 9) EXPECT_EQ(found, (Rows{{7, "seven"}}));
  if (!is_second && spaces.contains("rows")) {
    EXPECT_TRUE(found.empty() || found.contains(2)) << "a part of it is gone";
  }
  if (!spaces.contains("rows")) EXPECT_EQ(found, Rows{}) << "a new one has what was dropped";
}

/// The disk fails at the n-th operation, and then all that was not synced, or none of it, is lost.
void crash_drops_at(bool is_sync, std::uint64_t nth, bool is_lost, bool& is_over) {
  const auto disk = std::make_shared<engine::SimulatedDisk>();
  int done = 0;
  {
    Life life(disk);
    const Error error(Errc::io_error, "gone");
    is_sync ? disk->fail_sync(nth, error) : disk->fail_write(nth, error);
    done = run_drops(life);
    is_over = done == 10;
  }
  disk->repair();
  disk->crash(is_lost ? 0 : disk->unsynced());
  {
    Life life(disk);
    check_drops(life, done);
    ASSERT_TRUE(life.run(life.store.collect()));
    ASSERT_TRUE(life.run(life.store.close()));
  }
  engine::MemoryEngine engine(disk);
  const auto verified = verify(engine);
  ASSERT_TRUE(verified) << verified.error().message();
  const auto catalog = count_of(engine, Family::rows, 1);
  EXPECT_GE(catalog, done >= 2 ? 2U : 1U);
  // Of the first one, which had number 16, nothing is left once it was dropped for sure.
  if (done >= 6) EXPECT_EQ(left_of(disk, 16), 0U);
}

TEST(DroppedSpace, IsWholeOrGoneAfterACrashAtEveryWriteAndSync) {
  for (const bool is_sync : {false, true}) {
    for (const bool is_lost : {false, true}) {
      bool is_over = false;
      for (std::uint64_t nth = 1; !is_over; ++nth) {
        SCOPED_TRACE((is_sync ? "sync " : "write ") + std::to_string(nth) +
                     (is_lost ? ", lost" : ", kept"));
        ASSERT_LT(nth, 100U);
        ASSERT_NO_FATAL_FAILURE(crash_drops_at(is_sync, nth, is_lost, is_over));
      }
    }
  }
}

}  // namespace
}  // namespace weir::storage
