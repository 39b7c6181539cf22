// A process that commits is killed, again and again; another one looks at what it left.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include <weir/storage/errc.hpp>
#include <weir/storage/store.hpp>
#include <weir/storage/verify.hpp>
#include <weir/tests/runtime/support.hpp>
#include <weir/tests/storage/support/crash_accounts.hpp>
#include <weir/tests/storage/support/crash_child.hpp>
#include <weir/tests/storage/support/long_run.hpp>
#include <weir/tests/storage/support/store_fixture.hpp>

namespace weir::storage {
namespace {

struct KillCase {
  const char* mode;
  std::uint64_t seed;
};

class StoreCrash : public ::testing::TestWithParam<KillCase> {
 public:
  /// One life of the writer, ended at a random moment. Gives the newest version acknowledged.
  std::uint64_t run_writer() {
    test::Child writer(path(), GetParam().mode);
    std::uint64_t newest = 0;
    for (auto lines = random_() % 30; lines > 0; --lines) newest = std::max(newest, writer.next());
    writer.kill();
    while (const std::uint64_t version = writer.next()) newest = std::max(newest, version);
    return newest;
  }

  /// Whether what is there is all that was acknowledged, and whole.
  void check(std::uint64_t acknowledged) {
    auto store = Store::open(system_, test::crash_options(path(), Durability::durable()));
    ASSERT_TRUE(store) << store.error().message();
    if (std::string(GetParam().mode) == "durable") {
      ASSERT_GE(store->version().number, acknowledged);
    }
    ASSERT_GE(store->version(), seen_) << "what had been there is gone";
    const auto accounts =
        system_.run(store->open_rows<std::uint64_t, std::string>(test::accounts_name)).value();
    replay(*store, accounts);
    EXPECT_EQ(rows_, test::rows_at(*store, accounts, store->version()));
  }

 protected:
  std::filesystem::path path() const { return *directory_ / "store"; }

  /// What has been added to the log since the last time.
  void replay(Store& store, const test::Accounts& accounts) {
    const auto records = store.log().read_blocking(seen_, {.records_max = 1'000'000});
    ASSERT_TRUE(records) << records.error().message();
    for (const ChangeRecord& record : *records) {
      ASSERT_EQ(record.version(), seen_.next());
      seen_ = record.version();
      test::apply(rows_, record, accounts);
      long long sum = 0;
      for (const auto& [key, money] : rows_) sum += std::stoll(money);
      ASSERT_TRUE(rows_.empty() ||
                  sum == test::account_money * static_cast<long long>(test::account_count))
          << "version " << seen_.number << ": " << sum;
    }
    ASSERT_EQ(seen_, store.version());
  }

  void start_over() {
    directory_.emplace();
    rows_.clear();
    seen_ = {};
  }

  ActorSystem system_{{.threads = 1}};
  std::optional<test::TemporaryDirectory> directory_;
  std::mt19937_64 random_{GetParam().seed + test::first_seed()};
  test::Rows rows_;
  Version seen_;
};

INSTANTIATE_TEST_SUITE_P(Modes, StoreCrash,
                         ::testing::Values(KillCase{"durable", 1}, KillCase{"durable", 2},
                                           KillCase{"buffered", 1}, KillCase{"buffered", 2}),
                         [](const auto& kill) {
                           return kill.param.mode + std::to_string(kill.param.seed);
                         });

TEST_P(StoreCrash, I7AKilledProcessLeavesWhatItAcknowledged) {
  const int kills = testing::scaled(250);
  for (int kill = 0; kill < kills; ++kill) {
    SCOPED_TRACE("kill " + std::to_string(kill));
    if (kill % 50 == 0) start_over();
    const std::uint64_t acknowledged = run_writer();
    check(acknowledged);
    if (kill % 10 == 9) {
      const auto verified = verify(path());
      EXPECT_TRUE(verified) << verified.error().message();
    }
    if (HasFailure()) return;
  }
}

TEST(StoreDirectoryTest, NamesTheOtherProcessThatHasItOpen) {
  const test::TemporaryDirectory directory;
  test::Child writer(directory / "store", "durable");
  ASSERT_GT(writer.next(), 0U);
  ActorSystem system({.threads = 1});
  const auto second = Store::open(system, {.directory = directory / "store"});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), Errc::locked);
  EXPECT_NE(second.error().message().find("process " + std::to_string(writer.pid())),
            std::string::npos)
      << second.error().message();
}

}  // namespace
}  // namespace weir::storage
