#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <weir/storage/internal/write_set.hpp>

namespace weir::storage {
namespace {

using internal::Write;
using internal::WriteKind;
using internal::WriteSet;

using Pair = std::pair<std::string, std::optional<std::string>>;

Pair pair_of(const Write& write) {
  return {std::string(write.key),
          write.value ? std::optional<std::string>(*write.value) : std::nullopt};
}

std::vector<Pair> pairs_of(const std::vector<Write>& writes) {
  std::vector<Pair> pairs;
  for (const Write& write : writes) pairs.push_back(pair_of(write));
  return pairs;
}

TEST(WriteSet, KeepsEachKeyAsItWasWrittenLastAndTheOrderOfThat) {
  WriteSet set;
  set.put(WriteKind::row, "b", "1");
  set.put(WriteKind::row, "a", "2");
  set.put(WriteKind::state, "c", std::nullopt);
  set.put(WriteKind::row, "b", "3");
  EXPECT_EQ(set.size(), 3u);
  EXPECT_EQ(set.find("b")->value, "3");
  EXPECT_EQ(set.find("c")->value, std::nullopt);
  EXPECT_EQ(set.find("d"), nullptr);
  std::string keys;
  set.visit_keys([&](std::string_view key) { keys += key; });
  EXPECT_EQ(keys, "abc");
  EXPECT_EQ(pairs_of(set.take()), (std::vector<Pair>{{"a", "2"}, {"c", std::nullopt}, {"b", "3"}}));
  EXPECT_TRUE(set.is_empty());
}

TEST(WriteSet, BytesStayWhenTheSetHasGone) {
  std::vector<Write> writes;
  std::shared_ptr<const internal::WriteBytes> bytes;
  {
    WriteSet set;
    for (int size : {1, 100, 100'000, 300, 2'000'000})
      set.put(WriteKind::row, "key " + std::to_string(size),
              std::string(static_cast<std::size_t>(size), 'v'));
    bytes = set.bytes();
    writes = set.take();
  }
  ASSERT_EQ(writes.size(), 5u);
  EXPECT_EQ(writes[2].key, "key 100000");
  EXPECT_EQ(writes[4].value, std::string(2'000'000, 'v'));
}

/// How keys come: `runs` of them in order, one after the other.
struct Arrival {
  int keys;
  int runs;
};

/// The same in a map.
class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed) {}

  void put(const std::string& key) {
    std::optional<std::string> value;
    if (random_() % 8 != 0) value = std::to_string(random_());
    set_.put(WriteKind::row, key, value);
    map_.insert_or_assign(key, std::pair(value, made_++));
  }
  void erase(const std::string& begin, const std::string& end) {
    set_.erase(begin, end);
    map_.erase(map_.lower_bound(begin), map_.lower_bound(end));
  }
  std::string random_key(int keys) {
    std::string key = std::to_string(random_() % static_cast<std::uint64_t>(keys));
    return std::string(8 - key.size(), '0') + key;
  }
  void check() {
    ASSERT_EQ(set_.size(), map_.size());
    std::string begin = random_key(100'000);
    std::string end = random_key(100'000);
    if (end < begin) std::swap(begin, end);
    std::vector<Pair> expected;
    for (auto at = map_.lower_bound(begin); at != map_.lower_bound(end); ++at)
      expected.push_back({at->first, at->second.first});
    std::vector<Pair> found;
    for (const Write* write : std::as_const(set_).range(begin, end))
      found.push_back(pair_of(*write));
    ASSERT_EQ(found, expected);
    const auto known = map_.find(begin);
    ASSERT_EQ(set_.find(begin) != nullptr, known != map_.end());
    if (known != map_.end()) ASSERT_EQ(pair_of(*set_.find(begin)).second, known->second.first);
  }
  void check_order() {
    std::vector<std::pair<int, Pair>> ordered;
    for (const auto& [key, value] : map_) ordered.push_back({value.second, {key, value.first}});
    std::sort(ordered.begin(), ordered.end());
    std::vector<Pair> expected;
    for (auto& [order, pair] : ordered) expected.push_back(std::move(pair));
    ASSERT_EQ(pairs_of(set_.take()), expected);
  }

 private:
  std::mt19937_64 random_;
  WriteSet set_;
  std::map<std::string, std::pair<std::optional<std::string>, int>> map_;
  int made_ = 0;
};

TEST(WriteSet, IsLikeAMapHoweverKeysCome) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const auto& [keys, runs] : {Arrival{100'000, 3'000}, {500, 3'000}, {100'000, 3}}) {
      Model model(seed);
      for (int run = 0; run < runs; ++run) {
        std::vector<std::string> batch;
        for (int index = 0; index < 3'000 / runs; ++index) batch.push_back(model.random_key(keys));
        std::sort(batch.begin(), batch.end());
        for (const std::string& key : batch) model.put(key);
        if (run % 500 == 100) {
          const std::string begin = model.random_key(keys);
          model.erase(begin, begin + "9");
          model.erase("00000100", "00000150");
        }
        if (run % 100 == 0) model.check();
      }
      model.check();
      model.check_order();
    }
  }
}

}  // namespace
}  // namespace weir::storage
