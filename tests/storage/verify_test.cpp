#include <weir/storage/verify.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include <weir/storage/errc.hpp>
#include <weir/storage/internal/change_format.hpp>
#include <weir/storage/internal/checkpoint_format.hpp>
#include <weir/storage/internal/row_format.hpp>
#include <weir/storage/rocksdb/engine.hpp>
#include <weir/storage/store.hpp>
#include <weir/tests/storage/support/read_file.hpp>
#include <weir/tests/storage/support/store_fixture.hpp>
#include <weir/tests/storage/support/unprivileged.hpp>

namespace weir::storage {
namespace {

using engine::Family;

std::string stored(std::uint64_t version, std::string_view value) {
  std::string bytes;
  internal::append_stored(bytes, Version{version}, value);
  return bytes;
}

/// The record of a version with another total.
std::string with_total(const std::string& record, std::uint64_t difference) {
  internal::ByteReader reader(record);
  std::string changed;
  changed.push_back(static_cast<char>(reader.byte()));
  internal::append_varint(reader.varint(), changed);
  internal::append_varint(reader.varint() + difference, changed);
  changed.append(reader.rest());
  return changed;
}

/// A closed store of a few versions, to be tampered with.
class VerifyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    StoreOptions options{.directory = path()};
    options.retention.history = options.retention.log = std::chrono::hours(1);
    Store store = Store::open(system_, options).value();
    const auto rows = system_.run(store.open_rows<std::uint64_t, std::string>("rows")).value();
    const auto states = system_.run(store.open_state<std::uint64_t, std::string>("s")).value();
    auto transaction = store.begin();
    transaction.put(rows, 7, "seven");
    transaction.put(states, 1, "state");
    transaction.set_checkpoint("reader", Version{1});
    ASSERT_TRUE(system_.run(transaction.commit()));
    ASSERT_TRUE(system_.run(test::commit_rows(store, rows, {{7, "again"}, {8, "eight"}})));
    newest_ = store.version();
    row_ = internal::row_key(rows.id(), encode_key(std::uint64_t{7}));
  }
  std::filesystem::path path() const { return directory_ / "store"; }

  template <class Change>
  void tamper(Change change) {
    auto engine = rocksdb::open_engine({.directory = path() / "data"}).value();
    const auto batch = engine->make_batch();
    change(*batch);
    ASSERT_TRUE(engine->write(*batch, engine::Wait::allowed));
    ASSERT_TRUE(engine->close());
  }
  /// Gives the record as it was.
  std::string change_total(Version version) {
    const std::string key = internal::log_key(version);
    std::string record;
    {
      const auto engine = rocksdb::open_engine({.directory = path() / "data"}).value();
      EXPECT_TRUE(engine->get(Family::log, key, record, engine::Wait::allowed).value());
    }
    tamper([&](engine::Batch& batch) { batch.put(Family::log, key, with_total(record, 1)); });
    return record;
  }
  void expect_fault(const std::string& text) {
    const auto report = verify(path());
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error(), Errc::corruption) << report.error().message();
    EXPECT_NE(report.error().message().find(text), std::string::npos) << report.error().message();
  }

  ActorSystem system_{{.threads = 1}};
  test::TemporaryDirectory directory_;
  Version newest_;
  std::string row_;
};

TEST_F(VerifyTest, ASoundStoreIsCounted) {
  const auto report = verify(path());
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->newest, newest_);
  EXPECT_EQ(report->rows, 4U) << "two, and two in the catalog";
  EXPECT_EQ(report->old_versions, 1U);
  EXPECT_EQ(report->states, 1U);
  EXPECT_EQ(report->checkpoints, 1U);
  EXPECT_EQ(report->changes, 5U);
}

TEST_F(VerifyTest, ARowThatTheLogDoesNotKnowIsFound) {
  tamper([&](engine::Batch& batch) {
    batch.put(Family::rows, row_, stored(newest_.number, "changed"));
  });
  expect_fault("is not what the update of version " + to_string(newest_) + " made it");
}

TEST_F(VerifyTest, ARowThatIsNoStoredValueIsFound) {
  tamper([&](engine::Batch& batch) { batch.put(Family::rows, row_, ""); });
  expect_fault("rows: ");
}

TEST_F(VerifyTest, ARowFromTheFutureIsFound) {
  tamper([&](engine::Batch& batch) { batch.put(Family::rows, row_, stored(99, "x")); });
  expect_fault("version 99 is newer than the newest, " + to_string(newest_));
}

TEST_F(VerifyTest, ARowWithoutAKeySpaceIsFound) {
  tamper([](engine::Batch& batch) { batch.put(Family::rows, "abc", stored(1, "x")); });
  expect_fault("the key has no key space");
}

TEST_F(VerifyTest, AStateFromTheFutureIsFound) {
  tamper([](engine::Batch& batch) {
    batch.put(Family::state, internal::row_key(17, "k"), stored(99, "x"));
  });
  expect_fault("state: ");
}

TEST_F(VerifyTest, ACheckpointFromTheFutureIsFound) {
  tamper([](engine::Batch& batch) {
    batch.put(Family::checkpoints, "reader",
              stored(1, internal::encode_checkpoint({Version{99}, {}})));
  });
  expect_fault("at version 99, newer than the newest");
}

TEST_F(VerifyTest, LivesOfARowThatOverlapAreFound) {
  tamper([&](engine::Batch& batch) {
    std::string key;
    internal::append_history_key(key, row_, Version{newest_.number - 1});
    batch.put(Family::history, key, stored(1, "earlier"));
    key.clear();
    internal::append_history_key(key, row_, newest_);
    batch.put(Family::history, key, stored(1, "overlaps"));
  });
  expect_fault("but another lived then");
}

TEST_F(VerifyTest, ALifeThatEndsBeforeItBeginsIsFound) {
  tamper([&](engine::Batch& batch) {
    std::string key;
    internal::append_history_key(key, row_, Version{1});
    batch.put(Family::history, key, stored(2, "x"));
  });
  expect_fault("lives from version 2 to 1");
}

TEST_F(VerifyTest, AGapInTheLogIsFound) {
  tamper([](engine::Batch& batch) { batch.erase(Family::log, internal::log_key(Version{2})); });
  expect_fault("version 2 is missing");
}

TEST_F(VerifyTest, ARecordThatIsNoneIsFound) {
  tamper([](engine::Batch& batch) {
    batch.put(Family::log, internal::log_key(Version{2}), "garbage");
  });
  expect_fault("version 2");
}

TEST_F(VerifyTest, AHorizonFromTheFutureIsFound) {
  tamper([](engine::Batch& batch) {
    batch.put(Family::meta, internal::horizon_key, internal::encode_version(Version{99}));
  });
  expect_fault("keeps versions from 99");
}

/// Every file with its content.
std::map<std::string, std::string> files_in(const std::filesystem::path& path) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    files[entry.path()] = entry.is_directory() ? "a directory" : test::read_file(entry.path());
  }
  return files;
}

void set_permissions(const std::filesystem::path& path, unsigned directory, unsigned file) {
  using std::filesystem::perms;
  std::filesystem::permissions(path, static_cast<perms>(directory));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    const unsigned mode = entry.is_directory() ? directory : file;
    std::filesystem::permissions(entry.path(), static_cast<perms>(mode));
  }
}

TEST_F(VerifyTest, ChangesNothing) {
  const auto before = files_in(path());
  ASSERT_TRUE(verify(path()));
  EXPECT_EQ(files_in(path()), before);
}

TEST_F(VerifyTest, ReadsTheLogOfACrashedProcessAndLeavesItThere) {
  const auto crashed = directory_ / "crashed";
  {
    Store store = Store::open(system_, {.directory = path()}).value();
    const auto rows = system_.run(store.open_rows<std::uint64_t, std::string>("rows")).value();
    newest_ = system_.run(test::commit_rows(store, rows, {{9, "nine"}})).value();
    std::filesystem::copy(path(), crashed, std::filesystem::copy_options::recursive);
  }
  const auto before = files_in(crashed);
  const auto report = verify(crashed);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->newest, newest_);
  EXPECT_EQ(report->rows, 5U);
  EXPECT_EQ(files_in(crashed), before);
}

TEST_F(VerifyTest, NeedsNoRightToWrite) {
  std::filesystem::permissions(directory_.path(), static_cast<std::filesystem::perms>(0755));
  set_permissions(path(), 0555, 0444);
  {
    const test::Unprivileged unprivileged;
    ASSERT_NE(::access((path() / "data").c_str(), W_OK), 0);
    const auto report = verify(path());
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->newest, newest_);
  }
  set_permissions(path(), 0755, 0644);
}

TEST_F(VerifyTest, AStoreThatWasNeverFinishedIsEmpty) {
  const auto begun = directory_ / "begun";
  std::filesystem::create_directories(begun / "data");
  std::filesystem::copy(path() / "FORMAT", begun);
  const auto report = verify(begun);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->newest, Version{});
}

TEST_F(VerifyTest, AMissingFileIsFound) {
  std::filesystem::remove(path() / "data/CURRENT");
  expect_fault("CURRENT");
}

TEST_F(VerifyTest, ATotalThatWasTamperedWithIsFoundInEveryRecord) {
  for (Version version{1}; version <= newest_; version = version.next()) {
    const std::string record = change_total(version);
    expect_fault("does not go on where the record before it ends");
    tamper(
        [&](engine::Batch& batch) { batch.put(Family::log, internal::log_key(version), record); });
    ASSERT_TRUE(verify(path()));
  }
}

TEST_F(VerifyTest, ATotalThatWasTamperedWithIsFoundInTheOnlyRecord) {
  std::filesystem::remove_all(path());
  {
    Store store = Store::open(system_, {.directory = path()}).value();
    ASSERT_TRUE((system_.run(store.open_rows<std::uint64_t, std::string>("rows"))));
  }
  ASSERT_TRUE(verify(path()));
  change_total(Version{1});
  expect_fault("does not go on where the record before it ends");
}

TEST_F(VerifyTest, AStoreThatIsOpenIsLocked) {
  const auto store = Store::open(system_, {.directory = path()});
  ASSERT_TRUE(store);
  EXPECT_EQ(verify(path()).error(), Errc::locked);
}

}  // namespace
}  // namespace weir::storage
