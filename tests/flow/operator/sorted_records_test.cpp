#include <weir/flow/operator/internal/sorted_records.hpp>

#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace weir::flow::operators::internal {
namespace {

/// Bytes as keys have them: many begin alike, some are the beginning of others.
std::string random_key(std::mt19937_64& random) {
  static constexpr char firsts[] = {'\x00', '\x01', '\x02', '\x7F', '\xFD', '\xFE', '\xFF'};
  std::string key;
  if (random() % 50 == 0) return key;
  key.push_back(firsts[random() % std::size(firsts)]);
  const std::size_t same = random() % 9;
  key.append(same, '\x00');
  for (std::size_t left = random() % 4; left > 0; --left)
    key.push_back(static_cast<char>(random() % 3 == 0 ? 0xFF : random() % 5));
  return key;
}

TEST(Rank, IsNeverGreaterForALesserKey) {
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    std::mt19937_64 random(seed);
    const std::string a = random_key(random);
    const std::string b = random_key(random);
    if (a < b) ASSERT_LE(rank_of(a), rank_of(b)) << "seed " << seed;
    if (a == b) ASSERT_EQ(rank_of(a), rank_of(b)) << "seed " << seed;
  }
}

TEST(Rank, TellsNumbersApartThatDifferByMoreThanThree) {
  const auto key_of = [](std::uint64_t number) {
    std::string key = "\x01";
    for (int byte = 7; byte >= 0; --byte) key.push_back(static_cast<char>(number >> (8 * byte)));
    return key;
  };
  for (std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1} << 40}) {
    EXPECT_LT(rank_of(key_of(number)), rank_of(key_of(number + 4)));
  }
}

/// Records whose values say which key they were made for.
class Model {
 public:
  void put(const std::string& key) {
    if (model_.contains(key)) return;
    Record::Ptr record = Record::make(key, 0);
    model_.emplace(key, record.get());
    records_.insert(records_.lower_bound(key), std::move(record));
  }
  void remove(const std::string& key) {
    const auto at = model_.find(key);
    if (at == model_.end()) return;
    const Record::Ptr gone = records_.erase(records_.position_of(at->second));
    EXPECT_EQ(gone.get(), at->second);
    model_.erase(at);
  }
  void grow(const std::string& key) {
    const auto at = model_.find(key);
    if (at == model_.end()) return;
    Record::Ptr larger = Record::make(key, 100);
    const auto position = records_.position_of(at->second);
    at->second = larger.get();
    records_.replace(position, std::move(larger));
  }
  void check(const std::string& key) const {
    const auto at = model_.lower_bound(key);
    const Record* found = records_.at(records_.lower_bound(key));
    ASSERT_EQ(found, at == model_.end() ? nullptr : at->second);
    ASSERT_EQ(records_.find(key), model_.contains(key) ? model_.at(key) : nullptr);
    ASSERT_EQ(records_.is_empty(), model_.empty());
    records_.prefetch(key);
  }
  void check_all() const {
    SortedRecords::Position position;
    for (const auto& [key, record] : model_) {
      ASSERT_EQ(records_.at(position), record);
      ASSERT_EQ(record->key(), key);
      position = records_.next(position);
    }
    ASSERT_EQ(records_.at(position), nullptr);
    ASSERT_EQ(records_.last(), model_.empty() ? nullptr : model_.rbegin()->second);
  }

 private:
  SortedRecords records_;
  std::map<std::string, Record*> model_;
};

TEST(SortedRecords, AreWhereAMapHasThem) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Model model;
    // First more come, then more go.
    for (int step = 0; step < 1200; ++step) {
      const std::string key = random_key(random);
      const bool comes = random() % 4 != 0 ? step < 600 : step >= 600;
      if (random() % 10 == 0) {
        model.grow(key);
      } else if (comes) {
        model.put(key);
      } else {
        model.remove(key);
      }
      ASSERT_NO_FATAL_FAILURE(model.check(random_key(random)));
      if (step % 50 == 0) ASSERT_NO_FATAL_FAILURE(model.check_all());
    }
    ASSERT_NO_FATAL_FAILURE(model.check_all());
  }
}

}  // namespace
}  // namespace weir::flow::operators::internal
