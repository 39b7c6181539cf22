#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <weir/tests/storage/rocksdb/support/faulty_disk.hpp>
#include <weir/tests/storage/support/model.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace weir::storage::rocksdb {
namespace {

using engine::Errc;
using engine::Family;
using engine::Wait;
using std::filesystem::path;
using storage::test::Content;
using storage::test::difference;
using storage::test::RandomWrites;
using test::FaultyDisk;
using Kind = storage::test::Operation::Kind;

/// Damages one file of an engine at a time, and looks what becomes of its content.
class Corruption : public testing::Test {
 protected:
  /// Sorted files on two levels, two logs that have not become files, and all the rest.
  void SetUp() override {
    const EngineOptions options{.directory = directory_ / "whole",
                                .memory_budget = memory_budget_min};
    RandomWrites random(5);
    prefixes_.emplace_back();
    for (int life = 0; life < 2; ++life) {
      const auto engine = open(options);
      for (int round = 0; round < 15; ++round) write(*engine, random.batch(12));
      ASSERT_TRUE(engine->collect());
    }
    const auto engine = open(options);
    for (int round = 0; round < 30; ++round) {
      auto writes = random.batch(12);
      // A log of many blocks: reading goes on at the next one after a record that is damaged.
      writes.push_back({Kind::put, Family::state, "filler", std::string(4000, 'x')});
      write(*engine, writes);
      // One family leaves the first log, which the others still need.
      if (round == 15) ASSERT_TRUE(engine->collect());
    }
    ASSERT_TRUE(engine->sync());
    // As a crash finds it.
    std::filesystem::copy(options.directory, crashed_);
  }

  std::unique_ptr<engine::Engine> open(const EngineOptions& options) const {
    auto engine = disk_.open(options);
    EXPECT_TRUE(engine) << engine.error().message();
    return std::move(engine).value();
  }

  void write(engine::Engine& engine, const storage::test::Writes& writes) {
    storage::test::write(engine, writes);
    prefixes_.push_back(prefixes_.back());
    storage::test::apply(writes, prefixes_.back());
  }

  std::vector<path> files(const std::string& part) const {
    std::vector<path> found;
    for (const auto& entry : std::filesystem::directory_iterator(crashed_)) {
      const std::string name = entry.path().filename().string();
      if (name.find(part) != std::string::npos && entry.file_size() > 0) {
        found.push_back(entry.path());
      }
    }
    EXPECT_FALSE(found.empty()) << "no file named like " << part;
    return found;
  }

  /// The one in use: another may be about to be removed.
  path manifest() const {
    std::string name;
    std::ifstream(crashed_ / "CURRENT") >> name;
    return crashed_ / name;
  }

  enum class Verdict : std::uint8_t { refused, whole, prefix, wrong };
  friend void PrintTo(Verdict verdict, std::ostream* out) {
    static constexpr std::array names = {"refused", "whole", "prefix", "wrong"};
    *out << names[static_cast<std::size_t>(verdict)];
  }

  /// Opens a copy in which `file` has been damaged, reads it, and checks its files.
  Verdict judge(const path& file) {
    const EngineOptions options{.directory = damaged_, .memory_budget = memory_budget_min};
    auto engine = disk_.open(options);
    if (!engine) return refuse(engine.error(), file);
    auto content = storage::test::read_all(**engine);
    if (!content) return refuse(content.error(), file);
    const auto checked = (*engine)->check_files();
    const bool is_whole = difference(*content, prefixes_.back()) == "";
    if (!checked) return refuse(checked.error(), file);
    if (is_whole) return Verdict::whole;
    const auto found = std::ranges::find(prefixes_, *content);
    return found == prefixes_.end() ? Verdict::wrong : Verdict::prefix;
  }

  Verdict refuse(const Error& error, const path& file) {
    const std::set<std::error_code> typed = {Errc::corruption, Errc::unsupported_format,
                                             Errc::io_error};
    EXPECT_TRUE(typed.contains(error.code())) << error.message();
    EXPECT_NE(error.detail().find(file.filename().string()), std::string::npos)
        << "does not name " << file.filename() << ": " << error.message();
    return Verdict::refused;
  }

  path damage(const path& file) {
    std::filesystem::remove_all(damaged_);
    std::filesystem::copy(crashed_, damaged_);
    return damaged_ / file.filename();
  }

  /// Flips one bit at a time, at places all over the file.
  std::set<Verdict> flip(const path& file, int places) {
    std::set<Verdict> verdicts;
    const auto size = std::filesystem::file_size(file);
    for (int i = 0; i < places; ++i) {
      const auto offset = static_cast<std::streamoff>((size - 1) * i / (places - 1));
      SCOPED_TRACE(file.filename().string() + " flipped at " + std::to_string(offset));
      const path target = damage(file);
      {
        std::fstream bytes(target, std::ios::binary | std::ios::in | std::ios::out);
        bytes.seekg(offset);
        const char byte = static_cast<char>(bytes.get() ^ (1 << (i % 8)));
        bytes.seekp(offset);
        bytes.put(byte);
      }
      verdicts.insert(expect_sound(target));
    }
    return verdicts;
  }

  std::set<Verdict> truncate(const path& file, int places) {
    std::set<Verdict> verdicts;
    const auto size = std::filesystem::file_size(file);
    for (int i = 0; i < places; ++i) {
      const auto rest = (size - 1) * static_cast<std::uintmax_t>(i) / (places - 1);
      SCOPED_TRACE(file.filename().string() + " truncated to " + std::to_string(rest));
      const path target = damage(file);
      std::filesystem::resize_file(target, rest);
      verdicts.insert(expect_sound(target));
    }
    return verdicts;
  }

  Verdict expect_sound(const path& file) {
    const Verdict verdict = judge(file);
    EXPECT_NE(verdict, Verdict::wrong) << "the content is that after no batch";
    return verdict;
  }

  using Verdicts = std::set<Verdict>;

  storage::test::TemporaryDirectory directory_;
  const path crashed_ = directory_ / "crashed";
  const path damaged_ = directory_ / "damaged";
  FaultyDisk disk_;
  std::vector<Content> prefixes_;
};

TEST_F(Corruption, OfNothingIsNotFound) {
  const path file = damage(files("CURRENT").front());
  EXPECT_EQ(judge(file), Verdict::whole);
}

TEST_F(Corruption, OfASortedFileIsAlwaysRefused) {
  for (const path& file : files(".sst")) {
    EXPECT_EQ(flip(file, 6), Verdicts{Verdict::refused});
    EXPECT_EQ(truncate(file, 3), Verdicts{Verdict::refused});
  }
}

TEST_F(Corruption, OfTheLogLeavesABatchAndAllBeforeIt) {
  const auto logs = files(".log");
  EXPECT_EQ(logs.size(), 2U);
  Verdicts found;
  for (const path& file : logs) {
    found.merge(flip(file, 40));
    found.merge(truncate(file, 10));
  }
  EXPECT_TRUE(found.contains(Verdict::prefix));
}

TEST_F(Corruption, OfTheManifestIsRefused) {
  EXPECT_EQ(flip(manifest(), 40), Verdicts{Verdict::refused});
  (void)truncate(manifest(), 20);
}

TEST_F(Corruption, OfTheFileThatNamesTheManifestIsRefused) {
  for (const path& file : files("CURRENT")) {
    EXPECT_EQ(flip(file, 17), Verdicts{Verdict::refused});
    EXPECT_EQ(truncate(file, 8), Verdicts{Verdict::refused});
  }
}

TEST_F(Corruption, OfFilesThatHoldNoDataIsHarmless) {
  for (const char* name : {"OPTIONS-", "IDENTITY"}) {
    for (const path& file : files(name)) {
      EXPECT_EQ(flip(file, 5), Verdicts{Verdict::whole});
      EXPECT_EQ(truncate(file, 3), Verdicts{Verdict::whole});
    }
  }
}

TEST_F(Corruption, MissingFileIsRefused) {
  auto needed = files(".sst");
  needed.push_back(crashed_ / "CURRENT");
  needed.push_back(manifest());
  // The newest log may have vanished with a crash, an older one that was synced cannot.
  needed.push_back(std::ranges::min(files(".log")));
  for (const path& file : needed) {
    SCOPED_TRACE(file);
    const path target = damage(file);
    std::filesystem::remove(target);
    EXPECT_EQ(judge(target), Verdict::refused);
  }
}

}  // namespace
}  // namespace weir::storage::rocksdb
