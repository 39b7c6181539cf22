// Appended rows are known to be new without being looked up: never wrongly.

#include <weir/storage/internal/high_keys.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include <weir/storage/errc.hpp>
#include <weir/storage/internal/row_format.hpp>
#include <weir/tests/storage/support/store_fixture.hpp>

namespace weir::storage {
namespace {

using internal::HighKeys;
using internal::row_key;
using internal::Write;
using internal::WriteKind;
using test::RowsOf;
using test::StoreTest;

bool is_marked(const HighKeys& keys, std::uint32_t space, std::string_view key,
               WriteKind kind = WriteKind::row) {
  const std::string whole = row_key(space, key);
  std::vector<Write> writes{{.kind = kind, .key = whole, .value = "v"}};
  keys.mark_new(writes);
  if (kind == WriteKind::row) EXPECT_EQ(keys.is_beyond(writes[0].key), writes[0].is_before_known);
  return writes[0].is_before_known;
}

TEST(HighKeys, TellNothingOfASpaceThatIsNotKnown) {
  HighKeys keys;
  EXPECT_FALSE(keys.is_known(16));
  EXPECT_FALSE(is_marked(keys, 16, "z"));
  keys.raise({{.kind = WriteKind::row, .key = row_key(16, "a"), .value = "v"}});
  EXPECT_FALSE(is_marked(keys, 16, "z"));
}

TEST(HighKeys, MarkRowsBeyondTheHighest) {
  HighKeys keys;
  keys.learn(row_key(16, {}));
  keys.learn(row_key(17, "m"));
  EXPECT_TRUE(is_marked(keys, 16, "a"));
  EXPECT_FALSE(is_marked(keys, 17, "m"));
  EXPECT_TRUE(is_marked(keys, 17, "ma"));
  EXPECT_FALSE(is_marked(keys, 17, "z", WriteKind::state));
  keys.raise({{.kind = WriteKind::row, .key = row_key(17, "q"), .value = "v"},
              {.kind = WriteKind::row, .key = row_key(17, "p"), .value = "v"},
              {.kind = WriteKind::row, .key = row_key(17, "y"), .value = std::nullopt},
              {.kind = WriteKind::state, .key = row_key(17, "z"), .value = "v"}});
  EXPECT_FALSE(is_marked(keys, 17, "q"));
  EXPECT_TRUE(is_marked(keys, 17, "r"));
}

TEST(HighKeys, AreNotLoweredByWhoLookedEarlier) {
  HighKeys keys;
  keys.learn(row_key(16, "b"));
  keys.raise({{.kind = WriteKind::row, .key = row_key(16, "m"), .value = "v"}});
  keys.learn(row_key(16, "b"));
  EXPECT_FALSE(is_marked(keys, 16, "m"));
}

class AppendTest : public StoreTest {
 protected:
  ChangeKind last_change(const RowsOf& rows) {
    const Version before{store().version().number - 1};
    const auto records = store().log().read_blocking(before).value();
    return records.back().of(rows.id()).begin()->kind;
  }
  Result<Version> put(const RowsOf& rows, std::uint64_t key) {
    return run(test::commit_rows(store(), rows, {{key, "v"}}));
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, AppendTest, ::testing::ValuesIn(test::engine_kinds),
                         test::name_of_engine);

TEST_P(AppendTest, TellsInsertsFromUpdatesInEveryOrder) {
  auto rows = open_rows("rows");
  std::mt19937_64 random(7);
  std::vector<bool> is_there(40);
  for (int i = 0; i < 300; ++i) {
    // Mostly upwards, sometimes back.
    const std::uint64_t key = random() % (1 + static_cast<std::uint64_t>(i) / 8) % is_there.size();
    ASSERT_TRUE(put(rows, key));
    EXPECT_EQ(last_change(rows), is_there[key] ? ChangeKind::update : ChangeKind::insert) << i;
    is_there[key] = true;
    if (i % 100 != 50) continue;
    reopen();
    rows = open_rows("rows");
  }
}

TEST_P(AppendTest, KnowsTheRowsOfAStoreThatWasReopened) {
  auto rows = open_rows("rows");
  ASSERT_TRUE(put(rows, 5));
  ASSERT_TRUE(put(rows, 9));
  reopen();
  rows = open_rows("rows");
  ASSERT_TRUE(put(rows, 9));
  EXPECT_EQ(last_change(rows), ChangeKind::update);
  ASSERT_TRUE(put(rows, 10));
  EXPECT_EQ(last_change(rows), ChangeKind::insert);
}

TEST_P(AppendTest, SeesARowThatAnotherTransactionAppendedFirst) {
  const auto rows = open_rows("rows");
  auto first = store().begin();
  auto second = store().begin();
  first.put(rows, 1, "a");
  second.put(rows, 1, "b");
  ASSERT_TRUE(run(first.commit()));
  ASSERT_TRUE(run(second.commit()));
  EXPECT_EQ(last_change(rows), ChangeKind::update);
}

TEST_P(AppendTest, WhoFoundNoRowConflictsWithWhoAppendsIt) {
  const auto rows = open_rows("rows");
  auto first = store().begin();
  EXPECT_EQ(first.get(rows, 1).blocking().value(), std::nullopt);
  ASSERT_TRUE(put(rows, 1));
  EXPECT_EQ(first.get(rows, 1).blocking().value(), std::nullopt);
  first.put(rows, 2, "b");
  EXPECT_EQ(run(first.commit()).error(), Errc::conflict);
}

}  // namespace
}  // namespace weir::storage
