// docs/storage_format.md against a sample of the format that is never written again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <weir/storage/engine/memory_engine.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/rocksdb/engine.hpp>
#include <weir/storage/verify.hpp>
#include <weir/tests/storage/support/format_decoder.hpp>
#include <weir/tests/storage/support/format_scenario.hpp>
#include <weir/tests/storage/support/read_file.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace weir::storage {
namespace {

namespace fs = std::filesystem;
using test::SampleAccount;
using test::SampleAccounts;
using test::StoredPairs;
using Content = engine::SimulatedDisk::Content;
using Accounts = std::map<std::uint64_t, SampleAccount>;

/// Copied beside this program when it was built.
std::string sample_text() {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  return test::read_file(program.parent_path() / "samples/format_1.txt");
}

StoredPairs read_sample() { return test::parse_pairs(sample_text()); }

/// The lines before the pairs that tell what they mean.
std::vector<std::string> read_meaning() {
  std::vector<std::string> meaning;
  std::istringstream in(sample_text());
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#= ")) meaning.push_back(line.substr(3));
  }
  return meaning;
}

StoredPairs to_pairs(const Content& content) {
  StoredPairs pairs;
  for (std::size_t family = 0; family < engine::family_count; ++family) {
    for (const auto& [key, value] : content[family]) {
      pairs[std::string(engine::family_names[family])][key] = value;
    }
  }
  return pairs;
}

void write_pairs(engine::Engine& engine, const StoredPairs& pairs) {
  const auto batch = engine.make_batch();
  for (std::size_t family = 0; family < engine::family_count; ++family) {
    const auto content = pairs.find(std::string(engine::family_names[family]));
    if (content == pairs.end()) continue;
    for (const auto& [key, value] : content->second) {
      batch->put(static_cast<engine::Family>(family), key, value);
    }
  }
  ASSERT_TRUE(engine.write(*batch, engine::Wait::allowed));
  ASSERT_TRUE(engine.sync());
  ASSERT_TRUE(engine.close());
}

TEST(Format, TheSampleReadByTheDocumentMeansWhatItSays) {
  const auto found = test::describe(read_sample());
  const auto meaning = read_meaning();
  ASSERT_EQ(found.size(), meaning.size());
  for (std::size_t i = 0; i < meaning.size(); ++i) EXPECT_EQ(found[i], meaning[i]);
}

TEST(Format, TheSameCommitsStillMakeTheSameBytes) {
  test::FormatScenario scenario;
  const auto disk = std::make_shared<engine::SimulatedDisk>();
  scenario.run({.disk = disk});
  Content content;
  disk->attach(content);
  EXPECT_EQ(test::to_text(to_pairs(content)), test::to_text(read_sample()));
}

enum class Where : std::uint8_t { memory, directory };

/// A store opened over the sample.
class SampleStore : public ::testing::TestWithParam<Where> {
 protected:
  void SetUp() override {
    StoreOptions options;
    if (GetParam() == Where::memory) {
      options.disk = std::make_shared<engine::SimulatedDisk>();
      engine::MemoryEngine engine(options.disk);
      write_pairs(engine, read_sample());
    } else {
      options.directory = directory_ / "store";
      fs::create_directory(options.directory);
      std::ofstream(options.directory / "FORMAT") << "weir store\nformat 1\n";
      write_pairs(*rocksdb::open_engine({.directory = options.directory / "data"}).value(),
                  read_sample());
      ASSERT_TRUE(verify(options.directory));
    }
    store_.emplace(Store::open(system_, options).value());
    accounts_.emplace(
        system_.run(store_->open_rows<std::uint64_t, SampleAccount>("accounts")).value());
  }

  Accounts accounts_at(std::uint64_t version) {
    Accounts found;
    const auto reader = store_->read_at(Version{version}).value();
    auto scan = reader.scan(*accounts_);
    for (auto row = scan.next_blocking(); row.value(); row = scan.next_blocking()) {
      found[(*row)->key] = (*row)->value;
    }
    return found;
  }

  ActorSystem system_{{.threads = 1}};
  test::TemporaryDirectory directory_;
  std::optional<Store> store_;
  std::optional<SampleAccounts> accounts_;
};
INSTANTIATE_TEST_SUITE_P(Engines, SampleStore, ::testing::Values(Where::memory, Where::directory),
                         [](const auto& where) {
                           return where.param == Where::memory ? "Memory" : "Directory";
                         });

TEST_P(SampleStore, HasItsRowsAtEveryVersionThatIsKept) {
  EXPECT_EQ(store_->version(), Version{11});
  const Accounts six{{1, {"ann", 750}}, {2, {"bob", 250}}};
  const Accounts seven{{1, {"ann", 750}}, {3, {"", -1}}};
  const Accounts eight{{1, {"ann", 200'000}}, {3, {"", -1}}};
  const Accounts ten{{1, {"ann", 200'000}}};
  EXPECT_EQ(store_->read_at(Version{5}).error(), Errc::version_collected);
  EXPECT_EQ(accounts_at(6), six);
  EXPECT_EQ(accounts_at(7), seven);
  EXPECT_EQ(accounts_at(8), eight);
  EXPECT_EQ(accounts_at(9), eight);
  EXPECT_EQ(accounts_at(10), ten);
  EXPECT_EQ(accounts_at(11), ten);
}

TEST_P(SampleStore, HasEveryTypeOfKeyAndValue) {
  const auto types =
      system_.run(store_->open_rows<test::SampleKey, test::SampleValue>("types")).value();
  auto transaction = store_->begin();
  const auto found = transaction.get(types, test::sample_key()).blocking().value();
  ASSERT_TRUE(found);
  EXPECT_TRUE(*found == test::sample_value());
}

TEST_P(SampleStore, HasItsStatesAndCheckpoints) {
  const auto states = system_.run(store_->open_state<std::string, std::string>("states")).value();
  auto transaction = store_->begin();
  EXPECT_EQ(transaction.get(states, "place").blocking().value(), "");
  EXPECT_EQ(transaction.get(states, "gone").blocking().value(), std::nullopt);
  EXPECT_EQ(transaction.checkpoint("auditor").blocking().value(),
            (Checkpoint{Version{7}, std::string("p\0q", 3)}));
  EXPECT_EQ(transaction.checkpoint("late").blocking().value(), std::nullopt);
}

std::string summary_of(const ChangeRecord& record) {
  std::string text = to_string(record.version()) + " " + record.origin();
  if (record.trace().is_valid()) text += " " + telemetry::to_string(record.trace().trace);
  if (record.trace().is_sampled) text += " sampled";
  for (const SpaceChanges& changes : record.spaces()) {
    for (const Change& change : changes) {
      text += " " + std::to_string(changes.space()) + ":" + to_string(change.kind);
    }
  }
  return text;
}

TEST_P(SampleStore, HasItsLog) {
  EXPECT_EQ(store_->log().oldest(), Version{4});
  std::vector<std::string> found;
  const auto records = store_->log().read_blocking(Version{3}).value();
  for (const ChangeRecord& record : records) found.push_back(summary_of(record));
  EXPECT_EQ(found,
            (std::vector<std::string>{"4 teller 16:insert 16:insert",
                                      "5 traced a0a1a2a3a4a5a6a7a8a9aaabacadaeaf sampled 17:insert",
                                      "6  16:update 16:update", "7 teller 16:remove 16:insert",
                                      "8  16:update", "9  1:insert", "10  16:remove", "11 "}));
  const auto update = SampleAccounts::decode(*records[4].of(accounts_->id()).begin()).value();
  EXPECT_EQ(update.before, (SampleAccount{"ann", 750}));
  EXPECT_EQ(update.after, (SampleAccount{"ann", 200'000}));
  const std::chrono::sys_time<Duration> day_20000{std::chrono::hours(24 * 20'000)};
  EXPECT_EQ(records[0].time(), day_20000 + std::chrono::seconds(1));
}

TEST_P(SampleStore, GoesOn) {
  auto transaction = store_->begin();
  transaction.put(*accounts_, 1, {"ann", 0});
  EXPECT_EQ(system_.run(transaction.commit()).value(), Version{12});
  EXPECT_EQ(accounts_at(11), (Accounts{{1, {"ann", 200'000}}}));
  EXPECT_EQ(accounts_at(12), (Accounts{{1, {"ann", 0}}}));
}

/// A store in a directory, with a savepoint.
class FormatDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    store_.emplace(Store::open(system_, {.directory = path()}).value());
    ASSERT_TRUE((system_.run(store_->open_rows<std::uint64_t, std::string>("rows"))));
    ASSERT_TRUE(system_.run(store_->make_savepoint("one")));
  }
  fs::path path() const { return directory_ / "store"; }

  ActorSystem system_{{.threads = 1}};
  test::TemporaryDirectory directory_;
  std::optional<Store> store_;
};

TEST_F(FormatDirectory, HasTheFilesOfTheDocument) {
  EXPECT_EQ(test::read_file(path() / "FORMAT"), "weir store\nformat 1\n");
  EXPECT_EQ(test::read_file(path() / "LOCK"), std::to_string(::getpid()) + "\n");
  const std::string identity = test::read_file(path() / "IDENTITY");
  EXPECT_EQ(identity.size(), 17U);
  EXPECT_EQ(identity.find_first_not_of("0123456789abcdef"), 16U);
  EXPECT_EQ(identity.back(), '\n');
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path())) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"FORMAT", "IDENTITY", "LOCK", "data", "savepoints"}));
}

TEST_F(FormatDirectory, ABackupHasTheManifestOfTheDocument) {
  const fs::path savepoint = path() / "savepoints/one";
  const auto lines = test::read_manifest_lines(test::read_file(savepoint / "BACKUP"));
  ASSERT_GT(lines.size(), 5U);
  EXPECT_EQ(lines[0], "weir backup");
  EXPECT_EQ(lines[1], "format 1");
  EXPECT_EQ(lines[2], "version 1");
  EXPECT_EQ(lines[3].rfind("microseconds ", 0), 0U);
  std::vector<std::string> expected;
  for (const auto& entry : fs::recursive_directory_iterator(savepoint)) {
    if (!entry.is_regular_file() || entry.path().filename() == "BACKUP") continue;
    const std::string content = test::read_file(entry.path());
    char checksum[9];
    std::snprintf(checksum, sizeof checksum, "%08x", test::crc32(content));
    expected.push_back("file " + std::string(checksum) + " " + std::to_string(content.size()) +
                       " " + entry.path().lexically_relative(savepoint).string());
  }
  std::vector<std::string> files(lines.begin() + 4, lines.end());
  std::sort(files.begin(), files.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(files, expected);
}

TEST(FormatBackup, AManifestWrittenByHandIsRead) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory / "FORMAT") << "weir store\nformat 1\n";
  std::ofstream(directory / "BACKUP") << "weir backup\nformat 1\nversion 17\nmicroseconds 1500000\n"
                                         "file 487ee429 20 FORMAT\nend 92dcd2a9\n";
  const auto info = check_backup(directory.path());
  ASSERT_TRUE(info) << info.error().message();
  EXPECT_EQ(info->version, Version{17});
  EXPECT_EQ(info->time.time_since_epoch(), std::chrono::milliseconds(1500));
  EXPECT_EQ(info->files, 1U);
  EXPECT_EQ(info->bytes, 20U);
}

}  // namespace
}  // namespace weir::storage
