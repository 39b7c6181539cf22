#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <weir/tests/storage/rocksdb/support/faulty_disk.hpp>
#include <weir/tests/storage/rocksdb/support/stride.hpp>
#include <weir/tests/storage/support/model.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace weir::storage::rocksdb {
namespace {

using engine::Engine;
using engine::Wait;
using storage::test::Content;
using storage::test::difference;
using storage::test::RandomWrites;
using storage::test::TemporaryDirectory;
using storage::test::Writes;
using test::FaultyDisk;
using test::stride;
using Tail = FaultyDisk::Tail;

/// Batches, and what is done after each: a script in which every kind of file is written, renamed
/// and removed.
class Scenario {
 public:
  static constexpr std::size_t batch_count = 20;

  Scenario() : prefixes_(1) {
    RandomWrites random(3);
    for (std::size_t i = 0; i < batch_count; ++i) {
      batches_.push_back(random.batch(6));
      prefixes_.push_back(prefixes_.back());
      storage::test::apply(batches_.back(), prefixes_.back());
    }
  }

  /// How far the script came before something failed, in batches.
  struct Progress {
    std::size_t begun = 0;
    std::size_t safe = 0;  // synced, and acknowledged
  };

  Progress run(const FaultyDisk& disk, const EngineOptions& options) const {
    Progress progress;
    auto engine = disk.open(options);
    for (std::size_t i = 0; engine && i < batch_count; ++i) {
      progress.begun = i + 1;
      const auto batch = (*engine)->make_batch();
      storage::test::apply(batches_[i], *batch);
      if (!(*engine)->write(*batch, Wait::allowed)) break;
      if (i % 3 == 2) {
        if (!(*engine)->sync()) break;
        if (options.write_ahead) progress.safe = i + 1;
      }
      // Moves one family to files, past batches of the others that are not synced.
      if (i % 9 == 4 && !(*engine)->collect()) break;
      if (i == 12) {
        if (!(*engine)->close()) break;
        progress.safe = i + 1;
        engine = disk.open(options);
      }
    }
    return progress;
  }

  /// Expects the content after some batch: none that was acknowledged is missing, no later one is
  /// there without those before it.
  void expect_prefix(const Engine& engine, const Progress& progress) const {
    const auto content = storage::test::read_all(engine);
    ASSERT_TRUE(content) << content.error().message();
    for (std::size_t batches = progress.safe; batches <= progress.begun; ++batches) {
      if (*content == prefixes_[batches]) return;
    }
    FAIL() << "neither of the contents after batch " << progress.safe << " to " << progress.begun
           << "; compared with the first: " << difference(*content, prefixes_[progress.safe]);
  }

 private:
  std::vector<Writes> batches_;
  std::vector<Content> prefixes_;
};

/// Gives the tail that files have after the n-th crash.
using ChooseTail = Tail (*)(std::uint64_t);

void expect_survival(const FaultyDisk& disk, const EngineOptions& options, const Scenario& scenario,
                     const Scenario::Progress& progress) {
  auto engine = disk.open(options);
  ASSERT_TRUE(engine) << engine.error().message();
  ASSERT_NO_FATAL_FAILURE(scenario.expect_prefix(**engine, progress));
  const auto checked = (*engine)->check_files();
  ASSERT_TRUE(checked) << checked.error().message();
  const auto batch = (*engine)->make_batch();
  batch->put(engine::Family::rows, "written after the crash", "1");
  ASSERT_TRUE((*engine)->write(*batch, Wait::allowed));
  ASSERT_TRUE((*engine)->close());
}

/// Crashes the scenario at each of its operations in turn.
void crash_everywhere(ChooseTail tail_of, bool write_ahead) {
  const Scenario scenario;
  const TemporaryDirectory directory;
  const auto fresh = directory / "fresh";
  ASSERT_TRUE(FaultyDisk().open({.directory = fresh, .memory_budget = memory_budget_min}));
  for (std::uint64_t operation = 1;; operation += stride) {
    SCOPED_TRACE("crash at operation " + std::to_string(operation));
    const EngineOptions options{.directory = directory / "engine",
                                .memory_budget = memory_budget_min,
                                .write_ahead = write_ahead};
    std::filesystem::remove_all(options.directory);
    std::filesystem::copy(fresh, options.directory);
    FaultyDisk disk;
    disk.crash_at(operation);
    const auto progress = scenario.run(disk, options);
    if (!disk.is_down()) {
      EXPECT_EQ(progress.begun, Scenario::batch_count);
      EXPECT_GT(operation, 50U) << "so few operations cannot be all of them";
      return;
    }
    disk.crash(operation, tail_of(operation));
    ASSERT_NO_FATAL_FAILURE(expect_survival(disk, options, scenario, progress));
  }
}

Tail lost(std::uint64_t) { return Tail::lost; }
Tail torn(std::uint64_t nth) { return nth % 2 == 0 ? Tail::torn : Tail::garbage; }

TEST(Crash, AtEveryOperationLeavesEverythingSyncedWhenTheRestIsLost) {
  crash_everywhere(lost, true);
}

TEST(Crash, AtEveryOperationLeavesAPrefixWhenFilesAreTorn) { crash_everywhere(torn, true); }

TEST(Crash, AtEveryOperationWithoutALogLeavesTheLastCloseOrLater) { crash_everywhere(torn, false); }

TEST(Crash, AtEveryOperationOfMakingAnEngineLeavesNoneOrAnEmptyOne) {
  for (std::uint64_t operation = 1;; operation += stride) {
    SCOPED_TRACE("crash at operation " + std::to_string(operation));
    const TemporaryDirectory directory;
    const EngineOptions options{.directory = directory / "engine",
                                .memory_budget = memory_budget_min};
    FaultyDisk disk;
    disk.crash_at(operation);
    (void)disk.open(options);
    if (!disk.is_down()) break;
    disk.crash(operation, operation % 3 == 0 ? Tail::lost : torn(operation));
    auto engine = disk.open(options);
    ASSERT_TRUE(engine) << engine.error().message();
    ASSERT_EQ(difference(**engine, {}), "");
  }
}

}  // namespace
}  // namespace weir::storage::rocksdb
