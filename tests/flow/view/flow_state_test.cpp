#include <weir/flow/view/internal/flow_state.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/tests/flow/data/support/random_data.hpp>

namespace weir::flow::view::internal {
namespace {

using operators::State;
using operators::StateReader;

constexpr storage::Version never{1'000'000};

class FlowStateTest : public ::testing::Test {
 protected:
  using Model = std::map<std::string, std::string>;

  FlowStateSpace open(const std::string& name) {
    return system_.run(store_.open_state<EncodedKey, EncodedValue>(name)).value();
  }
  void write(const FlowStateSpace& space, const std::string& key, const std::string& value) {
    auto transaction = store_.begin();
    transaction.put(space, EncodedKey{key}, flow_state_value(value));
    ASSERT_TRUE(system_.run(transaction.commit()));
  }
  static std::vector<StateReader::Entry> expected(const Model& model,
                                                  const StateReader::Range& range) {
    std::vector<StateReader::Entry> entries;
    for (const auto& [key, value] : model) {
      if (key < range.from || key >= range.until || entries.size() == range.limit) continue;
      entries.push_back({key, value});
    }
    return entries;
  }
  static std::string to_text(const std::vector<StateReader::Entry>& entries) {
    std::string text;
    for (const auto& [key, value] : entries) text += key + "=" + value + " ";
    return text;
  }

  ActorSystem system_;
  storage::Store store_ = storage::Store::open(system_).value();
  FlowStateSpace space_ = open("state");
  FlowStateReader reader_{&store_, space_};
};

TEST_F(FlowStateTest, WhatWasSubmittedTakesThePlaceOfWhatIsStoredAtRandom) {
  reader_.set_may_wait(true);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    data::test::RandomData random(seed);
    const FlowStateSpace space = open("state." + std::to_string(seed));
    FlowStateReader reader(&store_, space);
    reader.set_may_wait(true);
    Model model;
    const auto key = [&] { return std::string(1, static_cast<char>('a' + random.below(12))); };
    for (std::uint64_t count = random.below(8); count > 0; --count) {
      const std::string stored = key();
      model[stored] = "stored";
      write(space, stored, "stored");
    }
    for (std::uint64_t commit = random.below(4); commit > 0; --commit) {
      std::map<std::string, State::Write> writes;
      for (std::uint64_t count = random.below(6); count > 0; --count) {
        const std::string changed = key();
        const std::string value = "submitted " + std::to_string(commit);
        const bool is_removal = random.one_in(3);
        writes[changed] = {changed, is_removal ? std::nullopt : std::optional(value)};
        is_removal ? void(model.erase(changed)) : void(model[changed] = value);
      }
      std::vector<State::Write> in_order;
      for (const auto& [changed, write] : writes) in_order.push_back(write);
      reader.remember(never, std::move(in_order));
    }
    for (int ranges = 0; ranges < 10; ++ranges) {
      const std::string from = key();
      const std::string until = key();
      const StateReader::Range range{from, until, 1 + random.below(6)};
      ASSERT_EQ(to_text(reader.scan(range).value()), to_text(expected(model, range)));
      const auto known = model.find(from);
      ASSERT_EQ(reader.get(from).value(),
                known == model.end() ? std::nullopt : std::optional(known->second));
    }
  }
}

TEST_F(FlowStateTest, WhatTheStoreHasIsNotRememberedAnyMore) {
  reader_.set_may_wait(true);
  reader_.remember(store_.version().next(), {{"a", "submitted"}});
  EXPECT_EQ(reader_.get("a").value(), "submitted");
  write(space_, "a", "stored");
  EXPECT_EQ(reader_.get("a").value(), "submitted");
  reader_.refresh();
  EXPECT_EQ(reader_.get("a").value(), "stored");
}

}  // namespace
}  // namespace weir::flow::view::internal
