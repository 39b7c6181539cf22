#include <gtest/gtest.h>

#include <memory>

#include <weir/storage/engine/memory_engine.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/tests/storage/support/model.hpp>

namespace weir::storage::engine {
namespace {

using test::Content;
using test::difference;
using test::RandomWrites;

Result<> put(Engine& engine, const std::string& key) {
  const auto batch = engine.make_batch();
  batch->put(Family::rows, key, key);
  return engine.write(*batch, Wait::allowed);
}

TEST(SimulatedDisk, CrashLeavesWhatWasSyncedAndTheFirstOfTheRest) {
  static constexpr std::size_t batches = 12;
  static constexpr std::size_t synced = 5;
  for (std::size_t survivors = 0; survivors <= batches - synced; ++survivors) {
    RandomWrites random(survivors);
    const auto disk = std::make_shared<SimulatedDisk>();
    Content expected;
    {
      MemoryEngine engine(disk);
      for (std::size_t i = 1; i <= batches; ++i) {
        const auto writes = random.batch(10);
        test::write(engine, writes);
        if (i <= synced + survivors) test::apply(writes, expected);
        if (i == synced) ASSERT_TRUE(engine.sync());
      }
      EXPECT_EQ(disk->unsynced(), batches - synced);
      disk->crash(survivors);
    }
    EXPECT_EQ(difference(MemoryEngine(disk), expected), "") << survivors << " survivors";
  }
}

TEST(SimulatedDisk, RefusesAnEngineThatCrashedAndOneThatWasReplaced) {
  const auto disk = std::make_shared<SimulatedDisk>();
  MemoryEngine first(disk);
  ASSERT_TRUE(put(first, "a"));
  disk->crash();
  EXPECT_EQ(put(first, "b").error(), Errc::io_error);
  EXPECT_EQ(first.sync().error(), Errc::io_error);
  MemoryEngine second(disk);
  ASSERT_TRUE(put(second, "c"));
  const MemoryEngine third(disk);
  EXPECT_EQ(second.sync().error(), Errc::io_error);
}

TEST(SimulatedDisk, FailsFromTheChosenWriteUntilRepaired) {
  const auto disk = std::make_shared<SimulatedDisk>();
  MemoryEngine engine(disk);
  disk->fail_write(2, Error(Errc::no_space, "simulated"));
  EXPECT_TRUE(put(engine, "a"));
  EXPECT_EQ(put(engine, "b").error(), Errc::no_space);
  EXPECT_EQ(put(engine, "c").error(), Errc::no_space);
  EXPECT_TRUE(engine.sync());
  disk->repair();
  EXPECT_TRUE(put(engine, "d"));
  EXPECT_EQ(disk->writes(), 4U);
  std::string value;
  EXPECT_FALSE(*engine.get(Family::rows, "b", value, Wait::allowed))
      << "a failed batch is not seen";
}

TEST(SimulatedDisk, FailsToReadTheChosenFamilyUntilRepaired) {
  const auto disk = std::make_shared<SimulatedDisk>();
  MemoryEngine engine(disk);
  ASSERT_TRUE(put(engine, "a"));
  disk->fail_reads(Family::rows, Error(Errc::io_error, "simulated"));
  std::string value;
  EXPECT_EQ(engine.get(Family::rows, "a", value, Wait::allowed).error(), Errc::io_error);
  EXPECT_TRUE(engine.get(Family::log, "a", value, Wait::allowed));
  const auto cursor = engine.make_cursor(Family::rows, {});
  cursor->seek({});
  EXPECT_FALSE(cursor->is_valid());
  EXPECT_EQ(cursor->status().error(), Errc::io_error);
  disk->repair();
  EXPECT_TRUE(*engine.get(Family::rows, "a", value, Wait::allowed));
}

TEST(SimulatedDisk, FailedSyncKeepsNothingSafe) {
  const auto disk = std::make_shared<SimulatedDisk>();
  {
    MemoryEngine engine(disk);
    disk->fail_sync(1, Error(Errc::io_error, "simulated"));
    ASSERT_TRUE(put(engine, "a"));
    EXPECT_EQ(engine.sync().error(), Errc::io_error);
    EXPECT_EQ(disk->syncs(), 1U);
    disk->crash();
  }
  disk->repair();
  EXPECT_EQ(difference(MemoryEngine(disk), {}), "");
}

}  // namespace
}  // namespace weir::storage::engine
