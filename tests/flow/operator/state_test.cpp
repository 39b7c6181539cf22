#include <weir/flow/operator/state.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <weir/flow/operator/memory_state.hpp>
#include <weir/tests/runtime/support/scaled.hpp>

namespace weir::flow::operators {
namespace {

std::string value_of(StateTable& table, std::string_view key) {
  auto slot = table.find(key).value();
  return slot.exists() ? std::string(slot.value()) : "none";
}

using Items = std::map<std::string, std::string>;

Items items_of(GroupTable& table, std::string_view group, std::string_view from = {}) {
  Items items;
  auto cursor = table.find(group).scan(from);
  while (cursor.next().value()) items.emplace(cursor.item(), cursor.value());
  return items;
}

TEST(State, IsSeenByItsCycleAndTrueWhenItIsCommitted) {
  State state;
  StateTable& table = state.add_table();
  table.find("a").value().put("1");
  EXPECT_EQ(value_of(table, "a"), "1");
  EXPECT_EQ(state.writes(), (std::vector<State::Write>{{std::string("\0\0a", 3), "1"}}));
  state.roll_back();
  EXPECT_EQ(value_of(table, "a"), "none");

  table.find("a").value().put("2");
  state.commit();
  EXPECT_TRUE(state.writes().empty());
  EXPECT_EQ(value_of(table, "a"), "2");

  table.find("a").value().remove();
  EXPECT_EQ(value_of(table, "a"), "none");
  state.roll_back();
  EXPECT_EQ(value_of(table, "a"), "2");
}

TEST(State, WritesNothingForWhatComesToTheSame) {
  State state;
  StateTable& table = state.add_table();
  GroupTable& groups = state.add_groups();
  table.find("a").value().put("1");
  groups.find("g").put("a", "1");
  state.commit();
  table.find("a").value().put("2");
  table.find("a").value().put("1");
  table.find("b").value().put("1");
  table.find("b").value().remove();
  groups.find("g").remove("a");
  groups.find("g").put("a", "1");
  groups.find("h").put("a", "1");
  groups.find("h").remove("a");
  EXPECT_TRUE(state.writes().empty());
}

TEST(State, NamesKeysByTheirTable) {
  State state;
  state.add_table();
  GroupTable& groups = state.add_groups();
  groups.find("g").put("item", "1");
  EXPECT_EQ(state.writes(), (std::vector<State::Write>{{std::string("\0\1gitem", 7), "1"}}));
}

TEST(StateTable, KeepsAMarkForTheCycle) {
  State state;
  StateTable& table = state.add_table();
  auto slot = table.find("a").value();
  slot.mark() = 7;
  EXPECT_EQ(table.find("a").value().mark(), 7u);
  slot.put("1");
  state.commit();
  EXPECT_EQ(table.find("a").value().mark(), 0u);
  EXPECT_TRUE(state.writes().empty());
}

TEST(StateTable, AValueStaysWhereItIsWhileOthersAreWritten) {
  State state;
  StateTable& table = state.add_table();
  auto slot = table.find("a").value();
  std::string& value = slot.edit();
  value = "1";
  const std::string_view read = slot.value();
  for (int other = 0; other < 2'000; ++other)
    table.find(std::to_string(other)).value().put("other");
  EXPECT_EQ(read, "1");
  value += "2";
  EXPECT_EQ(value_of(table, "a"), "12");
}

TEST(StateTable, ASlotSeesWhatAnotherOfItsKeyWrites) {
  State state;
  StateTable& table = state.add_table();
  auto slot = table.find("a").value();
  table.find("a").value().put("1");
  EXPECT_TRUE(slot.exists());
  EXPECT_EQ(slot.value(), "1");
  slot.remove();
  EXPECT_EQ(value_of(table, "a"), "none");
}

TEST(GroupTable, AValueStaysWhereItIsWhileOthersAreWritten) {
  State state;
  auto group = state.add_groups().find("g");
  group.put("a", "1");
  const std::string_view read = *group.get("a").value();
  for (int other = 0; other < 2'000; ++other) group.put(std::to_string(other), "other");
  EXPECT_EQ(read, "1");
}

TEST(GroupTable, GoesThroughItemsFromAnyOfThem) {
  State state;
  GroupTable& groups = state.add_groups();
  for (const std::string item : {"c", "a", "e"}) groups.find("g").put(item, "1");
  state.commit();
  groups.find("g").put("d", "2");
  groups.find("g").remove("c");
  EXPECT_EQ(items_of(groups, "g"), (Items{{"a", "1"}, {"d", "2"}, {"e", "1"}}));
  EXPECT_EQ(items_of(groups, "g", "b"), (Items{{"d", "2"}, {"e", "1"}}));
  EXPECT_TRUE(items_of(groups, "g", "f").empty());
}

TEST(GroupTable, HoldsTheBeginningOfAGroupThatIsTooLarge) {
  MemoryState store;
  State state({.memory_max = 20'000, .reader = &store});
  GroupTable& groups = state.add_groups();
  Items expected;
  for (int number = 0; number < 5'000; ++number) {
    const std::string item = std::to_string(number);
    groups.find("g").put(item, item);
    expected.emplace(item, item);
  }
  store.write(state.writes());
  state.commit();
  EXPECT_LT(state.memory(), 40'000u);
  EXPECT_EQ(items_of(groups, "g"), expected);
}

/// Counts what it reads.
class CountingReader final : public StateReader {
 public:
  explicit CountingReader(StateReader& below) : below_(below) {}
  Result<std::optional<std::string>> get(std::string_view key) override {
    ++entries;
    return below_.get(key);
  }
  Result<std::vector<Entry>> scan(const Range& range) override {
    auto found = below_.scan(range);
    entries += found.value().size();
    return found;
  }

  std::size_t entries = 0;

 private:
  StateReader& below_;
};

TEST(GroupTable, ReadsNoMoreOfALargeGroupThanItGoesThrough) {
  MemoryState store;
  CountingReader reader(store);
  State state({.memory_max = 20'000, .reader = &reader});
  GroupTable& groups = state.add_groups();
  for (int number = 10'000; number < 30'000; ++number)
    groups.find("g").put(std::to_string(number), "1");
  const auto commit = [&] {
    store.write(state.writes());
    state.commit();
  };
  commit();
  reader.entries = 0;
  for (int number = 30'000; number < 30'020; ++number) {
    groups.find("g").put(std::to_string(number), "2");
    groups.find("g").remove(std::to_string(number - 7));
    const Items items = items_of(groups, "g", std::to_string(number - 10));
    EXPECT_EQ(items.size(), static_cast<std::size_t>(std::max(7, 30'010 - number)));
    commit();
    EXPECT_LT(state.memory(), 40'000u);
  }
  EXPECT_LT(reader.entries, 20u * 2'500u);
}

TEST(State, MakesRoomAgainAfterItsMemoryWasExceeded) {
  MemoryState store;
  State state({.memory_max = 10'000, .reader = &store});
  StateTable& table = state.add_table();
  for (int cycle = 0; cycle < 50; ++cycle) {
    for (int key = 0; key < 100; ++key)
      table.find(std::to_string(cycle * 100 + key)).value().put("value");
    store.write(state.writes());
    state.commit();
  }
  EXPECT_LT(state.memory(), 400'000u);  // the index stays
  for (int key = 0; key < 5'000; ++key) ASSERT_EQ(value_of(table, std::to_string(key)), "value");
}

/// Fails when it has to wait.
class NoReader final : public StateReader {
 public:
  Result<std::optional<std::string>> get(std::string_view) override { return Errc::would_block; }
  Result<std::vector<Entry>> scan(const Range&) override { return Errc::would_block; }
};

TEST(State, SaysThatItWouldHaveToWait) {
  NoReader reader;
  State state({.reader = &reader, .is_new = false});
  EXPECT_EQ(state.add_table().find("a").error(), Errc::would_block);
  GroupTable& groups = state.add_groups();
  EXPECT_EQ(groups.find("g").get("a").error(), Errc::would_block);
  auto cursor = groups.find("g").scan();
  EXPECT_EQ(cursor.next().error(), Errc::would_block);
  groups.find("g").put("a", "1");  // need not know what was there
  EXPECT_EQ(state.writes().size(), 1u);
}

TEST(State, LooksForNothingIfItIsNew) {
  NoReader reader;
  State state({.reader = &reader});
  EXPECT_FALSE(state.add_table().find("a").value().exists());
  EXPECT_TRUE(items_of(state.add_groups(), "g").empty());
}

/// Two tables beside what they should hold, through commits, roll-backs, evictions and restarts.
class StateModel {
 public:
  explicit StateModel(std::uint64_t seed) : random_(seed) { restart(); }

  void step() {
    switch (below(12)) {
      case 0: return commit();
      case 1: return roll_back();
      case 2:
        if (below(4) == 0) return restart();
        [[fallthrough]];
      case 3: return compare_group();
      default: return below(2) == 0 ? touch_table() : touch_group();
    }
  }

 private:
  using Model = std::map<std::string, std::string>;
  using Groups = std::map<std::string, Model>;
  static constexpr std::uint64_t items_max = 4'000;

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  std::string text(std::size_t most) {
    return std::string(below(most), 'v') + std::to_string(below(9));
  }

  void restart() {
    state_ = std::make_unique<State>(StateOptions{.memory_max = below(2) == 0 ? 0 : below(200'000),
                                                  .reader = &store_,
                                                  .is_new = store_.entries().empty()});
    table_ = &state_->add_table();
    groups_ = &state_->add_groups();
    wanted_ = true_;
    wanted_groups_ = true_groups_;
  }
  void commit() {
    store_.write(state_->writes());
    state_->commit();
    true_ = wanted_;
    true_groups_ = wanted_groups_;
  }
  void roll_back() {
    state_->roll_back();
    wanted_ = true_;
    wanted_groups_ = true_groups_;
  }
  void touch_table() {
    const std::string key = std::to_string(below(60));
    if (below(2) == 0) table_->prefetch(std::vector<std::string_view>{key, "none"});
    auto slot = below(2) == 0 ? table_->find(key).value() : find_among_others(key);
    const auto at = wanted_.find(key);
    ASSERT_EQ(slot.exists(), at != wanted_.end());
    if (at != wanted_.end()) {
      ASSERT_EQ(slot.value(), at->second);
    }
    if (below(3) == 0) {
      slot.remove();
      wanted_.erase(key);
    } else if (below(2) == 0) {
      slot.put(wanted_[key] = text(40));
    }
  }
  StateTable::Slot find_among_others(const std::string& key) {
    std::vector<StateTable::Slot> found;
    const std::vector<std::string_view> keys{key, "none", key};
    EXPECT_TRUE(table_->find_all(keys, found));
    EXPECT_FALSE(found[1].exists());
    return found[2];
  }
  void touch_group() {
    const std::string key = "group " + std::to_string(below(4)) + ";";
    if (below(2) == 0) groups_->prefetch(std::vector<std::string_view>{key, "group 0;", "none"});
    auto group = groups_->find(key);
    // Some in one place, so that a group becomes larger than what is read of its beginning.
    for (std::uint64_t count = below(8) == 0 ? 1'000 : 1; count > 0; --count) {
      const std::string item = std::to_string(below(items_max));
      auto& model = wanted_groups_[key];
      if (below(3) == 0) {
        edit_item(group, item, model);
        continue;
      }
      if (below(2) == 0) {
        const auto found = group.get(item).value();
        const auto at = model.find(item);
        ASSERT_EQ(found.has_value(), at != model.end());
        if (found) {
          ASSERT_EQ(*found, at->second);
        }
      }
      if (below(3) == 0) {
        group.remove(item);
        model.erase(item);
      } else {
        group.put(item, model[item] = text(80));
      }
    }
  }
  void edit_item(GroupTable::Group& group, const std::string& key, Model& model) {
    auto item = group.find(key).value();
    const auto at = model.find(key);
    ASSERT_EQ(item.exists(), at != model.end());
    ASSERT_EQ(item.value(), at != model.end() ? at->second : "");
    if (below(3) == 0) {
      item.remove();
      model.erase(key);
    } else if (below(2) == 0) {
      model[key] = item.edit().append(text(20));
    }
  }
  void compare_group() {
    const std::string key = "group " + std::to_string(below(4)) + ";";
    const std::string from = std::to_string(below(items_max));
    const auto& model = wanted_groups_[key];
    ASSERT_EQ(items_of(*groups_, key, from), Items(model.lower_bound(from), model.end()));
  }

  std::mt19937_64 random_;
  MemoryState store_;
  std::unique_ptr<State> state_;
  StateTable* table_ = nullptr;
  GroupTable* groups_ = nullptr;
  Model true_;
  Model wanted_;
  Groups true_groups_;
  Groups wanted_groups_;
};

TEST(State, IsWhatWasWrittenWhateverHappens) {
  for (int seed = 0; seed < weir::testing::scaled(100); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    StateModel model(static_cast<std::uint64_t>(seed));
    for (int step = 0; step < 300 && !::testing::Test::HasFatalFailure(); ++step) model.step();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace weir::flow::operators
