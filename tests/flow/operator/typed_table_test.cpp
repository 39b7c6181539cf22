#include <weir/flow/operator/typed_table.hpp>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/operator/memory_state.hpp>

namespace weir::flow::operators {
namespace {

struct Total {
  std::int64_t sum = 0;
  std::vector<std::string> notes = {};

  static auto weir_fields(auto& self) { return std::tie(self.sum, self.notes); }
  friend bool operator==(const Total&, const Total&) = default;
};

using Key = std::pair<std::string, std::int64_t>;

TEST(TypedTable, GivesBackWhatWasPut) {
  State state;
  auto totals = state.add_table<Key, Total>();
  EXPECT_EQ(totals.get({"a", 1}).value(), std::nullopt);
  ASSERT_TRUE(totals.put({"a", 1}, {.sum = 5, .notes = {"x", ""}}));
  ASSERT_TRUE(totals.put({"a", 2}, {}));
  EXPECT_EQ(totals.get({"a", 1}).value(), (Total{.sum = 5, .notes = {"x", ""}}));
  EXPECT_EQ(totals.get({"a", 2}).value(), Total());
  ASSERT_TRUE(totals.remove({"a", 1}));
  ASSERT_TRUE(totals.remove({"b", 1}));
  EXPECT_EQ(totals.get({"a", 1}).value(), std::nullopt);
}

TEST(TypedTable, IsPartOfTheCycle) {
  State state;
  auto counts = state.add_table<std::string, std::int64_t>();
  ASSERT_TRUE(counts.put("a", 1));
  state.roll_back();
  EXPECT_EQ(counts.get("a").value(), std::nullopt);
  ASSERT_TRUE(counts.put("a", 2));
  state.commit();
  ASSERT_TRUE(counts.put("a", 3));
  ASSERT_TRUE(counts.put("a", 2));
  EXPECT_TRUE(state.writes().empty());
  EXPECT_EQ(counts.get("a").value(), 2);
}

TEST(TypedTable, IsReadAgainFromTheStore) {
  MemoryState store;
  {
    State state({.reader = &store});
    ASSERT_TRUE((state.add_table<Key, Total>().put({"a", 1}, {.sum = 5})));
    store.write(state.writes());
  }
  State state({.reader = &store, .is_new = false});
  EXPECT_EQ((state.add_table<Key, Total>().get({"a", 1}).value()), Total{.sum = 5});
}

TEST(TypedTable, RefusesBytesOfAnotherType) {
  MemoryState store;
  {
    State state({.reader = &store});
    ASSERT_TRUE((state.add_table<std::string, std::string>().put("a", "x")));
    store.write(state.writes());
  }
  State state({.reader = &store, .is_new = false});
  EXPECT_EQ((state.add_table<std::string, bool>().get("a").error().message()),
            "corruption: state: not a bool");
}

/// Fails when it has to wait.
class NoReader final : public StateReader {
 public:
  Result<std::optional<std::string>> get(std::string_view) override { return Errc::would_block; }
  Result<std::vector<Entry>> scan(const Range&) override { return Errc::would_block; }
};

TEST(TypedTable, SaysThatItWouldHaveToWait) {
  NoReader reader;
  State state({.reader = &reader, .is_new = false});
  auto counts = state.add_table<std::string, std::int64_t>();
  EXPECT_EQ(counts.get("a").error(), Errc::would_block);
  EXPECT_EQ(counts.put("a", 1).error(), Errc::would_block);
  EXPECT_EQ(counts.remove("a").error(), Errc::would_block);
  EXPECT_TRUE(state.writes().empty());
}

}  // namespace
}  // namespace weir::flow::operators
