#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <rocksdb/db.h>
#include <weir/tests/runtime/support/scaled.hpp>
#include <weir/tests/storage/rocksdb/support/faulty_disk.hpp>
#include <weir/tests/storage/support/model.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace weir::storage::rocksdb {
namespace {

using engine::Engine;
using engine::Errc;
using engine::Event;
using engine::Family;
using engine::Wait;
using storage::test::Content;
using storage::test::difference;
using storage::test::RandomWrites;
using test::FaultyDisk;

class Events final : public engine::EventSink {
 public:
  void on_event(const Event& event) override {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
  }
  std::vector<Event> of(Event::Kind kind) const {
    const std::lock_guard lock(mutex_);
    std::vector<Event> found;
    std::ranges::copy_if(events_, std::back_inserter(found),
                         [&](const Event& event) { return event.kind == kind; });
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Event> events_;
};

class RocksdbEngine : public ::testing::Test {
 protected:
  std::unique_ptr<Engine> open() { return open(options_); }
  std::unique_ptr<Engine> open(const EngineOptions& options) const {
    auto engine = disk_.open(options);
    EXPECT_TRUE(engine) << engine.error().message();
    return std::move(engine).value();
  }
  static void put(Engine& engine, Family family, const std::string& key, const std::string& value) {
    storage::test::write(engine, {{storage::test::Operation::Kind::put, family, key, value}});
  }

  storage::test::TemporaryDirectory directory_;
  FaultyDisk disk_;
  EngineOptions options_{.directory = directory_ / "engine", .memory_budget = memory_budget_min};
};

TEST_F(RocksdbEngine, RefusesWhatItCannotWorkWith) {
  EXPECT_EQ(open_engine({}).error(), Errc::invalid_argument);
  options_.memory_budget = 1000;
  const auto refused = open_engine(options_);
  EXPECT_EQ(refused.error(), Errc::invalid_argument);
  EXPECT_NE(refused.error().detail().find("1000"), std::string::npos);
}

TEST_F(RocksdbEngine, WorksOnTheRealDisk) {
  for (int life = 0; life < 2; ++life) {
    auto engine = open_engine(options_);
    ASSERT_TRUE(engine) << engine.error().message();
    put(**engine, Family::rows, std::to_string(life), "value");
    ASSERT_TRUE((*engine)->sync());
    EXPECT_EQ(storage::test::read_all(**engine)->at(1).size(), life + 1U);
  }
}

TEST_F(RocksdbEngine, ClosedRefusesEverything) {
  const auto engine = open();
  const auto batch = engine->make_batch();
  ASSERT_TRUE(engine->close());
  EXPECT_TRUE(engine->close()) << "once more does nothing";
  std::string value;
  EXPECT_EQ(engine->write(*batch, Wait::allowed).error(), Errc::closed);
  EXPECT_EQ(engine->sync().error(), Errc::closed);
  EXPECT_EQ(engine->get(Family::rows, "a", value, Wait::allowed).error(), Errc::closed);
  EXPECT_EQ(engine->make_cursor(Family::rows, {})->status().error(), Errc::closed);
  EXPECT_EQ(engine->check_files().error(), Errc::closed);
  EXPECT_EQ(engine->copy_to(directory_ / "copy").error(), Errc::closed);
}

// A file that is not open cannot be read without waiting: its keys are neither there nor missing.
TEST_F(RocksdbEngine, ReadingWithoutWaitingIsNotFooledByFilesThatAreNotOpen) {
  const auto key = [](int i) { return std::to_string(100'000 + i); };
  EngineOptions options = options_;
  options.memory_budget = std::size_t{16} << 20;
  const auto value_of = [](int i) {
    std::mt19937_64 random(static_cast<unsigned>(i));
    std::vector<std::uint64_t> words(8 << 10);
    std::ranges::generate(words, random);
    return std::string(reinterpret_cast<const char*>(words.data()), 64 << 10);
  };
  options.open_files_max = 20;
  std::string value;
  // How many files so many bytes make depends on when RocksDB comes to merging them: 4 to 8 MiB
  // each, once it has.
  int count = 0;
  auto engine = open(options);
  while (engine->statistics().files <= 20) {
    ASSERT_LT(count, 8000) << engine->statistics().files << " files";
    for (int i = 0; i < 800; ++i, ++count) put(*engine, Family::rows, key(count), value_of(count));
    ASSERT_TRUE(engine->close());
    engine = open(options);
  }
  int blocked = 0;
  for (int i = 0; i < count; i += WEIR_TEST_IS_SLOW ? 7 : 1) {
    const auto found = engine->get(Family::rows, key(i), value, Wait::never);
    if (found) {
      ASSERT_TRUE(*found) << i;
      ASSERT_EQ(value, value_of(i)) << i;
    } else {
      ASSERT_EQ(found.error(), Errc::would_block) << i;
      ++blocked;
    }
    const auto cursor = engine->make_cursor(Family::rows, {.wait = Wait::never});
    cursor->seek(key(i));
    if (cursor->is_valid()) {
      ASSERT_EQ(cursor->key(), key(i));
      ASSERT_EQ(cursor->value(), value_of(i)) << i;
    } else {
      ASSERT_EQ(cursor->status().error(), Errc::would_block) << i;
    }
    ASSERT_TRUE(engine->get(Family::rows, key(i), value, Wait::allowed).value());
  }
  EXPECT_GT(blocked, 0);
}

TEST_F(RocksdbEngine, ReadingWithoutWaitingFindsOnlyWhatIsInMemory) {
  {
    const auto engine = open();
    put(*engine, Family::rows, "a", "1");
    ASSERT_TRUE(engine->close());
  }
  const auto engine = open();
  std::string value;
  EXPECT_EQ(engine->get(Family::rows, "a", value, Wait::never).error(), Errc::would_block);
  put(*engine, Family::rows, "b", "2");
  std::array<engine::Lookup, 2> lookups{{{.key = "a"}, {.key = "b"}}};
  EXPECT_FALSE(engine->get_many(Family::rows, lookups, Wait::never).value());
  EXPECT_FALSE(lookups[0].is_known) << lookups[0].value.value_or("none");
  EXPECT_EQ(lookups[1].value, "2");
  {
    const auto cursor = engine->make_cursor(Family::rows, {.wait = Wait::never});
    cursor->seek({});
    EXPECT_FALSE(cursor->is_valid());
    EXPECT_EQ(cursor->status().error(), Errc::would_block);
  }
  ASSERT_TRUE(engine->get(Family::rows, "a", value, Wait::allowed));
  const auto found = engine->get(Family::rows, "a", value, Wait::never);
  ASSERT_TRUE(found) << "it is in the cache: " << found.error().message();
  EXPECT_EQ(value, "1");
  EXPECT_TRUE(engine->get_many(Family::rows, lookups, Wait::never).value());
  EXPECT_EQ(lookups[0].value, "1");
}

TEST_F(RocksdbEngine, WritingDoesNotTouchTheDisk) {
  const auto engine = open();
  const auto before = disk_.operations_of_this_thread();
  for (int i = 0; i < 100; ++i) put(*engine, Family::rows, std::to_string(i), "value");
  EXPECT_EQ(disk_.operations_of_this_thread(), before);
  ASSERT_TRUE(engine->sync());
  EXPECT_LE(disk_.operations_of_this_thread(), before + 3)
      << "the log, once, and perhaps its directory";
}

TEST_F(RocksdbEngine, SyncCoversWhatWasWrittenBeforeItWhileAnotherThreadWrites) {
  static constexpr std::size_t enough = 5000;
  std::size_t safe = 0;
  {
    const auto engine = open();
    std::atomic<std::size_t> written = 0;
    std::thread writer([&] {
      const auto batch = engine->make_batch();
      for (std::size_t i = 0;; ++i) {
        batch->clear();
        batch->put(Family::log, std::to_string(1'000'000 + i), "value");
        if (!engine->write(*batch, Wait::allowed)) return;
        written = i + 1;
      }
    });
    while (safe < enough) {
      const std::size_t before = written;
      const auto synced = engine->sync();
      EXPECT_TRUE(synced) << synced.error().message();
      if (!synced) break;
      safe = before;
    }
    disk_.crash_at(1);
    EXPECT_FALSE(engine->sync()) << "the power is gone";
    writer.join();
  }
  disk_.crash(1, FaultyDisk::Tail::lost);
  const auto content = storage::test::read_all(*open());
  ASSERT_TRUE(content) << content.error().message();
  const auto& log = (*content)[static_cast<std::size_t>(Family::log)];
  ASSERT_GE(log.size(), safe);
  EXPECT_EQ(log.rbegin()->first, std::to_string(999'999 + log.size())) << "there is no gap";
}

TEST_F(RocksdbEngine, CopyHoldsEverythingWrittenAndStaysAsItIs) {
  RandomWrites random(2);
  Content model;
  const auto engine = open();
  for (int round = 0; round < 20; ++round) {
    const auto writes = random.batch(10);
    storage::test::write(*engine, writes);
    storage::test::apply(writes, model);
  }
  const auto files = engine->copy_to(directory_ / "copy");
  ASSERT_TRUE(files) << files.error().message();
  EXPECT_TRUE(std::ranges::find(*files, "CURRENT") != files->end());
  put(*engine, Family::rows, "later", "value");
  EXPECT_EQ(engine->copy_to(directory_ / "copy").error(), Errc::already_exists);

  EngineOptions options = options_;
  options.directory = directory_ / "copy";
  const auto copy = open(options);
  EXPECT_EQ(difference(*copy, model), "");
  EXPECT_TRUE(copy->check_files());
}

TEST_F(RocksdbEngine, CheckFindsAFileDamagedWhileItIsOpen) {
  const auto engine = open();
  put(*engine, Family::history, "a key of history", std::string(1000, 'x'));
  ASSERT_TRUE(engine->collect());
  ASSERT_TRUE(engine->check_files());
  for (const auto& entry : std::filesystem::directory_iterator(options_.directory)) {
    if (entry.path().extension() != ".sst") continue;
    std::fstream(entry.path(), std::ios::in | std::ios::out | std::ios::binary).put('?');
    const auto checked = engine->check_files();
    EXPECT_EQ(checked.error(), Errc::corruption);
    EXPECT_NE(checked.error().detail().find(entry.path().filename().string()), std::string::npos)
        << checked.error().message();
  }
}

TEST_F(RocksdbEngine, WithoutALogKeepsWhatWasWrittenWhenItCloses) {
  options_.write_ahead = false;
  RandomWrites random(9);
  Content model;
  {
    const auto engine = open();
    const auto writes = random.batch(100);
    storage::test::write(*engine, writes);
    storage::test::apply(writes, model);
    EXPECT_TRUE(engine->sync());
    EXPECT_EQ(engine->statistics().log_bytes, 0U);
    ASSERT_TRUE(engine->close());
  }
  EXPECT_EQ(difference(*open(), model), "");
}

TEST_F(RocksdbEngine, TellsOfFlushesMergesAndFailures) {
  Events events;
  options_.events = &events;
  const auto engine = open();
  put(*engine, Family::history, "a key of history", "value");
  ASSERT_TRUE(engine->collect());
  const auto flushes = events.of(Event::Kind::flush);
  ASSERT_EQ(flushes.size(), 1U);
  EXPECT_EQ(flushes[0].family, Family::history);
  EXPECT_GT(flushes[0].bytes_written, 0U);
  EXPECT_NE(flushes[0].detail.find(".sst"), std::string::npos);
  const auto merges = events.of(Event::Kind::compaction);
  ASSERT_FALSE(merges.empty());
  EXPECT_EQ(merges[0].family, Family::history);
  EXPECT_EQ(engine->statistics().compactions, merges.size());

  put(*engine, Family::rows, "a", "1");
  disk_.fail_at(1, FaultyDisk::Fault::io_error);
  EXPECT_FALSE(engine->sync());
  const auto failures = events.of(Event::Kind::failure);
  ASSERT_FALSE(failures.empty());
  EXPECT_NE(failures[0].detail.find("Injected"), std::string::npos) << failures[0].detail;
}

/// How much the threads that tell of something let others go first.
class Niceness final : public engine::EventSink {
 public:
  static int of_this_thread() { return ::getpriority(PRIO_PROCESS, 0); }
  void on_event(const Event& event) override {
    const std::lock_guard lock(mutex_);
    niceness_[event.kind] = of_this_thread();
  }
  int of(Event::Kind kind) const {
    const std::lock_guard lock(mutex_);
    return niceness_.at(kind);
  }

 private:
  mutable std::mutex mutex_;
  std::map<Event::Kind, int> niceness_;
};

TEST_F(RocksdbEngine, MergesFilesBehindThoseWhoUseThem) {
  Niceness niceness;
  options_.events = &niceness;
  const auto engine = open();
  put(*engine, Family::history, "a key of history", "value");
  ASSERT_TRUE(engine->collect());
  EXPECT_GT(niceness.of(Event::Kind::compaction), Niceness::of_this_thread());
  EXPECT_EQ(niceness.of(Event::Kind::flush), Niceness::of_this_thread());
}

TEST_F(RocksdbEngine, StalledWriteWaitsOnlyIfItMay) {
  Events events;
  options_.events = &events;
  const auto engine = open();
  disk_.hold_sorted_files();
  const auto batch = engine->make_batch();
  batch->put(Family::rows, "a", std::string(10'000, 'x'));
  Result<> written;
  for (int i = 0; written && i < 10'000; ++i) written = engine->write(*batch, Wait::never);
  EXPECT_EQ(written.error(), Errc::would_block);
  EXPECT_TRUE(engine->statistics().is_stalled);
  EXPECT_FALSE(events.of(Event::Kind::stall_begin).empty());
  EXPECT_TRUE(engine->sync()) << "what was written is not lost";

  std::thread waiting([&] { EXPECT_TRUE(engine->write(*batch, Wait::allowed)); });
  disk_.let_go();
  waiting.join();
  ASSERT_TRUE(engine->close());
  EXPECT_FALSE(events.of(Event::Kind::stall_end).empty());
}

TEST_F(RocksdbEngine, CountsFilesAndMemory) {
  const auto engine = open();
  put(*engine, Family::history, "a key of history", std::string(1000, 'x'));
  const auto before = engine->statistics();
  EXPECT_EQ(before.files, 0U);
  EXPECT_GT(before.memtable_bytes, 1000U);
  ASSERT_TRUE(engine->collect());
  std::string value;
  ASSERT_TRUE(engine->get(Family::history, "a key of history", value, Wait::allowed));
  ASSERT_TRUE(engine->get(Family::history, "a key of history", value, Wait::allowed));
  const auto after = engine->statistics();
  EXPECT_EQ(after.files, 1U);
  EXPECT_GT(after.file_bytes, 0U);
  EXPECT_GT(after.cache_bytes, 0U);
  EXPECT_GT(after.cache_hits, 0U);
  EXPECT_GT(after.cache_misses, 0U);
  EXPECT_FALSE(after.is_stalled);
}

TEST_F(RocksdbEngine, RefusesAFamilyItDoesNotKnow) {
  ASSERT_TRUE(open()->close());
  {
    std::vector<::rocksdb::ColumnFamilyDescriptor> families;
    for (const auto name : engine::family_names) {
      families.emplace_back(std::string(name), ::rocksdb::ColumnFamilyOptions());
    }
    std::vector<::rocksdb::ColumnFamilyHandle*> handles;
    ::rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(
        ::rocksdb::DB::Open({}, options_.directory.string(), families, &handles, &opened).ok());
    const std::unique_ptr<::rocksdb::DB> database(opened);
    handles.emplace_back();
    ASSERT_TRUE(database->CreateColumnFamily({}, "of the future", &handles.back()).ok());
    for (auto* handle : handles) ASSERT_TRUE(database->DestroyColumnFamilyHandle(handle).ok());
  }
  const auto refused = disk_.open(options_);
  EXPECT_EQ(refused.error(), Errc::unsupported_format);
  EXPECT_NE(refused.error().detail().find("of the future"), std::string::npos)
      << refused.error().message();
}

/// Puts to keys of a few spaces, and now and then removes a space, or its keys from one on.
storage::test::Writes writes_of_spaces(std::mt19937_64& random) {
  using Kind = storage::test::Operation::Kind;
  static constexpr std::array families = {Family::rows, Family::history, Family::state};
  const auto space_of = [](std::uint64_t number) {
    return std::string("\0\0\0", 3) + static_cast<char>(16 + number);
  };
  storage::test::Writes writes;
  const bool removes = random() % 4 == 0;
  for (std::uint64_t left = 1 + random() % 20; left > 0; --left) {
    const std::uint64_t space = random() % 4;
    const Family family = families[random() % families.size()];
    const std::string key = space_of(space) + std::to_string(random() % 5000);
    if (removes && left == 3) {
      writes.push_back({Kind::erase_range, family, space_of(space), space_of(space + 1)});
    } else if (removes && left == 5) {
      writes.push_back({Kind::erase_range, family, key, space_of(space + 1)});
    } else {
      writes.push_back({Kind::put, family, key, std::to_string(random())});
    }
  }
  return writes;
}

// RocksDB 7.8 would look for the place of a removed range beside the keys of its space.
TEST_F(RocksdbEngine, RangesRemovedAmongManyWritesBreakNothing) {
  options_.memory_budget = std::size_t{16} << 20;
  std::mt19937_64 random(1);
  Content expected;
  auto engine = open();
  for (int life = 0; life < 4; ++life) {
    for (int count = 0; count < 500; ++count) {
      const auto writes = writes_of_spaces(random);
      storage::test::apply(writes, expected);
      storage::test::write(*engine, writes);
    }
    ASSERT_EQ(difference(*engine, expected), "");
    // What was written is in the log only.
    ASSERT_TRUE(engine->sync());
    disk_.crash_at(1);
    engine.reset();
    disk_.crash(1, FaultyDisk::Tail::lost);
    engine = open();
    ASSERT_EQ(difference(*engine, expected), "");
  }
}

/// In one of a few spaces, with zero to nine bytes more.
std::string key_in_memory(std::mt19937_64& random) {
  std::string key("\0\0\0", 3);
  for (std::uint64_t bytes = 1 + random() % 10; bytes > 0; --bytes) {
    key.push_back(static_cast<char>(random() % 7 * 40));
  }
  return key;
}

TEST_F(RocksdbEngine, WhatIsInMemoryIsFoundFromBothSides) {
  options_.memory_budget = std::size_t{64} << 20;
  std::mt19937_64 random(1);
  const auto engine = open();
  std::map<std::string, std::string> expected;
  for (int count = 0; count < 2000; ++count) {
    const auto batch = engine->make_batch();
    for (int write = 0; write < 10; ++write) {
      const std::string key = key_in_memory(random);
      expected[key] = std::to_string(random());
      batch->put(Family::state, key, expected[key]);
    }
    ASSERT_TRUE(engine->write(*batch, Wait::allowed));
  }
  ASSERT_EQ(engine->statistics().files, 0U);
  const auto cursor = engine->make_cursor(Family::state, {});
  std::string value;
  for (int count = 0; count < 5000; ++count) {
    const std::string key = key_in_memory(random);
    const auto next = expected.lower_bound(key);
    const bool is_there = next != expected.end() && next->first == key;
    ASSERT_EQ(*engine->get(Family::state, key, value, Wait::allowed), is_there);
    if (is_there) ASSERT_EQ(value, next->second);
    cursor->seek(key);
    ASSERT_EQ(cursor->is_valid(), next != expected.end());
    if (cursor->is_valid()) ASSERT_EQ(cursor->key(), next->first);
    cursor->seek_back(key);
    const auto after = expected.upper_bound(key);
    ASSERT_EQ(cursor->is_valid(), after != expected.begin());
    if (cursor->is_valid()) ASSERT_EQ(cursor->key(), std::prev(after)->first);
  }
}

TEST_F(RocksdbEngine, ReadersSeeWholeBatchesInOrderWhileOthersAreWritten) {
  options_.memory_budget = std::size_t{64} << 20;
  const auto engine = open();
  std::atomic<bool> is_done = false;
  std::thread reader([&] {
    while (!is_done) {
      const auto cursor = engine->make_cursor(Family::state, {});
      std::string last;
      std::size_t count = 0;
      for (cursor->seek({}); cursor->is_valid(); cursor->next(), ++count) {
        EXPECT_LT(last, cursor->key());
        last = cursor->key();
      }
      EXPECT_EQ(count % 10, 0U) << "half of a batch";
    }
  });
  for (int count = 0; count < weir::testing::scaled(1000); ++count) {
    const auto batch = engine->make_batch();
    for (int write = 0; write < 10; ++write) {
      batch->put(Family::state, std::to_string((count * 10 + write) * 7919 % 1'000'003), "value");
    }
    EXPECT_TRUE(engine->write(*batch, Wait::allowed));
  }
  is_done = true;
  reader.join();
}

TEST_F(RocksdbEngine, HoldsItsMemoryBudget) {
  options_.memory_budget = std::size_t{16} << 20;
  const auto engine = open();
  constexpr std::size_t batch_rows = 100;
  constexpr std::size_t row_bytes = 1'000;
  std::uint64_t largest = 0;
  for (int i = 0; i < 240; ++i) {
    const auto batch = engine->make_batch();
    for (std::size_t row = 0; row < batch_rows; ++row) {
      batch->put(Family::rows, std::to_string(i * 7919 % 240) + "/" + std::to_string(row),
                 std::string(row_bytes, 'x'));
    }
    ASSERT_TRUE(engine->write(*batch, Wait::allowed));
    largest = std::max(largest, engine->statistics().memtable_bytes);
  }
  // Where files are written slowly there are four memtables, each of an eighth of the budget and of
  // what it had taken when that was found to be full.
  const std::size_t memtable_max = options_.memory_budget / 8 + 2 * batch_rows * row_bytes;
  EXPECT_LT(largest, 4 * memtable_max);
  EXPECT_LE(engine->statistics().cache_bytes, options_.memory_budget);
}

}  // namespace
}  // namespace weir::storage::rocksdb
